import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { OPERATOR_NAME } from "../../../src/schema/contract.ts";
import type { Control } from "../../simulator/simulator.ts";
import { changes } from "../changes.ts";
import type { ObjectState } from "../objects.ts";
import { type Health, healthAfter, healthChange } from "../service.ts";
import { writes } from "../writes.ts";
import type { Line } from "./line.ts";
import type { Screen } from "./screen.ts";

const POLL_MS = 1000;

export interface Followed {
  readonly read: () => Promise<ObjectState[]>;
  readonly control: Pick<Control, "requests">;
  /** Resolves with a line for each DNS record that has changed since the last call. */
  readonly records: () => Promise<Line[]>;
  readonly objects: readonly ObjectState[];
  readonly signal: AbortSignal;
}

/**
 * Prints each change of the objects and of the DNS records, each write to the account, and how the service answers when
 * that changes, until the signal aborts. Throws its reason.
 */
export async function follow(screen: Screen, { read, control, records, objects, signal }: Followed): Promise<never> {
  let before = objects;
  let seen = lastOf(control.requests());
  let health: Health = "well";
  for (;;) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    // goes on if the API server is busy, or somebody has deleted the kinds
    const after = await read().catch(() => before);
    signal.throwIfAborted();
    const dns = await records().catch(() => []);
    // in an outage there is no answer
    const requests = control.requests({ after: seen }).filter(({ status, fault }) => status !== null || fault);
    seen = Math.max(seen, lastOf(requests));
    const healthNow = healthAfter(health, requests.filter(isOfOperator));
    const service = healthChange(health, healthNow);
    screen.printWrapped(...[...service, ...dns, ...writes(requests), ...changes(before, after)].map(stamped));
    [before, health] = [after, healthNow];
  }
}

/** Commands have keys of their own, which may be wrong. */
const isOfOperator = ({ headers }: { headers: IncomingHttpHeaders }): boolean =>
  headers["user-agent"] === OPERATOR_NAME;

const lastOf = (requests: readonly { seq: number }[]): number => requests.at(-1)?.seq ?? 0;

const stamped = (change: Line): Line => [
  { text: `  ${new Date().toTimeString().slice(0, 8)}  `, style: "dim" },
  ...change,
];
