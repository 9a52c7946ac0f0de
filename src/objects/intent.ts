import type { KubeObject } from "../runtime/object.ts";
import { annotations } from "../schema/contract.ts";
import type { Body } from "../schema/wire/request.ts";

/**
 * The content of the annotation `create-intent`, which is written before a create is sent. It shows a later process
 * that a remote may exist whose id was never recorded. It stays for the life of the object.
 */
export type Intent = SignedIntent | UnsignedIntent;

/** An intent that this operator has written, as its signature proves (intent-signatures.ts). */
export interface SignedIntent {
  signed: true;
  /** The earliest time at which a create of this object may have made something; epoch milliseconds. */
  first: number;
  /** When the intent of the latest create was recorded; epoch milliseconds. */
  last: number;
  /** The GatewayAccount to which the create was sent; empty for the operator's own credentials. */
  account?: string | undefined;
  /** The id in the status at that time, of a remote that was gone or had to be replaced. */
  old?: string | undefined;
  /** The spec fields that were sent, as in `status.appliedFields`: the spec may change before the remote is found. */
  fields?: readonly string[] | undefined;
  /**
   * The body that was sent, without secrets. Set only if the remote has no owner mark and has to be found by its
   * fields, and only if it fits into the annotation.
   */
  sent?: Body | undefined;
}

/**
 * An intent that anybody who may edit the object may have written. It can delay a create, and cause a search by the
 * owner mark. It has no other member, so that a forged intent can do no more.
 */
export interface UnsignedIntent {
  signed: false;
  last: number;
}

/** For how long after its intent was recorded a create may be sent. 10 s at a deadline of 30 s. */
export const sendWindowMs = (deadlineMs: number): number => deadlineMs / 3;

/** For how long after the client's deadline the service may still process a request. 5 s at a deadline of 30 s. */
const lateProcessingMs = (deadlineMs: number): number => deadlineMs / 6;

/** The largest expected difference between the clocks of two pods, or of a pod and the service. */
const SKEW_MS = 2_000;
const SERVICE_SKEW_MS = 120_000;

/** The part of an object that shows its creates. */
interface Recorded {
  intent?: Intent | undefined;
  status?: { id?: string };
}

/** The part of the object's annotation that can be trusted. */
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

/** The content of the annotation, whoever has written it. */
export function parseIntent({ metadata }: KubeObject): SignedIntent | undefined {
  const text = metadata.annotations?.[annotations.createIntent];
  if (text === undefined) return undefined;
  const [, times = "", account, old, list, json] = FORMAT.exec(text) ?? [];
  const [first = "", last = first] = times.split("/");
  const parsed = { first: Date.parse(first), last: Date.parse(last) };
  const sent = json === undefined ? undefined : bodyIn(json);
  const rest = { signed: true as const, account, old, fields: list?.split(","), sent };
  // Somebody has edited the annotation: a create may have been sent at any time since the object was created.
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
  // The system clock may have been set back between the two times.
  const [first, last] = [Math.min(intent.first, intent.last), Math.max(intent.first, intent.last)];
  return time >= first - SERVICE_SKEW_MS && time <= last + settleTimeMs(deadlineMs) + SERVICE_SKEW_MS;
}

/** Whether a remote that was created at `createdAt` (RFC 3339) is not older than the object. */
export function wasCreatedInLifetimeOf({ metadata }: KubeObject, createdAt: unknown): boolean {
  const [remoteAt, objectAt] = [Date.parse(String(createdAt)), Date.parse(metadata.creationTimestamp ?? "")];
  return remoteAt >= objectAt - SERVICE_SKEW_MS;
}
