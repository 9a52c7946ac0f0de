import type { Remote } from "../../gateway/resource.ts";
import { conditionOf, isDeleting, type ManagedObject } from "../../objects/object.ts";
import { ISSUED } from "../../schema/certificate.ts";
import type { KindReadiness } from "../../schema/define.ts";
import { endOf, readinessOf, servedUntil, withIssuedMessage } from "../../schema/readiness.ts";
import { accountOf, type ReconcileContext, serviceEpochMs } from "../context.ts";

/** Seconds until the next look at a remote whose certificate no list has shown yet. */
const UNKNOWN_SECONDS = 300;

/** Whether the remote can be used: by its own state, and by the certificate with which it is served. Sends nothing. */
export function assessReadiness(context: ReconcileContext, remote: Remote): KindReadiness {
  const { kind, object, cluster, account } = context;
  const now = serviceEpochMs(context);
  const judged = readinessOf(kind, remote, object.spec, now);
  const { member = "", kind: name } = kind.servedWith ?? {};
  const { id } = (remote[member] ?? {}) as { id?: string };
  const certificates = cluster.kinds.find((one) => one.kind === name);
  if (!certificates || id === undefined) return judged;
  const certificate = account.remotes(certificates).cached(id);
  const end = certificate && endOf(certificates, certificate);
  if (end !== undefined) return servedUntil(judged, end, now);
  const known = withKnownEnd(judged, object, { member, id });
  const { readiness } = known;
  if (certificate || readiness.state !== "usable" || readiness.afterSeconds !== undefined) return known;
  return { ...known, readiness: { ...readiness, afterSeconds: UNKNOWN_SECONDS } };
}

/**
 * The same for a reconcile that has failed: the remote may have changed although the object could not be brought to it.
 * Undefined: the account or the remote is not known.
 */
export function assessUnfinished(context: ReconcileContext): KindReadiness | undefined {
  const { kind, object, state } = context;
  const account = accountOf(context);
  if (!account || isDeleting(object)) return undefined;
  const isRead = Object.keys(state.remote ?? {}).length > 1;
  const remote = isRead ? state.remote : account.remotes(kind).cached(object.status?.id ?? "");
  return remote && assessReadiness(context, remote);
}

/**
 * Before this process has read the list of certificates, uses the end that the previous process has recorded for the
 * same certificate.
 */
function withKnownEnd(
  judged: KindReadiness,
  { status }: ManagedObject,
  { member, id }: { member: string; id: string },
): KindReadiness {
  const { message = "" } = conditionOf(status, "CertificateReady") ?? {};
  const before = status?.[member] as { id?: string } | undefined;
  return before?.id === id && message.startsWith(ISSUED) ? withIssuedMessage(judged, message) : judged;
}
