import type * as z from "zod";
import type { tunnelSessions } from "../gateway/resources/index.ts";
import { sessionLabels, sessionStatus } from "../kinds/tunnel-session.ts";
import type { KubeObject } from "../runtime/object.ts";
import { memoize } from "../schema/memoize.ts";
import { shownOf } from "../schema/wire/answer.ts";
import { accountLabel, agentDigest, labelValue } from "./naming.ts";

/** A session as the service lists it. */
export type Session = z.output<typeof tunnelSessions.wire>;

/** The object of a session. */
export interface SessionObject extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string; uid: string };
  spec: { id: string };
  status?: Readonly<Record<string, unknown>>;
}

export type SessionLabels = Readonly<Record<string, string | undefined>>;

/** The value of the label `sessionLabels.mirror` on objects of the mirror. */
export const MIRROR = "sessions";

/** Whose sessions the objects of a mirror show. */
export interface MirrorScope {
  namespace: string;
  /** The GatewayAccount in this namespace. Undefined: the operator's own credentials. */
  account?: string | undefined;
}

/** Whether the operator made the object, for whatever account. */
export const isMirrored = ({ metadata }: KubeObject): boolean => metadata.labels?.[sessionLabels.mirror] === MIRROR;

/** Whether the operator made the object for the account. */
export const isOf = (object: SessionObject, { namespace, account }: MirrorScope): boolean =>
  isMirrored(object) &&
  object.metadata.namespace === namespace &&
  object.metadata.labels?.[sessionLabels.account] === labelOf(account);

const labelOf = (account: string | undefined) => (account === undefined ? undefined : accountLabel(account));

/** The labels that the operator sets. An undefined one must not be there. */
export const labelsOf = (
  { region, os, transport, agent_version }: Session,
  account: string | undefined,
): SessionLabels => ({
  [sessionLabels.mirror]: MIRROR,
  [sessionLabels.account]: labelOf(account),
  [sessionLabels.region]: labelValue(region),
  [sessionLabels.os]: labelValue(os),
  [sessionLabels.transport]: labelValue(transport),
  [sessionLabels.agentVersion]: labelValue(agent_version),
});

export const statusOf = (session: Session): Record<string, unknown> => shownOf(sessionStatus, session).status;

/** Identifies the agent of a session. Not by region, version or transport: they may change when it reconnects. */
export const agentOf = memoize(({ credential, ip, os, metadata }: Session): string =>
  agentDigest([credential?.id, ip, os, metadata]),
);

/** The service cannot restart agents there. */
export const isOnWindows = ({ os }: Session): boolean => /windows/i.test(os ?? "");
