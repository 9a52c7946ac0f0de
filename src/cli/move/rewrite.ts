import { isDeepStrictEqual } from "node:util";
import { type Document, parseAllDocuments } from "yaml";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { textOf as textOfError } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { API_VERSION } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { filesOf, firstLineOf } from "../plan/manifests.ts";
import { CommandError } from "../terminal/terminal.ts";
import { readTextFile, writeTextFile } from "../terminal/text-file.ts";
import { type Edit, withEdits } from "./edit.ts";
import { isNear, keysOfPath, type Move, namedReferences, refersToMoved, setAt, takesID, textOf } from "./manifest.ts";

export interface Rewriting {
  move: Move;
  /** The new object, as it is in the cluster. */
  next: ManagedObject;
  /** The namespace of manifests that name none. */
  namespace: string;
}

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

/** The text with the edits of the move. `file`: for messages. Throws CommandError if they cannot be made. */
export function rewritten(text: string, rewriting: Rewriting, file = "the file"): string {
  let result = text;
  const wanted: unknown[] = [];
  // From the last document to the first, so that the positions of earlier documents stay valid.
  for (const document of parseAllDocuments(text).toReversed()) {
    const [error] = document.errors;
    if (error) throw new CommandError(`Correct the YAML in ${file}: ${firstLineOf(error)}`);
    const content = contentOf(document, file);
    const edits = editsOf(content, rewriting);
    result = (edits.length > 0 ? withEdits({ text: result, document }, edits) : result) ?? unknownForm(file);
    for (const [keys, value] of edits) setAt(content, keys, value);
    wanted.unshift(content);
  }
  if (result !== text && !hasContents(result, wanted)) unknownForm(file);
  return result;
}

function unknownForm(file: string): never {
  throw new CommandError(`Write the move into ${file} by hand: its YAML has a form that this command cannot edit`);
}

/** Whether the text has these values, and so the edits have changed nothing else. */
function hasContents(text: string, wanted: readonly unknown[]): boolean {
  try {
    const contents = parseAllDocuments(text).map((document) => document.errors.length === 0 && document.toJS());
    return isDeepStrictEqual(contents, wanted);
  } catch {
    return false;
  }
}

/** Only this step finds an alias without an anchor. */
function contentOf(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new CommandError(`Correct the YAML in ${file}: ${textOfError(error)}`);
  }
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
  const adopt = { id: next.status?.id, from: textOf(from) };
  return [
    [["metadata", "name"], to.name],
    ...(from.namespace === to.namespace ? [] : [[["metadata", "namespace"], to.namespace] as Edit]),
    ...namedReferences(kind, spec).flatMap(({ path }): Edit[] => {
      const id = ids.get(path);
      return id === undefined ? [] : [[["spec", ...keysOfPath(path)], { id }]];
    }),
    spec ? [["spec", "adopt"], adopt] : [["spec"], { adopt }],
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
