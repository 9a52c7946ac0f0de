import fc, { type Arbitrary } from "fast-check";

export type Spec = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** What readers, patterns and counts of different languages see in different ways. */
const odd = [
  ..." \t\n\r\v\f.:/=@-_*,aAzZ09",
  ...["\u00a0", "\u0085", "\u2028", "\u2029", "\ufeff", "\u3000", "\u200f", "\u0000", "\u001b"],
  ...["\u0130", "\u212a", "\u017f", "\u00df", "\u00c9", "\u00e9", "\uff21", "\u0660", "\u{1d7d9}", "\u{1f600}"],
  ...["..", "__proto__", "constructor", "\r\n", "%41", "xn--"],
];

/** Of one, two, three and four bytes in UTF-8; the last is two units of UTF-16. */
const letters = ["a", "\u00e9", "\u20ac", "\u{1f600}"];

const lengths = [0, 1, 16, 32, 40, 63, 64, 127, 128, 253, 254, 255, 256, 300, 512, 1024, 2048, 4096];

const near: Arbitrary<number> = fc
  .tuple(fc.constantFrom(...lengths), fc.integer({ min: -1, max: 1 }))
  .map(([length, by]) => Math.max(0, length + by));

/** A text beside this one: with something odd in it, without a piece, in another case, or as long as may be. */
const textBeside = (text: string): Arbitrary<string> =>
  fc.oneof(
    fc
      .tuple(fc.nat(text.length), fc.constantFrom(...odd))
      .map(([at, one]) => `${text.slice(0, at)}${one}${text.slice(at)}`),
    fc
      .tuple(fc.nat(text.length), fc.integer({ min: 1, max: 3 }))
      .map(([at, of]) => `${text.slice(0, at)}${text.slice(at + of)}`),
    fc.constantFrom(text.toUpperCase(), text.toLowerCase(), "", `${text}${text}`),
    fc.tuple(near, fc.constantFrom(...letters)).map(([length, letter]) => `${text}${letter.repeat(length)}`),
    fc.tuple(near, fc.constantFrom(...letters)).map(([length, letter]) => letter.repeat(length)),
    near.map((length) => `${text.slice(0, 1)}${"a".repeat(length)}${text.slice(1)}`),
    fc.tuple(fc.nat(text.length), fc.integer({ min: 0, max: 99 })).map(([at, number]) => {
      const digits = /\d+/g;
      digits.lastIndex = at;
      const found = digits.exec(text);
      return found ? `${text.slice(0, found.index)}${number}${text.slice(found.index + found[0].length)}` : text;
    }),
  );

const numberBeside = (number: number): Arbitrary<number> =>
  fc.constantFrom(
    ...[number - 1, number + 1, -number, number + 0.5, 0, -1, 99, 100, 599, 600, 10_000, 10_001],
    ...[2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53],
  );

const listBeside = (list: readonly unknown[]): Arbitrary<unknown> => {
  const twice = list.map((item) => [...list, item]);
  const changed = list.map((item) => valueBeside(item).map((one) => [...list, one]));
  const grown = fc.constantFrom(63, 64, 65, 255, 256, 257);
  const filled = grown.map((length) => Array.from({ length }, (_, index) => numbered(list[0], index)));
  return fc.oneof(fc.constantFrom<unknown[]>([], ...twice), ...changed, ...(list.length > 0 ? [filled] : []));
};

/** Another value of this form for each index. */
function numbered(value: unknown, index: number): unknown {
  if (typeof value === "string")
    return /:\d+$/.test(value) ? value.replace(/\d+$/, `${index + 1}`) : `${value}${index}`;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, numbered(one, index)]));
}

function mapBeside(map: Spec): Arbitrary<unknown> {
  const names = Object.keys(map);
  const without = names.map((name) =>
    fc.constant(Object.fromEntries(Object.entries(map).filter(([one]) => one !== name))),
  );
  const renamed = names.map((name) => textBeside(name).map((one) => ({ ...map, [one]: map[name] })));
  const grown = fc
    .constantFrom(15, 16, 17, 63, 64, 65)
    .map((length) => Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, "1"])));
  return fc.oneof(fc.constant({}), ...without, ...renamed, grown);
}

function valueBeside(value: unknown): Arbitrary<unknown> {
  if (typeof value === "string") return textBeside(value);
  if (typeof value === "number") return numberBeside(value);
  if (Array.isArray(value)) return listBeside(value);
  if (typeof value === "object" && value !== null) return mapBeside(value as Spec);
  return fc.constantFrom<unknown>(true, false, "true", 1);
}

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Array.isArray(value) ? value.map((one, at) => [at, one] as const) : Object.entries(value);
  return [path, ...below.flatMap(([name, one]) => pathsIn(one, [...path, name]))];
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce((found, name) => (found as Record<string | number, unknown>)[name], value);

function changed(value: unknown, [first, ...rest]: Path, to: unknown): unknown {
  if (first === undefined) return to;
  if (Array.isArray(value)) return value.map((one, index) => (index === first ? changed(one, rest, to) : one));
  const members = value as Spec;
  return { ...members, [first]: changed(members[first], rest, to) };
}

/** Specs that differ in one place from one of these, at the border of what a rule allows. */
export const specsBeside = (specs: readonly Spec[]): Arbitrary<Spec> =>
  fc
    .constantFrom(...specs)
    .chain((spec) =>
      fc
        .constantFrom(...pathsIn(spec).filter((path) => path.length > 0))
        .chain((path) => valueBeside(at(spec, path)).map((to) => changed(spec, path, to) as Spec)),
    );
