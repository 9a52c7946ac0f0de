import { parseArgs } from "node:util";

export interface Arguments {
  /** End when all are Ready, instead of staying until Ctrl-C. */
  readonly once: boolean;
  /** How long the objects may take to become Ready. */
  readonly timeoutSeconds: number;
  readonly help: boolean;
}

export const USAGE = `npm run demo -- [--once] [--timeout <seconds>]

Starts a Kubernetes API server, a simulator of the service and the operator, applies examples/ and shows the objects
becoming Ready. Stays until Ctrl-C, when everything is stopped and removed.

  --once               end when all are Ready, with exit code 0; or 1 when they are not
  --timeout <seconds>  how long they may take (default 120)`;

/** Bad input; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function readArguments(args: readonly string[]): Arguments {
  const { once, timeout, help } = parsed(args);
  if (!/^[1-9]\d{0,5}$/.test(timeout)) throw new UsageError("--timeout must be a number of seconds");
  return { once, timeoutSeconds: Number(timeout), help };
}

function parsed(args: readonly string[]): { once: boolean; timeout: string; help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        once: { type: "boolean", default: false },
        timeout: { type: "string", default: "120" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
