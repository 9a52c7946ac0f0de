import { invalid } from "../http/refusal.ts";
import type { Check } from "./check.ts";
import { isMembers } from "./members.ts";

export const string: Check = (value, at) => {
  if (typeof value !== "string") throw invalid(`${at}: must be a string`);
  return value;
};

export const nonEmpty: Check = (value, at, store) => {
  if (string(value, at, store) === "") throw invalid(`${at}: must not be empty`);
  return value;
};

/** Limits the length in UTF-8 bytes. */
export const bytes =
  (most: number): Check =>
  (value, at, store) => {
    const size = Buffer.byteLength(string(value, at, store) as string);
    if (size > most) throw invalid(`${at}: has ${size} bytes, at most ${most} are allowed`);
    return value;
  };

/** Limits the length in Unicode characters. */
export const characters =
  (most: number): Check =>
  (value, at, store) => {
    const size = [...(string(value, at, store) as string)].length;
    if (size > most) throw invalid(`${at}: has ${size} characters, at most ${most} are allowed`);
    return value;
  };

export const boolean: Check = (value, at) => {
  if (typeof value !== "boolean") throw invalid(`${at}: must be a boolean`);
  return value;
};

export const integer =
  (least: number, most: number): Check =>
  (value, at) => {
    if (!Number.isInteger(value)) throw invalid(`${at}: must be an integer`);
    if ((value as number) < least || (value as number) > most) {
      throw invalid(`${at}: must be between ${least} and ${most}`);
    }
    return value;
  };

export const uint32 = integer(0, 2 ** 32 - 1);

export const oneOf =
  (...values: readonly string[]): Check =>
  (value, at) => {
    if (!values.includes(value as string)) throw invalid(`${at}: must be one of ${values.join(", ")}`);
    return value;
  };

export const matching =
  (pattern: RegExp, what: string): Check =>
  (value, at, store) => {
    if (!pattern.test(string(value, at, store) as string)) throw invalid(`${at}: must be ${what}`);
    return value;
  };

/** Null is accepted and stored as null. */
export const orNull =
  (check: Check): Check =>
  (value, at, store) =>
    value === null ? null : check(value, at, store);

export const list =
  (item: Check): Check =>
  (value, at, store) => {
    if (!Array.isArray(value)) throw invalid(`${at}: must be a list`);
    return value.map((entry, index) => item(entry, `${at}[${index}]`, store));
  };

export const map =
  (item: Check, key: Check = string): Check =>
  (value, at, store) => {
    if (!isMembers(value)) throw invalid(`${at}: must be an object`);
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [
        key(name, `${at}.${name}`, store),
        item(entry, `${at}.${name}`, store),
      ]),
    );
  };

/** Accepts any JSON object. */
export const anyObject: Check = (value, at) => {
  if (!isMembers(value)) throw invalid(`${at}: must be an object`);
  return value;
};
