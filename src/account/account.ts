import type { Remote, Resource } from "../gateway/resource.ts";
import { ipPolicies, reservedDomains } from "../gateway/resources/index.ts";
import { hasList, type Source } from "../objects/evidence.ts";
import type { EntryLocation, Kind } from "../schema/define.ts";
import type { AccountOptions } from "./account-options.ts";
import { DeleteRateLimiter } from "./delete-rate-limiter.ts";
import { DeletionBurst } from "./deletion-burst.ts";
import { Failures } from "./failures.ts";
import { KeyProof } from "./key-proof.ts";
import { MassLossGuard, type MissingRemote } from "./mass-loss-guard.ts";
import { OperationSupport } from "./operation-support.ts";
import { Collection } from "./remotes/collection.ts";
import type { CollectionOptions } from "./remotes/collection-options.ts";
import { Entries } from "./remotes/entries.ts";
import { ListFailures } from "./remotes/list-failures.ts";
import { Modules, proveKeyByModule } from "./remotes/modules.ts";
import type { Remotes } from "./remotes/remotes.ts";
import type { CallsOptions } from "./requests/calls.ts";
import { CircuitBreaker } from "./requests/circuit-breaker.ts";
import { roomForAll } from "./requests/list-room.ts";
import type { Lane } from "./requests/request-budget.ts";
import { ServiceTime } from "./requests/service-time.ts";
import { Turns } from "./requests/turns.ts";

/** What all requests of an account share. */
type RequestParts = CallsOptions & Pick<CollectionOptions, "client" | "clock" | "signal" | "room">;

const DEFAULT_RESYNC_SECONDS = 300;

/** The resync of a resource may start up to a tenth later than the interval, and its list takes time. */
const RESYNC_ROOM = 1.25;

/**
 * One account of the service: its client, its budget, and what is known of its resources. It is a value of base URL and
 * API key, and never has another key: a rotated key is another account.
 */
export class Account {
  readonly breaker: CircuitBreaker;
  readonly failures: Failures;
  readonly turns: Turns;
  readonly deleteLimiter: DeleteRateLimiter;
  readonly lossGuard: MassLossGuard;
  readonly keyProof: KeyProof;
  readonly serviceTime: ServiceTime;
  readonly deletionBurst: DeletionBurst;
  readonly listFailures: ListFailures;
  readonly operations: OperationSupport;
  /** When this process last changed a remote by this account, or by a former one of its credentials. Monotonic. */
  changedAt = 0;
  readonly #options: AccountOptions;
  readonly #collections = new Map<string, Collection>();
  readonly #remotes = new Map<string, Remotes>();
  readonly #requests: RequestParts;
  readonly #resyncMs: number;
  #probes = 0;

  constructor(options: AccountOptions) {
    const { resyncSeconds = DEFAULT_RESYNC_SECONDS } = options;
    this.#resyncMs = resyncSeconds * 1000;
    this.turns = new Turns(options.budget, options.clock);
    this.failures = new Failures(options.clock, options.onReleased);
    this.breaker = new CircuitBreaker({
      ...options,
      probe: (error) => this.probe("edit", options.signal, error),
      onRecovered: (failingSince) => {
        this.failures.releaseSince(failingSince);
        options.onRecovered?.();
      },
    });
    this.deleteLimiter = new DeleteRateLimiter(options.clock, options.deletesPerMinute);
    this.lossGuard = new MassLossGuard({
      clock: options.clock,
      windowMs: this.#resyncMs * RESYNC_ROOM,
      ...options.loss,
    });
    this.keyProof = new KeyProof({
      clock: options.clock,
      recorded: () => new Map(),
      ...options.key,
      readList: (resource) => this.#readToProve(resource),
      readOne: (source, id) => this.#readOneToProve(source, id),
    });
    this.listFailures = new ListFailures({
      clock: options.clock,
      intervalMs: this.#resyncMs,
      onChange: (resource) => options.onListProblem?.(resource),
    });
    this.serviceTime = new ServiceTime(options.clock);
    this.deletionBurst = new DeletionBurst(options.clock);
    this.#options = options;
    this.operations = new OperationSupport(options.clock, options.undocumented);
    const { client, clock, signal, assertMaySend, room = roomForAll() } = options;
    const { turns, breaker, keyProof } = this;
    const onWritten = () => this.operations.written();
    this.#requests = { client, clock, signal, room, turns, breaker, keyProof, assertMaySend, onWritten };
  }

