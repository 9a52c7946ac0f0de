import { type Document, isMap, isNode, isScalar, parseAllDocuments, Scalar } from "yaml";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { textOf as textOfError } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { API_VERSION } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { filesOf, firstLineOf } from "../plan/manifests.ts";
import { editedYAML, markForKubectl } from "../terminal/kubernetes-yaml.ts";
import { CommandError } from "../terminal/terminal.ts";
import { readTextFile, writeTextFile } from "../terminal/text-file.ts";
import { isNear, keysOfPath, type Move, namedReferences, refersToMoved, takesID, textOf } from "./manifest.ts";

export interface Rewriting {
  move: Move;
  /** The new object, as it is in the cluster. */
  next: ManagedObject;
  /** The namespace of manifests that name none. */
  namespace: string;
}

type Keys = readonly (string | number)[];
type Edit = [keys: Keys, value: unknown];

/**
 * Writes the move into the files below these paths: the manifest of the object itself, and references to it. Everything
 * else in a file stays as it is. Resolves with the names of the files that were changed; a second time there are none.
 */
export async function rewriteManifests(paths: readonly string[], recursive: boolean, rewriting: Rewriting) {
  const changed: string[] = [];
  for (const path of paths) {
    for (const file of await filesOf(path, recursive)) {
      if (await rewriteFile(file, rewriting)) changed.push(file);
    }
  }
  return changed;
}

/** Whether the file was changed. Throws CommandError if it cannot be read or written. */
async function rewriteFile(name: string, rewriting: Rewriting): Promise<boolean> {
  const file = await readTextFile(name);
  const after = rewritten(file.text ?? "", rewriting, name);
  if (after === file.text) return false;
  await writeTextFile(file, after);
  return true;
}

/** The text with the documents that the move concerns written anew. `file`: for messages. */
export function rewritten(text: string, rewriting: Rewriting, file = "the file"): string {
  let result = text;
  // From the last document to the first, so that the positions of earlier documents stay valid.
  for (const document of parseAllDocuments(text).reverse()) {
    const [error] = document.errors;
    if (error) throw new CommandError(`Correct the YAML in ${file}: ${firstLineOf(error)}`);
    const edits = editsOf(contentOf(document, file), rewriting);
    const range = isNode(document.contents) ? document.contents.range : undefined;
    if (edits.length === 0 || !range) continue;
    result = result.slice(0, range[0]) + applied(document, edits) + result.slice(range[2]);
  }
  return result;
}

/** Only this step finds an alias without an anchor. */
function contentOf(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new CommandError(`Correct the YAML in ${file}: ${textOfError(error)}`);
  }
}

/** How values are written that were not there before. */
const jsonStyle = { defaultKeyType: "QUOTE_DOUBLE", defaultStringType: "QUOTE_DOUBLE" } as const;

function applied(document: Document.Parsed, edits: readonly Edit[]): string {
  for (const [keys, value] of edits) applyEdit(document, keys, value);
  // Comments before the first line are not in the range of the contents, so they stay where they are.
  const { contents } = document;
  const map = isMap(contents) ? contents : undefined;
  const first = map?.items[0]?.key;
  for (const node of [contents, first]) if (isNode(node)) delete node.commentBefore;
  const isJSON = isScalar(first) && first.type === "QUOTE_DOUBLE" && map?.flow === true;
  return editedYAML(contents, { flowCollectionPadding: false, ...(isJSON && jsonStyle) });
}

function applyEdit(document: Document.Parsed, keys: Keys, value: unknown): void {
  const present = document.getIn(keys, true);
  if (typeof value !== "string") {
    document.setIn(keys, markForKubectl(document.createNode(value, { flow: true })));
    return;
  }
  // Keep the node of a single value, and so the comment beside it.
  const node = isScalar(present) ? present : new Scalar<unknown>(value);
  node.value = value;
  document.setIn(keys, markForKubectl(node));
}

/** The edits of an object, or of each object of a list. */
function editsOf(value: unknown, rewriting: Rewriting): Edit[] {
  const { kind, items } = (value ?? {}) as { kind?: unknown; items?: unknown };
  if (kind !== "List" || !Array.isArray(items)) return editsOfObject(value, rewriting);
  return items.flatMap((item, index) =>
    editsOfObject(item, rewriting).map(([keys, edit]): Edit => [["items", index, ...keys], edit]),
  );
}

function editsOfObject(value: unknown, rewriting: Rewriting): Edit[] {
  const object = (value ?? {}) as Partial<KubeObject> & { spec?: object };
  const kind = kinds.find((one) => one.kind === object.kind);
  if (object.apiVersion !== API_VERSION || !kind) return [];
  const { move, namespace } = rewriting;
  if ((object.metadata?.namespace ?? namespace) !== move.from.namespace) return [];
  const isMoved = kind === move.kind && object.metadata?.name === move.from.name;
  return isMoved ? ownEdits(kind, object.spec, rewriting) : referrerEdits(kind, object.spec, rewriting);
}

function ownEdits(kind: Kind, spec: object | undefined, { move, next }: Rewriting): Edit[] {
  const { from, to, toContext } = move;
  // These manifests are those of the old cluster. The new object has no place there.
  if (toContext !== undefined) return [];
  const ids = new Map(
    needsOf(kind.spec, next.spec).flatMap((need) =>
      need.type === "reference" && need.to.id !== undefined ? [[need.path, need.to.id]] : [],
    ),
  );
  return [
    [["metadata", "name"], to.name],
    ...(from.namespace === to.namespace ? [] : [[["metadata", "namespace"], to.namespace] as Edit]),
    ...namedReferences(kind, spec).flatMap(({ path }): Edit[] => {
      const id = ids.get(path);
      return id === undefined ? [] : [[["spec", ...keysOfPath(path)], { id }]];
    }),
    [["spec", "adopt"], { id: next.status?.id, from: textOf(from) }],
  ];
}

/** By name as before if the new object is in the namespace of the referrer, else by id. */
function referrerEdits(kind: Kind, spec: object | undefined, { move, next }: Rewriting): Edit[] {
  const near = isNear(move);
  return namedReferences(kind, spec)
    .filter((need) => refersToMoved(need, move))
    .filter((need) => near || takesID(need))
    .map((need): Edit => {
      const keys = ["spec", ...keysOfPath(need.path)];
      return near ? [[...keys, "name"], move.to.name] : [keys, { id: next.status?.id }];
    });
}
