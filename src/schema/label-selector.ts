/** Which objects are meant, by their labels: for each key, the values that are allowed. Keys do not depend on each other. */
export interface LabelSelector {
  /** As it was given. Empty: all objects. */
  readonly text: string;
  readonly keys: ReadonlyMap<string, Allowed>;
}

/** The values of one label. `values` are the only ones, or, where `isExcept` is true, all but these. */
interface Allowed {
  /** Whether an object without the label is meant. */
  readonly isOptional: boolean;
  readonly values: ReadonlySet<string>;
  readonly isExcept: boolean;
}

/** A selector that cannot be read. The message says what a selector looks like. */
export class LabelSelectorError extends Error {
  override readonly name = "LabelSelectorError";
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Most characters of a selector. An operator parses the selectors in the Leases of other installations every few seconds,
 * and anybody who may write a Lease can put a long one there.
 */
const LONGEST = 4096;

export const everything: LabelSelector = { text: "", keys: new Map() };

/**
 * Reads a selector as kubectl does: requirements separated by commas, each `key=value`, `key==value`, `key!=value`,
 * `key in (a,b)`, `key notin (a,b)`, `key` or `!key`. Throws LabelSelectorError, also for one that no object can match.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > LONGEST) throw new LabelSelectorError(`must have at most ${LONGEST} characters`);
  const keys = new Map<string, Allowed>();
  for (const part of partsOf(text)) {
    const [key, allowed] = requirementOf(part);
    const both = intersection(keys.get(key) ?? anything, allowed);
    if (isEmpty(both)) throw new LabelSelectorError(`selects nothing: no label ${key} is as it says`);
    keys.set(key, both);
  }
  return { text: text.trim(), keys };
}

/** Whether an object with these labels is meant. */
export const selects = ({ keys }: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean =>
  // asked for each object, and most installations have no selector
  keys.size === 0 ||
  [...keys].every(([key, { isOptional, values, isExcept }]) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? isOptional : values.has(value) !== isExcept;
  });

/** Whether labels are possible that both select. */
export const canShare = (one: LabelSelector, other: LabelSelector): boolean =>
  [...one.keys].every(([key, allowed]) => {
    const others = other.keys.get(key);
    return others === undefined || !isEmpty(intersection(allowed, others));
  });

const anything: Allowed = { isOptional: true, values: new Set(), isExcept: true };

const isEmpty = ({ isOptional, values, isExcept }: Allowed): boolean => !isOptional && !isExcept && values.size === 0;

function intersection(one: Allowed, other: Allowed): Allowed {
  const isOptional = one.isOptional && other.isOptional;
  if (one.isExcept && other.isExcept) return { isOptional, values: one.values.union(other.values), isExcept: true };
  if (one.isExcept) return { isOptional, values: other.values.difference(one.values), isExcept: false };
  const values = other.isExcept ? one.values.difference(other.values) : one.values.intersection(other.values);
  return { isOptional, values, isExcept: false };
}

/** Splits at the commas that are in no parentheses. */
function partsOf(text: string): string[] {
  if (text.trim() === "") return [];
  const parts: string[] = [];
  let [begin, isList] = [0, false];
  for (const { 0: sign, index } of text.matchAll(/[(),]/g)) {
    if (sign === "," && !isList) {
      parts.push(text.slice(begin, index).trim());
      begin = index + 1;
    } else if (sign !== ",") isList = sign === "(";
  }
  return [...parts, text.slice(begin).trim()];
}

function requirementOf(part: string): [key: string, allowed: Allowed] {
  const [, absent] = /^!\s*(\S+)$/.exec(part) ?? [];
  if (absent !== undefined) return [keyFrom(absent, part), { isOptional: true, values: new Set(), isExcept: false }];
  const [, compared, sign, value] = /^([^\s=!]+)\s*(==?|!=)\s*(\S*)$/.exec(part) ?? [];
  if (compared !== undefined) return [keyFrom(compared, part), among([valueFrom(value ?? "", part)], sign === "!=")];
  const [, listed, operator, list] = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part) ?? [];
  if (listed !== undefined) {
    const values = (list ?? "").split(",").map((one) => valueFrom(one.trim(), part));
    return [keyFrom(listed, part), among(values, operator === "notin")];
  }
  return [keyFrom(part, part), { isOptional: false, values: new Set(), isExcept: true }];
}

const among = (values: readonly string[], isExcept: boolean): Allowed => ({
  isOptional: isExcept,
  values: new Set(values),
  isExcept,
});

function keyFrom(key: string, part: string): string {
  const slash = key.indexOf("/");
  const [prefix, name] = slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)];
  if (NAME.test(name) && (prefix === undefined || PREFIX.test(prefix))) return key;
  throw unreadable(part);
}

function valueFrom(value: string, part: string): string {
  if (value === "" || NAME.test(value)) return value;
  throw unreadable(part);
}

const unreadable = (part: string): LabelSelectorError =>
  new LabelSelectorError(
    `must be a label selector such as team=a, team in (a,b), !team: ${JSON.stringify(part)} is no part of one`,
  );
