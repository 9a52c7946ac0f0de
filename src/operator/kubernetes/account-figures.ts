import * as z from "zod";
import type { KubeObject } from "../../runtime/object.ts";
import { annotations } from "../../schema/contract.ts";

/** What the leader says of its accounts on its Lease, which it writes every two seconds anyway. Commands read it. */
const figures = z.object({
  /** How many requests each account may get in a minute. 0: no limit. */
  requestsPerMinute: z.number(),
  accounts: z.array(
    z.object({
      /** `namespace/name` of a GatewayAccount. Empty: the operator's own credentials. */
      name: z.string(),
      /** Sent within the last minute, by everybody who shares the account. */
      requests: z.number(),
      /** When the latest complete list of any resource began, in RFC 3339. */
      listed: z.string().optional(),
      /** Why requests or changes are stopped. */
      problem: z.string().optional(),
    }),
  ),
});

export type AccountFigures = z.infer<typeof figures>;

export const figuresAnnotation = (said: AccountFigures): Record<string, string> => ({
  [annotations.accounts]: JSON.stringify(said),
});

/** Undefined for a Lease that says nothing that can be understood. */
export function figuresOn({ metadata }: KubeObject): AccountFigures | undefined {
  try {
    return figures.parse(JSON.parse(metadata.annotations?.[annotations.accounts] ?? ""));
  } catch {
    return undefined;
  }
}
