import type { Collection } from "../account/collection.ts";
import type { Store } from "../runtime/cache/store.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { abortable } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import type { SessionMetrics } from "./metrics.ts";
import { type SessionWriter, tasksOf } from "./objects.ts";
import { type MirrorPlan, planMirror } from "./plan.ts";
import { isMirrored, type Session, type SessionObject } from "./session.ts";

export interface MirrorOptions {
  /** The tunnel sessions of the account. */
  collection: Collection;
  store: Store<SessionObject>;
  writer: SessionWriter;
  /** Between two lists; 0 is off. */
  intervalSeconds: number;
  clock: Clock;
  log: Logger;
  metrics?: SessionMetrics | undefined;
  /** Told when the objects show what a list said. */
  onSynced?: () => void;
}

/** Writes to Kubernetes at the same time. */
const WRITERS = 8;

/**
 * Shows the sessions that are online as objects: one list of the account in each interval, and only writes that change
 * something. A list that fails, or has rows that cannot be read, removes nothing.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  #synced = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.intervalSeconds > 0;
  }

  /** Whether the objects have shown a list of this process. */
  get isSynced(): boolean {
    return this.#synced;
  }

  /** Runs until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalSeconds } = this.#options;
    if (!this.isOn) return this.#withdraw();
    while (!signal.aborted) {
      const begun = clock.now();
      await this.#sync(signal);
      const left = intervalSeconds * 1000 - (clock.now() - begun);
      await sleep(clock, Math.max(0, left), signal).catch(() => {});
    }
  }

  /** Objects that nobody keeps up would say that sessions are online for ever. */
  async #withdraw(): Promise<void> {
    if (this.#options.store.list().some(isMirrored)) await this.#write([], true);
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { collection, clock, log, metrics, onSynced } = this.#options;
    try {
      // the list is shared, and may go on for others
      await abortable(signal, collection.listed(clock.now(), "sync"));
      const sessions = collection.allCached();
      await this.#write(sessions as Session[], !collection.hadUnreadable);
      metrics?.synced(sessions.length);
      this.#synced = true;
      onSynced?.();
    } catch (error) {
      if (signal.aborted) return;
      metrics?.failed();
      log.warn({ error }, "Tunnel sessions could not be listed, their objects stay as they are");
    }
  }

  async #write(sessions: readonly Session[], complete: boolean): Promise<void> {
    const { store, writer, log } = this.#options;
    const plan = planMirror({ sessions, objects: store.list(), complete });
    const failures = await spread(tasksOf(plan, writer));
    this.#tell(plan, sessions.length);
    const [error] = failures;
    if (error) log.warn({ error, failures: failures.length }, "Objects of tunnel sessions could not be written");
  }

  #tell({ create, relabel, restate, remove, taken }: MirrorPlan, online: number): void {
    const { log } = this.#options;
    if (taken.length > 0) log.warn({ names: taken.slice(0, 5) }, "Somebody else's object has the name of a session");
    const changed = new Set([...relabel, ...restate].map(({ object }) => object.metadata.name)).size;
    const counts = { online, created: create.length, changed, removed: remove.length };
    if (create.length + changed + remove.length > 0) log.info(counts, "Mirrored tunnel sessions");
  }
}

/** What the tasks threw. */
async function spread(tasks: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const failures: unknown[] = [];
  const left = tasks.values();
  const work = async () => {
    // an iterator that is shared hands out each task once
    for (const task of left) await task().catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  return failures;
}
