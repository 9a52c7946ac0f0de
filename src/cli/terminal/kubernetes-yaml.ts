import { Document, isScalar, type Node, Scalar, stringify, type ToStringOptions, visit } from "yaml";
import { isPlain, plain, plainYAML } from "./plain.ts";
import { CommandError } from "./terminal.ts";

/** Comments of a manifest, which people read. */
export interface Comments {
  /** Lines above it. */
  above?: readonly string[];
  /** Behind values, each found by its keys. */
  behind?: readonly (readonly [keys: readonly string[], text: string])[];
}

/**
 * The one writer of what kubectl reads. Every reader of YAML 1.1 and 1.2 reads the values that are given here: texts
 * that a reader could take for something else are quoted, and what is not plain printable text is escaped. What comes
 * from the account is text of strangers, and a line separator in it would begin another object.
 */
export function kubernetesYAML(value: unknown, { above = [], behind = [] }: Comments = {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  visit(document, { Scalar: (_, node) => quoteIfNeeded(node) });
  for (const [keys, text] of behind) {
    const node = document.getIn(keys, true);
    if (isScalar(node)) node.comment = ` ${plain(text)}`;
  }
  const comments = above.map((line) => `# ${plain(line)}\n`).join("");
  // A line end in a text that is quoted is written as an escape, and ends no line of the output.
  const style = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return comments + plainYAML(document.toString(style));
}

/** A part of a file that a person wrote, after an edit. What the person wrote keeps its style. */
export const editedYAML = (contents: Node | null, style: ToStringOptions): string =>
  stringify(contents, { lineWidth: 0, ...style });

/**
 * A value for such an edit: quoted where `kubernetesYAML` would write more than the text itself. Throws CommandError for
 * a text that is not plain, since nothing escapes it in the file.
 */
export function markForKubectl<N extends Node>(node: N): N {
  visit(node, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== "string") return;
      if (!isPlain(scalar.value)) throw new CommandError(`No file can have this text: ${plain(scalar.value)}`);
      if (kubernetesYAML(scalar.value).trimEnd() !== scalar.value) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return node;
}

/** Many manifests as one stream. */
export const streamOf = (manifests: readonly string[]): string => manifests.join("---\n");

/** The lines of what was written here. No line end in it is from a value. */
export const linesOf = (written: string): string[] => written.trimEnd().split("\n");

/** As a comment, line by line. */
export const commentedOut = (written: string): string =>
  linesOf(written)
    .map((line) => `# ${line}`.trimEnd())
    .join("\n");

/** A text on several lines, as a certificate: each line is plain, and begins and ends with a character that is seen. */
const isBlock = (text: string): boolean => text.endsWith("\n") && text.slice(0, -1).split("\n").every(isSeen);

const isSeen = (line: string): boolean => isPlain(line) && /^\S(.*\S)?$/u.test(line);

function quoteIfNeeded(node: Scalar): void {
  const { value } = node;
  if (typeof value !== "string" || isBlock(value)) return;
  if (!isPlain(value) || /^\s|\s$/u.test(value) || LIKE_NUMBER.test(value)) node.type = Scalar.QUOTE_DOUBLE;
}

/** What begins like a number is one to some parser: `0X1F`, `1__0`, `+_7` and `+12e03` are to that of kubectl. */
const LIKE_NUMBER = /^[-+.0-9][-+.0-9a-fox_:]*$/i;
