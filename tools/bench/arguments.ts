import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const PHASES = ["create", "restart", "resync", "update", "delete", "trickle", "big"] as const;
export type Phase = (typeof PHASES)[number];

export interface Arguments {
  readonly objects: number;
  readonly phases: readonly Phase[];
  /** Of the service, in milliseconds; the phases are gone through at each. */
  readonly latencies: readonly number[];
  readonly repeat: number;
  readonly bigObjects: number;
  readonly trickleSeconds: number;
  /** What node runs as the operator. */
  readonly operator: string;
  readonly json: string | undefined;
  readonly baseline: string | undefined;
  readonly help: boolean;
}

export const USAGE = `npm run bench -- [options]

Measures the operator, compiled as the image runs it, against a real Kubernetes API server and a simulator of the
service, each in a process of its own. See docs/performance.md for what the columns mean and what is aimed at.

  --objects <n>          half of them ReservedDomain, half TunnelGroupBackend (default 2000)
  --phases <a,b>         of ${PHASES.join(", ")} (default all)
  --latency <ms,ms>      of the service; all phases but big run at each (default 0,50)
  --repeat <n>           and show medians (default 3)
  --big-objects <n>      for the phase big (default 10000)
  --trickle-seconds <n>  of 20 objects each (default 30)
  --operator <file>      what to measure (default dist/main.js)
  --json <file>          write the figures there
  --baseline <file>      compare with the figures of an earlier --json`;

/** Bad input; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const options = {
  objects: { type: "string", default: "2000" },
  phases: { type: "string", default: PHASES.join(",") },
  latency: { type: "string", default: "0,50" },
  repeat: { type: "string", default: "3" },
  "big-objects": { type: "string", default: "10000" },
  "trickle-seconds": { type: "string", default: "30" },
  operator: { type: "string", default: "dist/main.js" },
  json: { type: "string" },
  baseline: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export function readArguments(args: readonly string[]): Arguments {
  const values = parsed(args);
  return {
    objects: count("objects", values.objects),
    phases: phases(values.phases),
    latencies: values.latency.split(",").map((text) => whole("latency", text)),
    repeat: count("repeat", values.repeat),
    bigObjects: count("big-objects", values["big-objects"]),
    trickleSeconds: count("trickle-seconds", values["trickle-seconds"]),
    operator: resolve(values.operator),
    json: values.json,
    baseline: values.baseline,
    help: values.help,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function phases(text: string): Phase[] {
  const given = text.split(",");
  const unknown = given.find((name) => !PHASES.some((phase) => phase === name));
  if (unknown !== undefined) throw new UsageError(`--phases: there is no phase "${unknown}"`);
  return PHASES.filter((phase) => given.includes(phase));
}

function whole(name: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`--${name} must be a whole number`);
  return Number(text);
}

function count(name: string, text: string): number {
  const value = whole(name, text);
  if (value === 0) throw new UsageError(`--${name} must be at least 1`);
  return value;
}
