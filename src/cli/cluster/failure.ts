import { isForbidden, isUnauthorized, KubeError } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import { CommandError } from "../terminal/terminal.ts";
import { outageOf } from "./outage.ts";

/** The message for a failure that the user can do something about. Undefined: a fault of the program. */
export function messageForUser(error: unknown): string | undefined {
  if (error instanceof CommandError) return error.message;
  if (isUnauthorized(error)) return `Sign in to the cluster again: ${textOf(error)}`;
  if (isForbidden(error)) return `You need a right in the cluster: ${textOf(error)}`;
  const outage = outageOf(error);
  if (outage === undefined && error instanceof KubeError) return `The cluster refuses this: ${textOf(error)}`;
  return outage;
}
