import { IS_SERVED, ISSUED } from "./certificate.ts";
import type { Answer, Kind, KindCondition, KindReadiness, Readiness } from "./define.ts";
import { timestamp } from "./time.ts";
import { snakeCase } from "./wire/names.ts";

type Spec = Readonly<Record<string, unknown>>;
type Usable = Extract<Readiness, { state: "usable" }>;

/** When to look again at an object whose certificate has ended. A resync notices a new Secret earlier than this. */
const EXPIRED_SECONDS = 1800;

/** The clocks of those who check a certificate may differ from that of the service by this. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Whether a remote can be used now, and when to look again. A certificate is not usable before its begin and after its
 * end; a condition shows them. `now` in epoch milliseconds.
 */
export function readinessOf(kind: Kind, remote: Answer, spec: Spec, now: number): KindReadiness {
  const judged = kind.readiness(remote, now);
  const end = endOf(kind, remote);
  if (end === undefined || judged.readiness.state !== "usable") return judged;
  const start = boundOf(kind, remote, "from") ?? now;
  if (end > now && start > now + CLOCKS_DIFFER_MS) return notYetValid(judged, start, now);
  const conditions = [...(judged.conditions ?? []), validityCondition(kind, { spec, end, now })];
  if (end > now) return { readiness: until(judged.readiness, (end - now) / 1000), conditions };
  const message = endedMessage(kind, { spec, end });
  return {
    readiness: { state: "failing", reason: "CertificateExpired", message, afterSeconds: EXPIRED_SECONDS, stalledAt: 0 },
    conditions,
  };
}

function notYetValid({ conditions = [] }: KindReadiness, start: number, now: number): KindReadiness {
  const reason = "CertificateNotYetValid";
  const message = `Waiting for ${timestamp(start)}: the certificate is not valid before`;
  return {
    readiness: { state: "pending", reason, message, afterSeconds: (start - now) / 1000 },
    conditions: [...conditions, { type: "CertificateReady", status: "False", reason, message }],
  };
}

/** End of the validity, in epoch milliseconds. Undefined: the kind has no validity, or the answer has no end. */
export const endOf = (kind: Kind, remote: Answer): number | undefined => boundOf(kind, remote, "until");

function boundOf({ validity }: Kind, remote: Answer, bound: "from" | "until"): number | undefined {
  const time = validity && Date.parse(String(remote[snakeCase(validity[bound])]));
  return time !== undefined && Number.isFinite(time) ? time : undefined;
}

/** The readiness of a remote that is served with a certificate which ends at `end`. Times in epoch milliseconds. */
export function servedUntil(judged: KindReadiness, end: number, now: number): KindReadiness {
  const { readiness, conditions = [] } = judged;
  if (readiness.state !== "usable") return judged;
  if (end > now) {
    const reported = withIssuedMessage(judged, `${ISSUED}, and valid until ${timestamp(end)}`);
    return { ...reported, readiness: until(readiness, (end - now) / 1000) };
  }
  const ended = `the certificate ended at ${timestamp(end)}`;
  const way = readiness.reason
    ? `${readiness.message.replace(IS_SERVED, "")}, and ${ended}`
    : `Renew what is served: ${ended}`;
  const failure = { reason: "CertificateExpired", message: way } as const;
  return {
    readiness: { ...until(readiness, EXPIRED_SECONDS), state: "failing", ...failure, stalledAt: 0 },
    conditions: [
      ...conditions.filter(({ type }) => type !== "CertificateReady"),
      { type: "CertificateReady", status: "False", ...failure },
    ],
  };
}

/** `readiness` with its message replaced, if the message says only that the certificate is issued. */
export const withIssuedMessage = ({ readiness, conditions = [] }: KindReadiness, message: string): KindReadiness => ({
  readiness,
  conditions: conditions.map((one) => (one.message === ISSUED ? { ...one, message } : one)),
});

/** `readiness`, but look again after at most this many seconds. */
const until = (readiness: Usable, seconds: number) => ({
  ...readiness,
  afterSeconds: Math.min(readiness.afterSeconds ?? Number.POSITIVE_INFINITY, seconds),
});

/**
 * The condition for the certificate of which the status has the end. Undefined: the status has none. `now` in epoch
 * milliseconds.
 */
export function validityOfStatus(
  kind: Kind,
  spec: Spec,
  status: Spec | undefined,
  now: number,
): KindCondition | undefined {
  const end = endIn(kind, status);
  return Number.isFinite(end) ? validityCondition(kind, { spec, end, now }) : undefined;
}

function validityCondition(kind: Kind, { spec, end, now }: { spec: Spec; end: number; now: number }): KindCondition {
  const type = "CertificateReady";
  if (end <= now)
    return { type, status: "False", reason: "CertificateExpired", message: endedMessage(kind, { spec, end }) };
  return { type, status: "True", reason: "Available", message: `The certificate is valid until ${timestamp(end)}` };
}

const endedMessage = ({ validity }: Kind, { spec, end }: { spec: Spec; end: number }): string =>
  `${validity?.remedy(spec)}: the certificate ended at ${timestamp(end)}`;

/** Whether the status says that the object's certificate has ended. */
export const isExpired = (kind: Pick<Kind, "validity">, status: Spec | undefined, now: number): boolean =>
  endIn(kind, status) <= now;

/** Epoch milliseconds. NaN: the status has no end. */
const endIn = ({ validity }: Pick<Kind, "validity">, status: Spec | undefined): number =>
  validity ? Date.parse(String(status?.[validity.until])) : Number.NaN;
