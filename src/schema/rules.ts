// What the rules of the definitions say in CEL, for values that the API server has not seen.

/** What a rule is about: which members of an object are there. */
export type Members = Readonly<Record<string, unknown>>;

export const has = (self: Members, name: string): boolean => self[name] !== undefined;

/** Whether exactly one of these members is there. */
export const hasOneOf =
  (...names: readonly string[]) =>
  (self: Members): boolean =>
    names.filter((name) => has(self, name)).length === 1;

/** Whether at most one of these two members is there. */
export const hasNotBoth =
  (one: string, other: string) =>
  (self: Members): boolean =>
    !(has(self, one) && has(self, other));

/** Whether the second member is there where the first one is. */
export const hasBeside =
  (one: string, other: string) =>
  (self: Members): boolean =>
    !has(self, one) || has(self, other);

/** For lists and maps. */
export const isNotEmpty = (self: object): boolean => Object.keys(self).length > 0;
