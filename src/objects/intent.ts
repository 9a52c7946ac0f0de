import type { KubeObject } from "../runtime/object.ts";
import { annotations } from "../schema/contract.ts";

/**
 * The content of the annotation `create-intent`, which is written before a create is sent. It shows a later process that
 * a remote may exist whose id was never recorded. Whoever may edit the object can write it too. So it only says where to
 * look: what the create made says so itself, by its owner mark. It stays for the life of the object.
 */
export interface Intent {
  /** Identifies the create, as in the owner mark of what it made: when it was recorded, RFC 3339. */
  create?: string | undefined;
  /** The GatewayAccount to which the create was sent; empty for the operator's own credentials. */
  account?: string | undefined;
  /** The spec fields that were sent, as in `status.appliedFields`: the spec may change before the remote is found. */
  fields?: readonly string[] | undefined;
  /** The remote whose owner mark an update has taken off, since the text of the spec leaves no room for it. */
  unmarked?: Unmarked | undefined;
}

/** A remote that has lost its owner mark. */
export interface Unmarked {
  id: string;
  /** The mark that it had. */
  owner: string;
}

/** For how long after its intent was recorded a create may be sent. 10 s at a deadline of 30 s. */
export const sendWindowMs = (deadlineMs: number): number => deadlineMs / 3;

/** For how long after the client's deadline the service may still process a request. 5 s at a deadline of 30 s. */
const lateProcessingMs = (deadlineMs: number): number => deadlineMs / 6;

/** A reserve for what is not counted, such as delays of timers: see docs/architecture/create-protocol.md. */
const RESERVE_MS = 2_000;

/** How long after it was sent the service may still process a request. 37 s at a deadline of 30 s. */
export const maxProcessingMs = (deadlineMs: number): number => deadlineMs + lateProcessingMs(deadlineMs) + RESERVE_MS;

/** An object, and the part of its status that shows its create. */
interface Recorded extends KubeObject {
  status?: { id?: string; created?: string | undefined };
}

const KEYS = ["account", "fields", "id", "owner"] as const;

export function intentOf({ metadata }: KubeObject): Intent | undefined {
  const text = metadata.annotations?.[annotations.createIntent];
  if (text === undefined) return undefined;
  const parts = text.split(" ");
  const value = (key: (typeof KEYS)[number]) => parts.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1);
  const create = parts.find((part) => !KEYS.some((key) => part.startsWith(`${key}=`)));
  const [id, owner] = [value("id"), value("owner")];
  const unmarked = id && owner ? { id, owner } : undefined;
  return { create: create || undefined, account: value("account"), fields: value("fields")?.split(","), unmarked };
}

/** The create of an object whose outcome its status does not have. */
export function openCreateOf(object: Recorded): string | undefined {
  const create = intentOf(object)?.create;
  return create !== undefined && create !== object.status?.created ? create : undefined;
}

/** The largest expected difference between the clocks of the operator and the API server. */
const CLUSTER_SKEW_MS = 60_000;

/** Whether the create is not older than the object. An object that was restored has the annotation of the one before. */
export const isOwnCreate = ({ metadata }: KubeObject, create: string): boolean =>
  Date.parse(create) >= Date.parse(metadata.creationTimestamp ?? "") - CLUSTER_SKEW_MS;

/** `<create> account=<name> fields=<names with commas> id=<id> owner=<mark>`, without the parts that there are not. */
export function formatIntent({ create, account, fields = [], unmarked }: Intent): string {
  const parts = [
    create,
    account !== undefined && `account=${account}`,
    fields.length > 0 && `fields=${fields.join(",")}`,
    unmarked && `id=${unmarked.id} owner=${unmarked.owner}`,
  ];
  return parts.filter(Boolean).join(" ");
}
