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

/** As CEL does it: `É` stays as it is. */
export const lowerASCII = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** For times in RFC 3339. CEL compares nanoseconds, and `Date` ends with milliseconds. */
export function isBefore(one: string, other: string): boolean {
  const nanoseconds = (time: string) => (/[.]([0-9]+)/.exec(time)?.[1] ?? "").padEnd(9, "0").slice(0, 9);
  const [first, second] = [Date.parse(one), Date.parse(other)];
  return first < second || (first === second && nanoseconds(one) < nanoseconds(other));
}

/** Whether no two texts are spelled alike. */
export const areDistinct = (texts: readonly string[], spelled: (text: string) => string): boolean =>
  new Set(texts.map(spelled)).size === texts.length;

/** For lists and maps. */
export const isNotEmpty = (self: object): boolean => Object.keys(self).length > 0;