  /** Aborted when the account is no longer used. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  collection(resource: Resource): Collection {
    const known = this.#collections.get(resource.name);
    if (known) return known;
    this.lossGuard.begin();
    const { clock, sharesLists, onListDelta, onOwnChange } = this.#options;
    const made = new Collection({
      ...this.#requests,
      ...(sharesLists && { place: resource.name }),
      resource,
      onListDelta: (delta) => {
        this.listFailures.succeeded(resource);
        onListDelta?.(resource, delta);
      },
      onListFailed: (error) => this.listFailures.failed(resource, error),
      onOwnChange: (id, after) => {
        this.changedAt = clock.now();
        onOwnChange?.(resource, id, after);
      },
    });
    this.#collections.set(resource.name, made);
    return made;
  }

  /** When the latest complete list of any resource began, in monotonic milliseconds. */
  get listedAt(): number | undefined {
    const times = [...this.#collections.values()].flatMap(({ listedAt }) => listedAt ?? []);
    return times.length > 0 ? Math.max(...times) : undefined;
  }

  async #readToProve(resource: Resource): Promise<void> {
    const ids = await this.#options.key?.listedElsewhere?.(resource);
    if (ids) this.keyProof.recordSeenIDs(ids);
    else await this.collection(resource).list.proveKey({ lane: "retry", signal: this.#options.signal });
  }

  async #readOneToProve(source: Source, id: string): Promise<void> {
    const request = { lane: "sync", signal: this.#options.signal } as const;
    if (hasList(source)) return this.collection(source).proveKeyBy(id, request);
    await proveKeyByModule(source, id, this.#requests, request);
  }

  /** Lists that began before this time are out of date. */
  invalidateLists(at: number): void {
    for (const collection of this.#collections.values()) collection.invalidateList(at);
  }

  /**
   * Records that this process has changed or deleted a remote through other credentials, which may be of the same
   * account.
   */
  learn({ name }: Resource, id: string, after: Remote | undefined): void {
    this.changedAt = this.#options.clock.now();
    this.#collections.get(name)?.learn(id, after);
  }

  /**
   * Asks whether the service answers and accepts the key. Uses two routes in turn, or a route other than the one that
   * failed.
   */
  probe(lane: Lane, signal: AbortSignal, error?: { route: string }): Promise<void> {
    const first = error ? error.route !== ipPolicies.path : ++this.#probes % 2 === 1;
    return this.collection(first ? ipPolicies : reservedDomains).list.probe({ lane, signal });
  }

  /** The collection whose members are the remotes of a kind. Undefined: they are parts of other remotes. */
  collectionOf({ location, resource }: Kind): Collection | undefined {
    return location.type === "collection" ? this.collection(resource) : undefined;
  }

  /** The remotes of a kind, whatever their location. */
  remotes(kind: Kind): Remotes {
    const { location, resource } = kind;
    if (location.type === "collection") return this.collection(resource);
    const known = this.#remotes.get(resource.name);
    if (known) return known;
    const made = location.type === "entry" ? this.#entries(resource, location) : this.#modules(kind);
    this.#remotes.set(resource.name, made);
    return made;
  }

  #entries(remote: Resource, location: EntryLocation): Entries {
    const { onListDelta } = this.#options;
    return new Entries({
      ...this.#requests,
      location,
      parents: this.collection(location.parent.resource),
      ...(onListDelta && { onListDelta: (delta) => onListDelta(remote, delta) }),
    });
  }

  #modules({ modules, resource: { title } }: Kind): Modules {
    return new Modules({
      ...this.#requests,
      title,
      modules,
      // A little less than the interval, so that a reconcile that comes slightly early reads the modules again.
      maxAgeMs: this.#resyncMs * 0.9,
    });
  }

  /**
   * Tries to prove a key again. Reads a missing remote of a suspected loss when it is due. If the remote is back, the
   * loss is no longer suspected. Throws the first error after all reads.
   */
  async recheckMissing(signal: AbortSignal): Promise<void> {
    if (this.keyProof.isAttemptDue) await this.keyProof.ensure();
    // An error of one resource says nothing about the others, whose next read is scheduled already.
    const problems: unknown[] = [];
    for (const missing of this.lossGuard.takeDueRechecks())
      await this.#recheck(missing, signal).catch((error: unknown) => problems.push(error));
    if (problems.length > 0) throw problems[0];
  }

  async #recheck({ resource, id }: MissingRemote, signal: AbortSignal): Promise<void> {
    if (this.#options.loss?.hasObjectFor?.(id) === false) {
      this.lossGuard.clear(resource);
      return;
    }
    const collection = this.collection(resource);
    const back = collection.cached(id) ?? (await collection.read(id, { lane: "sync", signal }));
    if (!back) return;
    await collection.listed(this.#options.clock.now(), { lane: "sync" });
    // The read puts the remote into the cache before the next list, so the list delta would not report it.
    this.#options.onListDelta?.(resource, { changed: [id], absent: [] });
    this.lossGuard.clear(resource);
  }
}
