import type { KubeObject } from "../runtime/object.ts";
import { annotations } from "../schema/contract.ts";
import type { Body } from "../schema/wire/request.ts";

/**
 * The annotation `create-intent`, which is written before a create is sent. It tells a later process that a remote may
 * exist whose id was never recorded. It stays for the life of the object.
 */
export type Intent = SignedIntent | UnsignedIntent;

/** This operator has written it: a signature proves that (intent-signatures.ts). */
export interface SignedIntent {
  signed: true;
  /** When the first create of this object that may have made something was sent, at the earliest; epoch milliseconds. */
  first: number;
  /** When the intent of the latest create was recorded; epoch milliseconds. */
  last: number;
  /**
   * The GatewayAccount to which the create was sent; empty for the operator's own credentials. Unset by versions before.
   */
  account?: string | undefined;
  /** The id in the status at that time, of a remote that was gone or was to be replaced. */
  old?: string | undefined;
  /** The spec fields that were sent, as in `status.appliedFields`: the spec may change before the remote is found. */
  fields?: readonly string[] | undefined;
  /** The body that was sent, without secrets. Only if the remote has no owner mark and has to be found by its fields. */
  sent?: Body | undefined;
}

/**
 * Anybody who may edit the object may have written it. It delays a create, and lets the remote be searched for by the
 * owner mark. So it has no member from which more could follow.
 */
export interface UnsignedIntent {
  signed: false;
  last: number;
}

/** How long after it was recorded an intent allows to send a create. 10 s at a deadline of 30 s. */
export const sendWindowMs = (deadlineMs: number): number => deadlineMs / 3;

/** The service may still process a request for this long after its deadline here. 5 s at a deadline of 30 s. */
const lateProcessingMs = (deadlineMs: number): number => deadlineMs / 6;

/** How far the clocks of two pods may be apart, and those of a pod and the service. */
const SKEW_MS = 2_000;
const SERVICE_SKEW_MS = 120_000;

/** The part of an object that tells of its creates. */
interface Recorded {
  intent?: Intent | undefined;
  status?: { id?: string };
}

/** What the object's annotation says, as far as it may be believed. */
export const intentOf = ({ intent }: Recorded): Intent | undefined => intent;

/** The object's intent, if this operator has written it. */
export function signedIntentOf({ intent }: Recorded): SignedIntent | undefined {
  return intent?.signed ? intent : undefined;
}

/** The intent of a create whose outcome was never recorded in the status. */
export function openIntentOf(object: Recorded): Intent | undefined {
  const intent = intentOf(object);
  const id = object.status?.id;
  return id === undefined || (intent?.signed && id === intent.old) ? intent : undefined;
}

/** What the annotation says, whoever has written it. */
export function parseIntent({ metadata }: KubeObject): SignedIntent | undefined {
  const text = metadata.annotations?.[annotations.createIntent];
  if (text === undefined) return undefined;
  const [, times = "", account, old, list, json] = FORMAT.exec(text) ?? [];
  const [first = "", last = first] = times.split("/");
  const parsed = { first: Date.parse(first), last: Date.parse(last) };
  const sent = json === undefined ? undefined : bodyIn(json);
  const rest = { signed: true as const, account, old, fields: list?.split(","), sent };
  // somebody edited the annotation: a create may have been sent at any time since the object was created
  if (!Number.isFinite(parsed.first) || !Number.isFinite(parsed.last)) {
    const created = Date.parse(metadata.creationTimestamp ?? "") || 0;
    return { first: created, last: created, ...rest };
  }
  return { ...parsed, ...rest };
}

const FORMAT = /^(.*?)(?: account=(\S*))?(?: old=(\S+))?(?: fields=(\S+))?(?: sent=(\{.*\}))?$/s;

function bodyIn(json: string): Body | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** A larger body does not fit into the annotation. Its remote is then found by the fields of the current spec. */
const MAX_BODY_CHARACTERS = 32 * 1024;

/**
 * `<first>/<last>` as an ISO 8601 interval, and where there are any ` account=<name>`, ` old=<id>`, ` fields=<names with commas>` and
 * ` sent=<JSON>`.
 */
export function formatIntent(intent: Intent): string {
  const { first, last, account, old, fields = [], sent } = intent.signed ? intent : asSigned(intent);
  const json = sent && JSON.stringify(sent);
  const parts = [
    `${new Date(first).toISOString()}/${new Date(last).toISOString()}`,
    account !== undefined && `account=${account}`,
    old && `old=${old}`,
    fields.length > 0 && `fields=${fields.join(",")}`,
    json && json.length <= MAX_BODY_CHARACTERS && `sent=${json}`,
  ];
  return parts.filter(Boolean).join(" ");
}

const asSigned = ({ last }: UnsignedIntent): SignedIntent => ({ signed: true, first: last, last });

/** A list that begins at this time (epoch milliseconds) or later and lacks the remote proves that none was created. */
export const settledAt = ({ last }: Pick<Intent, "last">, deadlineMs: number): number =>
  last + settleTimeMs(deadlineMs);

/** How long after the intent was recorded the create is settled. */
export const settleTimeMs = (deadlineMs: number): number => sendWindowMs(deadlineMs) + maxProcessingMs(deadlineMs);

/** How long after it was sent the service may still process a request. 37 s at a deadline of 30 s. */
export const maxProcessingMs = (deadlineMs: number): number => deadlineMs + lateProcessingMs(deadlineMs) + SKEW_MS;

/** Whether a remote that was created at `createdAt` (RFC 3339) can be the one this intent was for. */
export function mayHaveCreated(intent: SignedIntent, createdAt: unknown, deadlineMs: number): boolean {
  const time = Date.parse(String(createdAt));
  if (!Number.isFinite(time)) return false;
  // the system clock may have been set back between the two
  const [first, last] = [Math.min(intent.first, intent.last), Math.max(intent.first, intent.last)];
  return time >= first - SERVICE_SKEW_MS && time <= last + settleTimeMs(deadlineMs) + SERVICE_SKEW_MS;
}

/** Whether the intent is not older than the object. That of an object which was restored from a backup is. */
export function wasRecordedInLifetimeOf(object: KubeObject): boolean {
  const { first = Number.NaN } = parseIntent(object) ?? {};
  return first >= Date.parse(object.metadata.creationTimestamp ?? "") - SERVICE_SKEW_MS;
}

/** Whether a remote that was created at `createdAt` (RFC 3339) is not older than the object. */
export function wasCreatedInLifetimeOf({ metadata }: KubeObject, createdAt: unknown): boolean {
  const [remoteAt, objectAt] = [Date.parse(String(createdAt)), Date.parse(metadata.creationTimestamp ?? "")];
  return remoteAt >= objectAt - SERVICE_SKEW_MS;
}
