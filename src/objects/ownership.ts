import { OWNER_KEY } from "../schema/contract.ts";
import type { Answer } from "../schema/define.ts";

/** `metadata` of every resource may hold this many bytes. */
const METADATA_BYTES = 4096;

/** Names the object a remote belongs to, across clusters. */
export interface Owner {
  /** The uid of the namespace kube-system. */
  cluster: string;
  namespace: string;
  name: string;
}

export const ownerMark = ({ cluster, namespace, name }: Owner): string => `${cluster}/${namespace}/${name}`;

/** The owner that a remote's metadata names, if any. */
export function ownerMarkOf({ metadata }: Answer): string | undefined {
  const owner = jsonObject(metadata)?.[OWNER_KEY];
  return typeof owner === "string" ? owner : undefined;
}

/**
 * The metadata to send: the user's own text, with one key more when it is unset or a JSON object.
 * Any other text, and one that would grow beyond the limit, is sent exactly as it is.
 */
export function withOwnerMark(metadata: string | undefined, owner: Owner): string | undefined {
  const text = metadata || "{}";
  const users = jsonObject(text);
  if (!users) return metadata;
  const marked = Object.hasOwn(users, OWNER_KEY) ? withKeyReplaced(text, users, owner) : withKeyAdded(text, owner);
  return Buffer.byteLength(marked) <= METADATA_BYTES ? marked : metadata;
}

/** Written into the text, since numbers and repeated keys would not survive being read and written again. */
function withKeyAdded(text: string, owner: Owner): string {
  const before = text.slice(0, text.lastIndexOf("}")).trimEnd();
  const comma = before.trimStart() === "{" ? "" : ",";
  return `${before}${comma}${JSON.stringify(OWNER_KEY)}:${JSON.stringify(ownerMark(owner))}${text.slice(before.length)}`;
}

/** The user's text has the key already, copied from somewhere else perhaps. */
const withKeyReplaced = (text: string, users: Record<string, unknown>, owner: Owner): string =>
  users[OWNER_KEY] === ownerMark(owner) ? text : JSON.stringify({ ...users, [OWNER_KEY]: ownerMark(owner) });

/** Whether `withOwner` leaves a mark, so that what was made can be told by it. */
export const canBeMarked = (metadata: string | undefined, owner: Owner): boolean =>
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
