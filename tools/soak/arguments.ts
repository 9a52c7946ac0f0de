import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Arguments {
  readonly minutes: number;
  readonly objects: number;
  readonly seed: number;
  /** What node runs as the operator. */
  readonly operator: string;
  readonly help: boolean;
}

export const USAGE = `npm run soak -- [options]

Lets the operator, compiled as the image runs it, live with edits, deletions, drift and a service that fails in every
way, then with nothing to do, and tells whether anything has grown. Exits with 1 when something has.

  --minutes <n>      of turmoil (default 30)
  --objects <n>      (default 2000)
  --seed <n>         repeats the choices of a run
  --operator <file>  what to run (default dist/main.js)`;

/** Bad input; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const options = {
  minutes: { type: "string", default: "30" },
  objects: { type: "string", default: "2000" },
  seed: { type: "string" },
  operator: { type: "string", default: "dist/main.js" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export function readArguments(args: readonly string[], anySeed: number): Arguments {
  const { minutes, objects, seed, operator, help } = parsed(args);
  return {
    minutes: number("minutes", minutes),
    objects: number("objects", objects),
    seed: seed === undefined ? anySeed : number("seed", seed),
    operator: resolve(operator),
    help,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function number(name: string, text: string): number {
  if (!/^\d{1,10}(\.\d+)?$/.test(text) || Number(text) === 0) throw new UsageError(`--${name} must be more than 0`);
  return Number(text);
}
