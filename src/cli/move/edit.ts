import { type Document, isCollection, isMap, isNode, isPair, isScalar, type Node, Scalar, type YAMLMap } from "yaml";
import { editedYAML, markForKubectl } from "../terminal/kubernetes-yaml.ts";

export type Keys = readonly (string | number)[];
export type Edit = readonly [keys: Keys, value: unknown];

/** What comes in place of the text between two positions. */
interface Change {
  start: number;
  end: number;
  text: string;
}

/** A document of a file, and the text of the whole file, in which the document has its positions. */
interface Source {
  text: string;
  document: Document.Parsed;
}

/**
 * The text of the file with these edits of one document. Nothing else is written anew: a writer of YAML would give
 * `0644` and long numbers another value. Undefined: an edit leads through an alias, or into what is no map. The caller
 * has to compare the values of the result with what it wants: a document may have a form that is not known here.
 */
export function withEdits(source: Source, edits: readonly Edit[]): string | undefined {
  const changes = edits.map((edit) => changeOf(source, edit));
  if (!changes.every((change) => change !== undefined)) return undefined;
  // From the last change to the first, so that the positions of earlier ones stay valid.
  const ordered = changes.toSorted((one, other) => other.start - one.start);
  return ordered.reduce(
    (text, { start, end, text: given }) => text.slice(0, start) + given + text.slice(end),
    source.text,
  );
}

function changeOf(source: Source, [keys, value]: Edit): Change | undefined {
  const present = source.document.getIn(keys, true);
  if (isNode(present)) return replacement(source, present, value);
  const parent = source.document.getIn(keys.slice(0, -1), true);
  return isMap(parent) ? insertion(source, parent, { key: String(keys.at(-1)), value }) : undefined;
}

/** A single value keeps its quotes. A comment behind the value stays. */
function replacement(source: Source, present: Node, value: unknown): Change {
  const node = source.document.createNode(value, { flow: true });
  const quotes = isScalar(present) ? quotesOf(present) : undefined;
  if (isScalar(node) && quotes) node.type = quotes;
  const [start, end] = [startOf(present), endOf(source, present)];
  const written = writtenIn(source, node);
  // What was on lines of its own comes behind its key.
  const gap = isBlock(present) ? /(?<=:)[ \t]*\r?\n[ \t]*$/.exec(source.text.slice(0, start)) : null;
  if (gap) return { start: gap.index, end, text: ` ${written}` };
  // An empty value has its place right behind the colon.
  return { start, end, text: start === end ? ` ${written}` : written };
}

const quotesOf = ({ type }: Scalar): Scalar.Type | undefined =>
  type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? type : undefined;

/** As the last member. */
function insertion(source: Source, map: YAMLMap, member: { key: string; value: unknown }): Change | undefined {
  const { text, document } = source;
  const [key, value] = [document.createNode(member.key), document.createNode(member.value, { flow: true })];
  const written = `${writtenIn(source, key)}: ${writtenIn(source, value)}`;
  const first = map.items[0]?.key;
  if (!isNode(first)) return { start: startOf(map), end: endOf(source, map), text: `{${written}}` };
  const before = text.slice(text.lastIndexOf("\n", startOf(first) - 1) + 1, startOf(first));
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const last = endOfLast(source, map);
  if (!map.flow) {
    const start = last + (/^[^\r\n]*/.exec(text.slice(last))?.[0].length ?? 0);
    return { start, end: start, text: `${lineEnd}${" ".repeat(before.length)}${written}` };
  }
  const separator = before.trim() === "" ? `,${lineEnd}${before}` : ", ";
  return { start: last, end: last, text: separator + written };
}

/** How values are written in a document that is JSON. */
const jsonStyle = { defaultKeyType: "QUOTE_DOUBLE", defaultStringType: "QUOTE_DOUBLE" } as const;

function writtenIn({ document: { contents } }: Source, node: Node): string {
  const map = isMap(contents) ? contents : undefined;
  const first = map?.items[0]?.key;
  const isJSON = isScalar(first) && first.type === "QUOTE_DOUBLE" && map?.flow === true;
  return editedYAML(markForKubectl(node), { flowCollectionPadding: false, ...(isJSON && jsonStyle) }).trimEnd();
}

/** Whether it is a collection in block style. */
const isBlock = (node: Node): boolean => isCollection(node) && node.flow !== true;

const startOf = ({ range }: Node): number => range?.[0] ?? 0;

/** The end of what is seen of the node. The range of a node in block style goes on to a following line. */
function endOf(source: Source, node: Node): number {
  if (isCollection(node) && isBlock(node)) return endOfLast(source, node);
  const end = node.range?.[1] ?? 0;
  return end - (/\r?\n$/.exec(source.text.slice(startOf(node), end))?.[0].length ?? 0);
}

function endOfLast(source: Source, { items }: Extract<Node, { items: unknown[] }>): number {
  const last = items.at(-1);
  const node = isPair(last) ? (last.value ?? last.key) : last;
  return isNode(node) ? endOf(source, node) : 0;
}
