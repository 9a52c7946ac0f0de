import { annotations } from "../schema/contract.ts";
import type { Body } from "../schema/wire/request.ts";
import type { ManagedObject } from "./object.ts";

/**
 * What the annotation `create-intent` records before a create is sent, so that whoever comes next knows that a remote
 * may exist whose id was never written down. It stays for the life of the object.
 */
export interface Intent {
  /** When the first create of this object may have been sent; epoch milliseconds. */
  first: number;
  /** When permission for the latest was recorded. */
  last: number;
  /** The id in the status at that time: of a remote that was gone, or whose place the new one was to take. */
  old?: string | undefined;
  /** Spec fields that were sent, as `appliedFields` of the status: the spec may be another when the remote is found. */
  fields?: readonly string[] | undefined;
  /** What was sent, but for secrets, where a remote bears no mark and is known by nothing else. */
  sent?: Body | undefined;
}

/** A recorded intent permits sending for this long; after that it has to be recorded anew. 10 s at a deadline of 30 s. */
export const sendWindowMs = (deadlineMs: number): number => deadlineMs / 3;

/** A service that answers late may still be at work on a request that was given up here. 5 s at a deadline of 30 s. */
const lateProcessingMs = (deadlineMs: number): number => deadlineMs / 6;

/** How far the clocks of two pods, or of a pod and the service, may be apart. */
const SKEW_MS = 2_000;
const SERVICE_SKEW_MS = 120_000;

export function intentOf(object: ManagedObject): Intent | undefined {
  const text = object.metadata.annotations?.[annotations.createIntent];
  if (text === undefined) return undefined;
  const [, times = "", old, list, json] = FORMAT.exec(text) ?? [];
  const [first = "", last = first] = times.split("/");
  const parsed = { first: Date.parse(first), last: Date.parse(last) };
  const rest = { old, fields: list?.split(","), sent: json === undefined ? undefined : bodyIn(json) };
  // somebody edited it: a create may have been sent at any time of the object's life
  if (!Number.isFinite(parsed.first) || !Number.isFinite(parsed.last)) {
    const created = Date.parse(object.metadata.creationTimestamp ?? "") || 0;
    return { first: created, last: created, ...rest };
  }
  return { ...parsed, ...rest };
}

/** The intent of a create whose outcome was never written down. */
export function openIntentOf(object: ManagedObject): Intent | undefined {
  const intent = intentOf(object);
  const id = object.status?.id;
  return id === undefined || id === intent?.old ? intent : undefined;
}

const FORMAT = /^(.*?)(?: old=(\S+))?(?: fields=(\S+))?(?: sent=(\{.*\}))?$/s;

function bodyIn(json: string): Body | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** An annotation has no room for more; what is larger is sought by what the spec says then. */
const MAX_BODY_CHARACTERS = 32 * 1024;

/**
 * `<first>/<last>` as an ISO 8601 interval, and where there are any ` old=<id>`, ` fields=<names with commas>` and
 * ` sent=<JSON>`.
 */
export function formatIntent({ first, last, old, fields = [], sent }: Intent): string {
  const json = sent && JSON.stringify(sent);
  const parts = [
    `${new Date(first).toISOString()}/${new Date(last).toISOString()}`,
    old && `old=${old}`,
    fields.length > 0 && `fields=${fields.join(",")}`,
    json && json.length <= MAX_BODY_CHARACTERS && `sent=${json}`,
  ];
  return parts.filter(Boolean).join(" ");
}

/** From this time on (epoch milliseconds), a list without the remote proves that the create came to nothing. */
export const settledAt = ({ last }: Intent, deadlineMs: number): number => last + settleTimeMs(deadlineMs);

/** How long after it was recorded that is. */
export const settleTimeMs = (deadlineMs: number): number => sendWindowMs(deadlineMs) + maxProcessingMs(deadlineMs);

/** How long after it was sent a request may be carried out at the latest. 37 s at a deadline of 30 s. */
export const maxProcessingMs = (deadlineMs: number): number => deadlineMs + lateProcessingMs(deadlineMs) + SKEW_MS;

/** Whether a remote that was created at `createdAt` (RFC 3339) can be the one this intent was for. */
export function mayHaveCreated(intent: Intent, createdAt: unknown, deadlineMs: number): boolean {
  const time = Date.parse(String(createdAt));
  if (!Number.isFinite(time)) return false;
  // the calendar may have been set back between the two
  const [first, last] = [Math.min(intent.first, intent.last), Math.max(intent.first, intent.last)];
  return time >= first - SERVICE_SKEW_MS && time <= last + settleTimeMs(deadlineMs) + SERVICE_SKEW_MS;
}

/** Whether a remote that was created at `createdAt` (RFC 3339) is no older than the object. */
export function wasCreatedInLifetimeOf({ metadata }: ManagedObject, createdAt: unknown): boolean {
  const [made, born] = [Date.parse(String(createdAt)), Date.parse(metadata.creationTimestamp ?? "")];
  return made >= born - SERVICE_SKEW_MS;
}
