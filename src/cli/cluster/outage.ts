import { isUnreachable, KubeError } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";

/**
 * The message for an API server that cannot be reached or fails for a while. Undefined: the error has another cause.
 */
export function outageOf(error: unknown): string | undefined {
  if (isUnreachable(error)) return `The cluster cannot be reached: ${textOf(error)}`;
  if (error instanceof KubeError && (error.status >= 500 || error.status === 429))
    return `The cluster answers with status ${error.status}: ${textOf(error)}`;
  return undefined;
}
