import type { Answer, Kind, KindReadiness } from "./define.ts";
import { snakeCase } from "./wire/names.ts";

type Spec = Readonly<Record<string, unknown>>;

/** When to look again at an object whose certificate has ended. A resync notices a new Secret before that. */
const EXPIRED_SECONDS = 1800;

/**
 * Whether a remote can be used now, and when to ask again. A certificate is not usable after its end.
 * `now` in epoch milliseconds.
 */
export function readinessOf(kind: Kind, remote: Answer, spec: Spec, now: number): KindReadiness {
  const judged = kind.readiness(remote, now);
  const end = endOf(kind, remote);
  if (end === undefined || judged.readiness.state !== "usable") return judged;
  if (end > now) {
    const { afterSeconds = Number.POSITIVE_INFINITY } = judged.readiness;
    return { ...judged, readiness: { ...judged.readiness, afterSeconds: Math.min(afterSeconds, (end - now) / 1000) } };
  }
  const time = new Date(end).toISOString().replace(/\.\d+Z$/, "Z");
  const message = `${kind.validity?.remedy(spec)}: the certificate ended at ${time}`;
  return {
    ...judged,
    readiness: { state: "failing", reason: "CertificateExpired", message, afterSeconds: EXPIRED_SECONDS, stalledAt: 0 },
  };
}

/** Epoch milliseconds of the end of the validity. Undefined if there is none, or the answer does not have it. */
function endOf({ validity }: Kind, remote: Answer): number | undefined {
  const end = validity && Date.parse(String(remote[snakeCase(validity.until)]));
  return end !== undefined && Number.isFinite(end) ? end : undefined;
}

/** Whether the status of an object says that its certificate has ended. */
export function isExpired({ validity }: Pick<Kind, "validity">, status: Spec | undefined, now: number): boolean {
  return validity !== undefined && Date.parse(String(status?.[validity.until])) <= now;
}
