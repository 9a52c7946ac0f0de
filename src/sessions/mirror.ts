import type { Collection } from "../account/collection.ts";
import type { Store } from "../runtime/cache/store.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import type { SessionMetrics } from "./metrics.ts";
import { type MirrorPlan, planMirror } from "./plan.ts";
import { isMirrored, type Session, type SessionObject } from "./session.ts";
import { type SessionWriter, tasksOf } from "./session-writer.ts";

export interface MirrorOptions {
  /** The tunnel sessions of the account. */
  collection: Collection;
  store: Store<SessionObject>;
  writer: SessionWriter;
  /** Between the beginnings of two lists; 0 means that sessions are not mirrored. */
  intervalSeconds: number;
  clock: Clock;
  log: Logger;
  metrics?: SessionMetrics | undefined;
  /** Called when the objects show the latest list. */
  onSynced?: () => void;
}

const CONCURRENT_WRITES = 8;

/**
 * Keeps one object for each session that is online: lists the sessions once per interval, and writes only what changed.
 * After a list that failed or had sessions that could not be parsed, no object is deleted.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  #synced = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  get isEnabled(): boolean {
    return this.#options.intervalSeconds > 0;
  }

  /** Whether the objects have shown a list since the process started. */
  get isSynced(): boolean {
    return this.#synced;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalSeconds } = this.#options;
    if (!this.isEnabled) return this.#deleteAll();
    while (!signal.aborted) {
      const begun = clock.now();
      await this.#sync(signal);
      const left = intervalSeconds * 1000 - (clock.now() - begun);
      await sleep(clock, Math.max(0, left), signal).catch(() => {});
    }
  }

  /** Objects of a mirror that was switched off would show their sessions as online for ever. */
  async #deleteAll(): Promise<void> {
    if (this.#options.store.list().some(isMirrored)) await this.#write([], true);
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { collection, clock, log, metrics, onSynced } = this.#options;
    try {
      await collection.listed(clock.now(), { lane: "sync", signal });
      const sessions = collection.allCached();
      await this.#write(sessions as Session[], !collection.hadUnreadable);
      metrics?.synced(sessions.length);
      this.#synced = true;
      onSynced?.();
    } catch (error) {
      if (signal.aborted) return;
      metrics?.failed();
      log.warn({ error }, "Could not list tunnel sessions");
    }
  }

  async #write(sessions: readonly Session[], complete: boolean): Promise<void> {
    const { store, writer, log } = this.#options;
    const plan = planMirror({ sessions, objects: store.list(), complete });
    const failures = await runAll(tasksOf(plan, writer));
    this.#log(plan, sessions.length);
    const [error] = failures;
    if (error) log.warn({ error, failures: failures.length }, "Could not write tunnel sessions");
  }

  #log(plan: MirrorPlan, online: number): void {
    const { log } = this.#options;
    const { conflicts } = plan;
    if (conflicts.length > 0)
      log.warn({ names: conflicts.slice(0, 5) }, "Objects of others have names of tunnel sessions");
    const updated = new Set([...plan.updateLabels, ...plan.updateStatus].map(({ object }) => object.metadata.name))
      .size;
    const [created, deleted] = [plan.create.length, plan.delete.length];
    if (created + updated + deleted > 0) log.info({ online, created, updated, deleted }, "Mirrored tunnel sessions");
  }
}

/** Runs the tasks, a few at the same time. Returns what they threw. */
async function runAll(tasks: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const failures: unknown[] = [];
  const remaining = tasks.values();
  const work = async () => {
    // the workers share one iterator, so each task runs once
    for (const task of remaining) await task().catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: CONCURRENT_WRITES }, work));
  return failures;
}
