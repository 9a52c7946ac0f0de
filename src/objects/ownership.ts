import { CLUSTER_ID, OWNER_KEY } from "../schema/contract.ts";
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
export function isOfCluster(mark: string, { cluster, formerClusters = [] }: Owner): boolean {
  const named = parseMark(mark);
  return named !== undefined && [cluster, ...formerClusters].includes(named.cluster);
}

/** Whether a mark names this object, in this cluster by its id or a former one. */
export const isMarkOf = (mark: string | undefined, owner: Owner): mark is string =>
  mark !== undefined && isOfCluster(mark, owner) && objectOf(mark) === `${owner.namespace}/${owner.name}`;

/** `<cluster>/<namespace>/<name>`: a mark without its create. Any other text: what comes before `#`. For messages. */
export const ownerTextOf = (mark: string): string => mark.replace(/#.*/s, "");

/** `<namespace>/<name>` of the object that a mark names, in whichever cluster. Undefined: the text names none. */
export function objectOf(mark: string | undefined): string | undefined {
  const owner = parseMark(mark);
  return owner && `${owner.namespace}/${owner.name}`;
}

/** Names as Kubernetes has them. */
const MARK = new RegExp(
  `^(${CLUSTER_ID})/([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)/([a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?)(?:#(.*))?$`,
  "s",
);

/**
 * What an owner mark says. Undefined: there is none, or the text names no possible object, so no operator has written it.
 * A remote with such a text is somebody else's, and it is not known whose.
 */
export function parseMark(mark: string | undefined): Mark | undefined {
  const [, cluster, namespace, name, create] = MARK.exec(mark ?? "") ?? [];
  if (cluster === undefined || namespace === undefined || name === undefined) return undefined;
  return { cluster, namespace, name, create: create || undefined };
}

/** Whether a remote says that this create of the object made it. */
export const isMadeBy = (remote: Answer, owner: Owner, create: string): boolean => createIn(remote, owner) === create;

/** The create that made a remote, as its mark says, if that is one of this object. */
export function createIn(remote: Answer, owner: Owner): string | undefined {
  const mark = ownerMarkOf(remote);
  return isMarkOf(mark, owner) ? parseMark(mark)?.create : undefined;
}

/** The text at the place of the mark in a remote's metadata, if there is one. `parseMark` says whether that is a mark. */
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

/** The metadata of a create: `withOwnerMark` or, if the user's text leaves no room for the mark, the mark alone. */
export const metadataWithMark = (metadata: string | undefined, owner: Mark): string | undefined =>
  withOwnerMark(canBeMarked(metadata, owner) ? metadata : undefined, owner);

/** The text in a remote's metadata, if it has any. */
export const metadataOf = ({ metadata }: Answer): string | undefined =>
  (metadata as string | null | undefined) ?? undefined;

/** Whether a remote has the mark of this object, and no text of a user. */
export const hasOnlyMark = (remote: Answer, owner: Owner): boolean =>
  isMarkOf(ownerMarkOf(remote), owner) && withoutOwnerMark(metadataOf(remote)) === undefined;

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
