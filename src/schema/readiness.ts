import { IS_SERVED, ISSUED } from "./certificate.ts";
import type { Answer, Kind, KindCondition, KindReadiness, Readiness } from "./define.ts";
import { timestamp } from "./time.ts";
import { snakeCase } from "./wire/names.ts";

type Spec = Readonly<Record<string, unknown>>;
type Usable = Extract<Readiness, { state: "usable" }>;

/** When to look again at an object whose certificate has ended. A resync notices a new Secret before that. */
const EXPIRED_SECONDS = 1800;

/**
 * Whether a remote can be used now, and when to ask again. A certificate is not usable after its end, and a condition
 * tells that end. `now` in epoch milliseconds.
 */
export function readinessOf(kind: Kind, remote: Answer, spec: Spec, now: number): KindReadiness {
  const judged = kind.readiness(remote, now);
  const end = endOf(kind, remote);
  if (end === undefined || judged.readiness.state !== "usable") return judged;
  const conditions = [...(judged.conditions ?? []), validityCondition(kind, { spec, end, now })];
  if (end > now) return { readiness: until(judged.readiness, (end - now) / 1000), conditions };
  const message = endedMessage(kind, { spec, end });
  return {
    readiness: { state: "failing", reason: "CertificateExpired", message, afterSeconds: EXPIRED_SECONDS, stalledAt: 0 },
    conditions,
  };
}

/** Epoch milliseconds of the end of the validity. Undefined if the kind has none, or the answer does not tell. */
export function endOf({ validity }: Kind, remote: Answer): number | undefined {
  const end = validity && Date.parse(String(remote[snakeCase(validity.until)]));
  return end !== undefined && Number.isFinite(end) ? end : undefined;
}

/** The readiness of a remote that is served with a certificate which ends then. Times in epoch milliseconds. */
export function servedUntil(judged: KindReadiness, end: number, now: number): KindReadiness {
  const { readiness, conditions = [] } = judged;
  if (readiness.state !== "usable") return judged;
  if (end > now) {
    const told = withIssuedMessage(judged, `${ISSUED}, and valid until ${timestamp(end)}`);
    return { ...told, readiness: until(readiness, (end - now) / 1000) };
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

/** The same, with another message in place of the one that says that a certificate is issued, and no more. */
export const withIssuedMessage = ({ readiness, conditions = [] }: KindReadiness, message: string): KindReadiness => ({
  readiness,
  conditions: conditions.map((one) => (one.message === ISSUED ? { ...one, message } : one)),
});

/** The same, with a look after so many seconds at the latest. */
const until = (readiness: Usable, seconds: number) => ({
  ...readiness,
  afterSeconds: Math.min(readiness.afterSeconds ?? Number.POSITIVE_INFINITY, seconds),
});

/** Tells the end of the certificate that a status shows. Undefined if it shows none. `now` in epoch milliseconds. */
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

/** Whether the status of an object says that its certificate has ended. */
export const isExpired = (kind: Pick<Kind, "validity">, status: Spec | undefined, now: number): boolean =>
  endIn(kind, status) <= now;

/** Epoch milliseconds. NaN: the status shows no end. */
const endIn = ({ validity }: Pick<Kind, "validity">, status: Spec | undefined): number =>
  validity ? Date.parse(String(status?.[validity.until])) : Number.NaN;
