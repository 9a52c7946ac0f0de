import type * as z from "zod";
import type { tunnelSessions } from "../gateway/resources/index.ts";
import { sessionLabels, sessionStatus } from "../kinds/tunnel-session.ts";
import type { KubeObject } from "../runtime/object.ts";
import { toStatus } from "../schema/wire/answer.ts";
import { agentDigest, labelValue } from "./naming.ts";

/** A session as the service lists it. */
export type Session = z.output<typeof tunnelSessions.wire>;

/** An object that stands for a session. */
export interface SessionObject extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string; uid: string };
  spec: { id: string };
  status?: Readonly<Record<string, unknown>>;
}

export type SessionLabels = Readonly<Record<string, string | undefined>>;

/** What `sessionLabels.mirror` has on the objects that the operator makes. */
export const MIRROR = "sessions";

export const isMirrored = ({ metadata }: KubeObject): boolean => metadata.labels?.[sessionLabels.mirror] === MIRROR;

/** The labels that belong to the operator; undefined ones must not be there. */
export const labelsOf = ({ region, os, transport, agent_version }: Session): SessionLabels => ({
  [sessionLabels.mirror]: MIRROR,
  [sessionLabels.region]: labelValue(region),
  [sessionLabels.os]: labelValue(os),
  [sessionLabels.transport]: labelValue(transport),
  [sessionLabels.agentVersion]: labelValue(agent_version),
});

export const statusOf = (session: Session): Record<string, unknown> =>
  toStatus(sessionStatus, session) as Record<string, unknown>;

/** Region, version and transport may change when an agent reconnects, so they do not tell agents apart. */
export const agentOf = ({ credential, ip, os, metadata }: Session): string =>
  agentDigest([credential?.id, ip, os, metadata]);

/** The service cannot restart agents there. */
export const isOnWindows = ({ os }: Session): boolean => /windows/i.test(os ?? "");
