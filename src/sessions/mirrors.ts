import type { Collection } from "../account/remotes/collection.ts";
import { sessionLabels } from "../kinds/tunnel-session.ts";
import { sleep } from "../runtime/clock.ts";
import { keyOfScope, Mirror, type MirrorOptions, type MirrorSource } from "./mirror.ts";
import { isMirrored, isOf, type MirrorScope, type SessionObject } from "./session.ts";
import { runAll } from "./session-writer.ts";

/** Without mirrors, objects of former ones are looked for so often: a namespace may have come to be readable. No request. */
const DISABLED_SECONDS = 60;

export interface MirrorsOptions extends MirrorOptions {
  /** The accounts whose sessions are to be shown now. */
  sources: () => readonly MirrorSource[];
  /** Whether the sessions and GatewayAccounts of a namespace are known. What is in another one stays as it is. */
  isRead: (namespace: string) => boolean;
  /** Accounts whose sessions another installation shows. Their objects stay. */
  shownByOthers: () => readonly MirrorScope[];
  /** The namespace of the mirror of the operator's own account. */
  ownNamespace: string;
}

/** The mirrors of all accounts that ask for one. Each lists by itself, so that a slow account holds up no other. */
export class Mirrors {
  readonly #options: MirrorsOptions;
  readonly #mirrors = new Map<string, Mirror>();
  readonly #syncing = new Map<string, Promise<void>>();

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  get isEnabled(): boolean {
    return this.#options.intervalSeconds > 0;
  }

  /** Whether the objects have shown a list of these sessions since the process started. */
  isSynced(scope: MirrorScope, collection: Pick<Collection, "allCached">): boolean {
    return this.#mirrors.get(keyOfScope(scope))?.isSynced(collection) === true;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalSeconds, sources, isRead } = this.#options;
    while (!signal.aborted) {
      const begun = clock.now();
      const asking = this.isEnabled ? sources().filter(({ namespace }) => isRead(namespace)) : [];
      for (const source of asking) this.#sync(source, signal);
      await this.#endOthers(asking);
      const left = (intervalSeconds || DISABLED_SECONDS) * 1000 - (clock.now() - begun);
      await sleep(clock, Math.max(0, left), signal).catch(() => {});
    }
    await Promise.all(this.#syncing.values());
  }

  /** A list that takes longer than the interval is not begun a second time. */
  #sync(source: MirrorSource, signal: AbortSignal): void {
    const key = keyOfScope(source);
    if (this.#syncing.has(key)) return;
    const mirror = this.#mirrors.get(key) ?? new Mirror(this.#options, source);
    this.#mirrors.set(key, mirror);
    const syncing = mirror.sync(signal).finally(() => this.#syncing.delete(key));
    this.#syncing.set(key, syncing);
  }

  /** Deletes the objects of a mirror that has ended. Otherwise they would show their sessions as online for ever. */
  async #endOthers(asking: readonly MirrorSource[]): Promise<void> {
    const { store, writer, log, metrics, shownByOthers, isRead } = this.#options;
    const shown = [...asking, ...shownByOthers()];
    const stays = new Set(asking.map(keyOfScope));
    const ended = [...this.#mirrors.keys()].filter((key) => !stays.has(key));
    for (const key of ended) {
      this.#mirrors.delete(key);
      metrics?.ended(key);
    }
    const isEnded = (object: SessionObject) =>
      isRead(object.metadata.namespace) && this.#isOurs(object) && !shown.some((scope) => isOf(object, scope));
    const left = store.list().filter(isEnded);
    if (left.length === 0) return;
    const [error] = await runAll(left.map((object) => () => writer.delete(object)));
    if (error) log.warn({ error }, "Could not delete tunnel sessions");
    else log.info({ deleted: left.length }, "Deleted tunnel sessions of accounts that are not mirrored any more");
  }

  /** An object without an account in another namespace may belong to another operator. */
  #isOurs(object: SessionObject): boolean {
    const { namespace, labels } = object.metadata;
    return (
      isMirrored(object) && (namespace === this.#options.ownNamespace || labels?.[sessionLabels.account] !== undefined)
    );
  }
}
