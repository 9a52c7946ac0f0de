import type { Account } from "../account/account.ts";
import type { Collection } from "../account/remotes/collection.ts";
import { tunnelSessions } from "../gateway/resources/index.ts";
import type { Store } from "../runtime/cache/store.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import type { SessionMetrics } from "./metrics.ts";
import { type MirrorPlan, planMirror } from "./plan.ts";
import type { MirrorScope, Session, SessionObject } from "./session.ts";
import { runAll, type SessionWriter, tasksOf } from "./session-writer.ts";

/** An account whose sessions are shown, and where. */
export interface MirrorSource extends MirrorScope {
  /** Rejects while it is not known to which account the key leads, as a request to it would. */
  open: (signal: AbortSignal) => Promise<Pick<Account, "collection">>;
}

export interface MirrorOptions {
  store: Store<SessionObject>;
  writer: SessionWriter;
  /** Between the beginnings of two lists; 0 means that sessions are not mirrored. */
  intervalSeconds: number;
  clock: Clock;
  log: Logger;
  metrics?: SessionMetrics | undefined;
  /** Called when the objects in this namespace show the latest list. */
  onSynced?: (namespace: string) => void;
}

/**
 * Keeps one object for each session of one account that is online, and writes only what changed. After a list that failed
 * or had sessions that could not be parsed, no object is deleted. A list of several pages may skip a session, so its
 * object is deleted only after two of them lack it.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #source: MirrorSource;
  /** The sessions that the objects show. Those of another account when the key leads there by now. */
  #shown: Pick<Collection, "allCached"> | undefined;

  constructor(options: MirrorOptions, source: MirrorSource) {
    this.#options = options;
    this.#source = source;
  }

  /** Whether the objects have shown a list of these sessions since the process started. */
  isSynced(collection: Pick<Collection, "allCached">): boolean {
    return this.#shown === collection;
  }

  /** Lists the sessions and writes their objects. Never rejects. */
  async sync(signal: AbortSignal): Promise<void> {
    const { log, metrics, onSynced } = this.#options;
    const { namespace, account } = this.#source;
    try {
      const collection = (await this.#source.open(signal)).collection(tunnelSessions);
      await this.#list(collection, signal);
      const sessions = collection.allCached();
      await this.#write([...sessions, ...collection.hidden] as Session[], !collection.list.hadUnreadable);
      metrics?.synced(keyOfScope(this.#source), sessions.length);
      this.#shown = collection;
      onSynced?.(namespace);
    } catch (error) {
      if (signal.aborted) return;
      metrics?.failed();
      log.warn({ error, namespace, account }, "Could not list tunnel sessions");
    }
  }

  /** Mirrors of the same account share a list that is not older than half of the interval. */
  #list(collection: Collection, signal: AbortSignal): Promise<void> {
    const { clock, intervalSeconds } = this.#options;
    return collection.list.listedSurely(clock.now() - intervalSeconds * 500, { lane: "sync", signal });
  }

  async #write(sessions: readonly Session[], complete: boolean): Promise<void> {
    const { store, writer, log } = this.#options;
    const { namespace } = this.#source;
    const plan = planMirror({ scope: this.#source, sessions, objects: store.list(namespace), complete });
    const failures = await runAll(tasksOf(namespace, plan, writer));
    this.#log(plan, sessions.length);
    const [error] = failures;
    if (error) log.warn({ error, failures: failures.length }, "Could not write tunnel sessions");
  }

  #log(plan: MirrorPlan, online: number): void {
    const { log } = this.#options;
    const { namespace, account } = this.#source;
    const { conflicts } = plan;
    if (conflicts.length > 0)
      log.warn(
        { namespace, names: conflicts.slice(0, 5) },
        "Skipped tunnel sessions: objects of others have their names",
      );
    const updated = new Set([...plan.updateLabels, ...plan.updateStatus].map(({ object }) => object.metadata.name))
      .size;
    const [created, deleted] = [plan.create.length, plan.delete.length];
    if (created + updated + deleted > 0)
      log.info({ namespace, account, online, created, updated, deleted }, "Mirrored tunnel sessions");
  }
}

/** `namespace/name` of the GatewayAccount, or "" for the operator's own credentials. */
export const keyOfScope = ({ namespace, account }: MirrorScope): string =>
  account === undefined ? "" : `${namespace}/${account}`;
