import type { ScalarTag, Tags } from "yaml";

// How kubectl reads what begins like a number. Its parser is version 2 of go-yaml, which knows more forms of numbers than
// YAML 1.1: it takes out each `_`, and reads the rest as Go reads its own literals, else as a float.

const INTEGER = /^[-+]?(0x[0-9a-f]+|0o[0-7]+|0b[01]+|0[0-7]*|[1-9][0-9]*)$/i;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)(e[-+]?[0-9]+)?$/i;
const STRAY = /(?<![0-9])_|_(?![0-9])/;
const LARGEST = 2n ** 64n;
/** A longer text is too large for an integer, or begins with more zeros than anybody writes. */
const MOST_DIGITS = 200;

/** The number that kubectl takes a plain scalar for. The text itself where kubectl reads a text. */
export function numberOrText(source: string): number | string {
  // Go itself reads what begins with a dot, and takes a `_` between digits alone.
  const digits = source.startsWith(".") && STRAY.test(source) ? source : source.replaceAll("_", "");
  if (digits.length <= MOST_DIGITS && INTEGER.test(digits)) {
    const value = integer(digits);
    if (value > -LARGEST && value < LARGEST) return Number(value);
  }
  const value = FLOAT.test(digits) ? Number(digits) : Number.NaN;
  return Number.isFinite(value) ? value : source;
}

function integer(digits: string): bigint {
  const [unsigned, sign] = digits.startsWith("-") ? [digits.slice(1), -1n] : [digits.replace("+", ""), 1n];
  const isOctal = /^0[0-7]+$/.test(unsigned);
  return sign * BigInt((isOctal ? `0o${unsigned.slice(1)}` : unsigned).toLowerCase());
}

const INT = "tag:yaml.org,2002:int";
const FLOATING = "tag:yaml.org,2002:float";

const ENDLESS = /^[-+]?\.(inf|nan)$/i;

const tagOf = (tag: string, more: Partial<ScalarTag>): ScalarTag => ({
  tag,
  resolve(source, onError) {
    if (ENDLESS.test(source)) onError(`Write a number that JSON has, or quote it: ${source}`);
    return numberOrText(source);
  },
  ...more,
});

/** In place of the library's own tags of numbers. */
export const numbersAsKubectl = (tags: Tags): Tags => [
  ...tags.filter((one) => typeof one === "string" || (one.tag !== INT && one.tag !== FLOATING)),
  tagOf(FLOATING, { default: true, test: /^[-+.0-9]/ }),
  tagOf(INT, {}),
];
