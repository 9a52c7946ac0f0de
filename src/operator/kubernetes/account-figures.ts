import * as z from "zod";
import type { KubeObject } from "../../runtime/object.ts";
import { annotations } from "../../schema/contract.ts";

/**
 * The state of the accounts, which the leader writes into its Lease so that commands can read it. It costs no extra
 * write: the Lease is renewed every two seconds anyway.
 */
const figures = z.object({
  /** The request limit of each account per minute. 0: no limit. */
  requestsPerMinute: z.number(),
  accounts: z.array(
    z.object({
      /** `namespace/name` of a GatewayAccount. Empty: the operator's own credentials. */
      name: z.string(),
      /** Requests within the last minute, of all credentials that share the account. */
      requests: z.number(),
      /** When the latest complete list of any resource began, in RFC 3339. */
      listed: z.string().optional(),
      /** The end of the pause that the service has asked for, in RFC 3339. Unset: there is none. */
      pausedUntil: z.string().optional(),
      /** How many requests wait for their turn. Unset: none. */
      waiting: z.number().optional(),
      /** Why requests or changes are stopped. */
      problem: z.string().optional(),
    }),
  ),
});

export type AccountFigures = z.infer<typeof figures>;

export const figuresAnnotation = (said: AccountFigures): Record<string, string> => ({
  [annotations.accounts]: JSON.stringify(said),
});

/** Undefined: the Lease has no figures, or none that this version can read. */
export function figuresOn({ metadata }: KubeObject): AccountFigures | undefined {
  try {
    return figures.parse(JSON.parse(metadata.annotations?.[annotations.accounts] ?? ""));
  } catch {
    return undefined;
  }
}
