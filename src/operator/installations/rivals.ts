import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden } from "../../runtime/connection/errors.ts";
import type { Logger } from "../../runtime/log.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { INSTALLATIONS, ownCopiesAmong, type Rival, rivalsAmong, type Scope, versionOf } from "./record.ts";

export interface RivalsOptions {
  client: Pick<KubeClient, "listAll">;
  config: Scope;
  clock: Clock;
  log: Logger;
}

export interface SeenRival extends Rival {
  /** Whether its installation still renews it. */
  isAlive: boolean;
}

/** The most Leases that an installation remembers as ended. */
const MOST_ENDED = 20;

/** Finds other installations that have the same objects. */
export class Rivals {
  readonly #options: RivalsOptions;
  /** The spec of each Lease, and since when this process has seen it unchanged. */
  readonly #seen = new Map<string, { spec: string; since: number }>();
  /** Leases that had ended without a word. */
  #ended: readonly string[] = [];
  #isRefused = false;

  constructor(options: RivalsOptions) {
    this.#options = options;
  }

  /**
   * `versionOf` of the Leases that were not renewed in time. Without this memory, a Lease that a killed
   * installation has left would hold up each start.
   */
  get ended(): readonly string[] {
    return this.#ended;
  }

  /** Call it with `ended` of the previous process. */
  remember(ended: readonly string[]): void {
    this.#ended = ended;
  }

  /**
   * Without `namespaces`, in all of them. Also tells where own copies are. Finds nothing where the right to list Leases
   * is missing, and warns.
   */
  async list(
    namespaces: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<{ rivals: SeenRival[]; ownCopies: string[] }> {
    const { config } = this.#options;
    const lists = await Promise.all((namespaces ?? [undefined]).map((namespace) => this.#list(namespace, signal)));
    const all = lists.flat();
    const rivals = rivalsAmong(all, config).map((rival) => ({ ...rival, isAlive: this.#isAlive(rival) }));
    return { rivals, ownCopies: ownCopiesAmong(all, config) };
  }

  async #list(namespace: string | undefined, signal: AbortSignal): Promise<Lease[]> {
    const { client, log } = this.#options;
    try {
      return (await client.listAll<Lease>(leases, { namespace, labelSelector: INSTALLATIONS, signal })).items;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (!this.#isRefused) log.warn({ error }, "Cannot see whether another installation has the same objects");
      this.#isRefused = true;
      return [];
    }
  }

  /**
   * An installation that has ended has released its Lease or does not renew it. Compare by changes, since its clock may
   * differ from ours.
   */
  #isAlive(lease: Lease): boolean {
    const { metadata, spec = {} } = lease;
    const version = versionOf(lease);
    if (!spec.holderIdentity || this.#ended.includes(version)) return false;
    const uid = metadata.uid ?? "";
    const text = JSON.stringify(spec);
    const known = this.#seen.get(uid);
    const { clock } = this.#options;
    const since = known?.spec === text ? known.since : clock.now();
    this.#seen.set(uid, { spec: text, since });
    if (clock.now() - since <= (spec.leaseDurationSeconds ?? 0) * 1000) return true;
    this.#ended = [...this.#ended, version].slice(-MOST_ENDED);
    return false;
  }
}
