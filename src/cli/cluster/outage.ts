import { isUnreachable, KubeError } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";

/** What to say when the API server cannot be reached or fails, which may pass. Undefined: the error is another one. */
export function outageOf(error: unknown): string | undefined {
  if (isUnreachable(error)) return `The cluster cannot be reached: ${textOf(error)}`;
  if (error instanceof KubeError && (error.status >= 500 || error.status === 429))
    return `The cluster answers with status ${error.status}: ${textOf(error)}`;
  return undefined;
}
