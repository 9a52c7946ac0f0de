/**
 * What is not plain printable text: controls, line and paragraph separators, formats such as those that turn the
 * direction of text round, lone surrogates, private use, and code points without a character. YAML 1.1, YAML 1.2, JSON and
 * terminals read some of these in different ways, and people do not see them.
 */
const UNPLAIN = /[\p{C}\p{Zl}\p{Zp}]/gu;

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** Escapes as YAML has them in double quotes. */
const yamlEscape = (code: number): string => {
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
};

const escaped = (text: string, how: (character: string) => string): string => text.replace(UNPLAIN, how);

export const isPlain = (text: string): boolean => text.search(UNPLAIN) === -1;

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line that is safe on a terminal and in a comment, whoever wrote the text. A second time changes nothing. */
export const plain = (text: string): string =>
  escaped(text, (character) => named[character] ?? yamlEscape(character.codePointAt(0) ?? 0));

/** The content of a YAML text that stands in double quotes, or has nothing to escape. Line ends stay. */
export const plainYAML = (text: string): string =>
  escaped(text, (character) => (character === "\n" ? character : yamlEscape(character.codePointAt(0) ?? 0)));

/** A JSON text, with escapes as JSON has them. Line ends, which stand between values alone, stay. */
export const plainJSON = (text: string): string =>
  escaped(text, (character) =>
    character === "\n"
      ? character
      : [...Array(character.length).keys()].map((at) => `\\u${hex(character.charCodeAt(at), 4)}`).join(""),
  );
