import { setTimeout as sleep } from "node:timers/promises";
import { changes } from "../changes.ts";
import { isReady, type ObjectState } from "../objects.ts";
import { frameAt } from "../steps.ts";
import { type Verdict, verdictOf } from "../verdict.ts";
import type { Line } from "./line.ts";
import { readyTable } from "./ready-table.ts";
import type { Screen } from "./screen.ts";

const POLL_MS = 300;

export interface Watched {
  readonly read: () => Promise<ObjectState[]>;
  /** The keys of the objects that should become Ready. */
  readonly expected: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface End {
  /** `waiting` means that the time is over. */
  readonly verdict: Verdict;
  readonly objects: readonly ObjectState[];
  readonly seconds: number;
}

/** Shows the objects until all are Ready, all others are stuck, or the time is over. Throws the signal's reason. */
export async function watchBecomingReady(screen: Screen, watched: Watched): Promise<End> {
  const { read, expected, timeoutMs, signal } = watched;
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  for (let before: readonly ObjectState[] = []; ; ) {
    const objects = await read();
    signal.throwIfAborted();
    const verdict = verdictOf(expected, objects);
    show(screen, { objects, before, elapsed: elapsed(), total: expected.length });
    if (verdict !== "waiting" || elapsed() > timeoutMs)
      return finish(screen, { verdict, objects, seconds: elapsed() / 1000 });
    before = objects;
    // throws the reason of the signal instead of an AbortError
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

interface Look {
  readonly objects: readonly ObjectState[];
  readonly before: readonly ObjectState[];
  readonly elapsed: number;
  readonly total: number;
}

function show(screen: Screen, { objects, before, elapsed, total }: Look): void {
  const seconds = (elapsed / 1000).toFixed(1);
  if (!screen.size) {
    screen.printWrapped(
      ...changes(before, objects).map((change) => [{ text: `${seconds.padStart(6)} s  ` }, ...change]),
    );
    return;
  }
  const count = objects.filter(isReady).length;
  const heading: Line = [
    { text: `  ${frameAt(elapsed)} ` },
    { text: `${count} of ${total} Ready`, style: "bold" },
    { text: `  ${seconds} s`, style: "dim" },
  ];
  screen.live([[], ...readyTable(objects, { rows: screen.size.rows - 4 }), [], heading]);
}

/** Prints the table that was live, with all its rows. */
function finish(screen: Screen, end: End): End {
  if (!screen.size) return end;
  screen.live([]);
  screen.printClipped([], ...readyTable(end.objects, { rows: Number.POSITIVE_INFINITY }));
  return end;
}
