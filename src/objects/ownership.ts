import { OWNER_KEY } from "../schema/contract.ts";
import type { Answer } from "../schema/define.ts";

/** How many bytes `metadata` may have, for every resource. */
const METADATA_BYTES = 4096;

/** The object that a remote belongs to. */
export interface Owner {
  /** The id of the cluster (ClusterIdentity), usually the uid of the namespace kube-system. */
  cluster: string;
  namespace: string;
  name: string;
  /** Former ids of the cluster, and ids of clusters that it succeeds. */
  formerClusters?: readonly string[];
}

/** What an owner mark says. */
export interface Mark extends Owner {
  /** The create that made the remote: the time of its intent. Absent if the remote was adopted. */
  create?: string | undefined;
}

/** `<cluster>/<namespace>/<name>`, and `#<create>` if a create made the remote. No cluster, namespace or name has a `#`. */
export const ownerMark = ({ cluster, namespace, name, create }: Mark): string =>
  [`${cluster}/${namespace}/${name}`, ...(create ? [create] : [])].join("#");

/** Whether a mark names this cluster, by its id or a former one. */
export const isOfCluster = (mark: string, { cluster, formerClusters = [] }: Owner): boolean =>
  [cluster, ...formerClusters].includes(ownerOf(mark).cluster);

/** Whether a mark names this object, in this cluster by its id or a former one. */
export const isMarkOf = (mark: string | undefined, owner: Owner): mark is string =>
  mark !== undefined && isOfCluster(mark, owner) && objectOf(mark) === `${owner.namespace}/${owner.name}`;

/** Whether a mark names this object by the present id of this cluster, whichever create it says. */
export const isPresentMarkOf = (mark: string | undefined, owner: Owner): boolean =>
  mark !== undefined && ownerTextOf(mark) === ownerMark(owner);

/** `<cluster>/<namespace>/<name>`: a mark without its create. For messages. */
export const ownerTextOf = (mark: string): string => mark.replace(/#.*/s, "");

/** `<namespace>/<name>` of the object that a mark names, in whichever cluster. */
export function objectOf(mark: string): string {
  const owner = ownerTextOf(mark);
  return owner.slice(owner.indexOf("/") + 1);
}

/** What a mark says: the one place that takes it apart. Its parts are empty if the text is not an owner mark. */
export function ownerOf(mark: string): Mark {
  const owner = ownerTextOf(mark);
  const [cluster = "", namespace = "", name = ""] = owner.split("/");
  return { cluster, namespace, name, create: mark.slice(owner.length + 1) || undefined };
}

/** What the mark of this owner has to say on a remote that has `mark` now: an update keeps the create. */
export const markToKeep = (mark: string | undefined, owner: Owner): Mark =>
  isMarkOf(mark, owner) ? { ...owner, create: ownerOf(mark).create } : owner;

/** The mark in a remote's metadata, if it has one. */
export function ownerMarkOf({ metadata }: Answer): string | undefined {
  const owner = jsonObject(metadata)?.[OWNER_KEY];
  return typeof owner === "string" ? owner : undefined;
}

/**
 * The metadata to send: the user's text plus one key, if the text is unset or a JSON object. Any other text, and one
 * that would exceed the limit, is returned unchanged.
 */
export function withOwnerMark(metadata: string | undefined, owner: Mark): string | undefined {
  const text = metadata || "{}";
  const users = jsonObject(text);
  if (!users) return metadata;
  const marked = Object.hasOwn(users, OWNER_KEY) ? withKeyReplaced(text, users, owner) : withKeyAdded(text, owner);
  return Buffer.byteLength(marked) <= METADATA_BYTES ? marked : metadata;
}

/**
 * The metadata as the user wrote it: `withOwnerMark` reversed. Undefined when nothing is left but the mark.
 */
export function withoutOwnerMark(metadata: string | undefined): string | undefined {
  const mark = ownerMarkOf({ metadata });
  if (metadata === undefined || mark === undefined) return metadata;
  const added = `${JSON.stringify(OWNER_KEY)}:${JSON.stringify(mark)}`;
  const text = [`,${added}`, added].reduce((given, part) => given.replace(part, ""), metadata);
  const users = jsonObject(text) ?? {};
  const { [OWNER_KEY]: _, ...rest } = users;
  if (Object.keys(rest).length === 0) return undefined;
  return Object.hasOwn(users, OWNER_KEY) ? JSON.stringify(rest) : text;
}

/** Inserts the key into the text. Parsing and serializing it would change large numbers and repeated keys. */
function withKeyAdded(text: string, owner: Mark): string {
  const before = text.slice(0, text.lastIndexOf("}")).trimEnd();
  const comma = before.trimStart() === "{" ? "" : ",";
  return `${before}${comma}${JSON.stringify(OWNER_KEY)}:${JSON.stringify(ownerMark(owner))}${text.slice(before.length)}`;
}

/** For text that contains the key already, for example because it was copied. */
const withKeyReplaced = (text: string, users: Record<string, unknown>, owner: Mark): string =>
  users[OWNER_KEY] === ownerMark(owner) ? text : JSON.stringify({ ...users, [OWNER_KEY]: ownerMark(owner) });

/** Whether text of a user contains the key of the owner mark, with any value. */
export const hasOwnerKey = (metadata: unknown): boolean => Object.hasOwn(jsonObject(metadata) ?? {}, OWNER_KEY);

/** Whether `withOwnerMark` adds the mark, so that the remote can be found by it. */
export const canBeMarked = (metadata: string | undefined, owner: Mark): boolean =>
  ownerMarkOf({ metadata: withOwnerMark(metadata, owner) }) !== undefined;

function jsonObject(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
