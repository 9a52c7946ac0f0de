import type { Remote, Resource, Verb } from "../gateway/resource.ts";
import { ipPolicies, reservedDomains } from "../gateway/resources/index.ts";
import { hasList, type Source } from "../objects/evidence.ts";
import { type Intent, maxProcessingMs } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { EntryLocation, Kind } from "../schema/define.ts";
import type { AccountOptions } from "./account-options.ts";
import type { CorrectionCounter } from "./correction-counter.ts";
import type { CreateSettlement } from "./create-settlement.ts";
import { DeferredDeletes } from "./deferred-deletes.ts";
import { DeleteRateLimiter } from "./delete-rate-limiter.ts";
import { DeletionBurst } from "./deletion-burst.ts";
import { type Failure, Failures } from "./failures.ts";
import { KeyProof } from "./key-proof.ts";
import { MassLossGuard } from "./mass-loss-guard.ts";
import { ObjectMemory } from "./object-memory.ts";
import { OperationSupport, type Support } from "./operation-support.ts";
import { Collection } from "./remotes/collection.ts";
import { Entries } from "./remotes/entries.ts";
import { ListFailures } from "./remotes/list-failures.ts";
import { Modules, proveKeyByModule } from "./remotes/modules.ts";
import type { Remotes } from "./remotes/remotes.ts";
import type { CallsOptions } from "./requests/calls.ts";
import { CircuitBreaker } from "./requests/circuit-breaker.ts";
import type { Lane } from "./requests/request-budget.ts";
import { ServiceTime } from "./requests/service-time.ts";
import { Turns } from "./requests/turns.ts";

const DEFAULT_RESYNC_SECONDS = 300;

/** The resync of a resource may start up to a tenth later than the interval, and its list takes time. */
const RESYNC_ROOM = 1.25;

/** A resource or a module: its operations may be missing in a service. */
interface Operations {
  readonly name: string;
  readonly verbs: { readonly [verb in "update" | "delete"]?: Verb };
}

/** One account of the service: its client, its budget, and what is known of its resources. */
export class Account {
  readonly deadlineMs: number;
  readonly corrections: CorrectionCounter;
  readonly breaker: CircuitBreaker;
  readonly failures: Failures;
  readonly turns: Turns;
  readonly deleteLimiter: DeleteRateLimiter;
  readonly lossGuard: MassLossGuard;
  readonly keyProof: KeyProof;
  readonly createSettlement: CreateSettlement;
  readonly serviceTime: ServiceTime;
  readonly deletionBurst: DeletionBurst;
  readonly deferredDeletes: DeferredDeletes;
  readonly listFailures: ListFailures;
  /** When this process last changed a remote by this account, in monotonic milliseconds. */
  changedAt = 0;
  readonly #options: AccountOptions;
  readonly #collections = new Map<string, Collection>();
  readonly #remotes = new Map<string, Remotes>();
  readonly #support: OperationSupport;
  readonly #memory: ObjectMemory;
  #probes = 0;
  #changesDoneAt: number | undefined;

  constructor(options: AccountOptions) {
    this.deadlineMs = options.deadlineMs;
    this.#memory = options.memory ?? new ObjectMemory(options.clock, options.deadlineMs);
    this.corrections = this.#memory.corrections;
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
      windowMs: (options.resyncSeconds ?? DEFAULT_RESYNC_SECONDS) * 1000 * RESYNC_ROOM,
      isConfirmedAtStart: options.isLossConfirmed ?? false,
      onChange: (suspected) => (suspected ? options.onLossSuspected : options.onLossCleared)?.(),
    });
    this.keyProof = new KeyProof({
      clock: options.clock,
      recorded: () => new Map(),
      wayOut: () => "",
      ...options.key,
      readList: (resource) => this.#readToProve(resource),
      readOne: (source, id) => this.#readOneToProve(source, id),
      onKeyChange: () => {
        this.#invalidateAll(options.clock.now());
        this.failures.releaseAll();
      },
    });
    this.deferredDeletes = new DeferredDeletes(options.clock);
    this.listFailures = new ListFailures({
      clock: options.clock,
      intervalMs: (options.resyncSeconds ?? DEFAULT_RESYNC_SECONDS) * 1000,
      onChange: (resource) => options.onListProblem?.(resource),
    });
    this.serviceTime = new ServiceTime(options.clock);
    this.createSettlement = this.#memory.createSettlement;
    this.deletionBurst = new DeletionBurst(options.clock);
    this.#options = options;
    this.#support = options.operations ?? new OperationSupport(options.clock);
  }

  /** Aborted when the account is no longer used. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /**
   * Call it when the process is about to end. From then on, requests that would have to wait for the budget fail with
   * Outdated.
   */
  shutDown(): void {
    this.#options.budget.shutDown();
  }

  collection(resource: Resource): Collection {
    const known = this.#collections.get(resource.name);
    if (known) return known;
    this.lossGuard.begin();
    const { client, clock, signal, onListDelta, onOwnChange } = this.#options;
    const made = new Collection({
      ...this.#calls,
      client,
      resource,
      clock,
      signal,
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
    const { epoch } = this.keyProof;
    const ids = await this.#options.key?.listedElsewhere?.(resource);
    if (ids) this.keyProof.recordSeenIDs(ids, epoch);
    else await this.collection(resource).proveKey({ lane: "retry", signal: this.#options.signal });
  }

  async #readOneToProve(source: Source, id: string): Promise<void> {
    const { client, signal } = this.#options;
    const request = { lane: "sync", signal } as const;
    if (hasList(source)) return this.collection(source).proveKeyBy(id, request);
    await proveKeyByModule(source, id, { ...this.#calls, client }, request);
  }

  /** Call it when another key comes into use, which may be of another account. */
  #invalidateAll(at: number): void {
    this.invalidateLists(at);
    for (const remotes of this.#remotes.values()) if (remotes instanceof Modules) remotes.invalidate(at);
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
    this.#collections.get(name)?.learn(id, after);
  }

  /** The options that all requests of this account share. */
  get #calls(): CallsOptions {
    const { turns, breaker, keyProof } = this;
    const { assertMaySend } = this.#options;
    return { turns, breaker, keyProof, assertMaySend, onWritten: () => this.#support.written() };
  }

  /**
   * Asks whether the service answers and accepts the key. Uses two routes in turn, or a route other than the one that
   * failed.
   */
  probe(lane: Lane, signal: AbortSignal, error?: { route: string }): Promise<void> {
    const first = error ? error.route !== ipPolicies.path : ++this.#probes % 2 === 1;
    return this.collection(first ? ipPolicies : reservedDomains).probe({ lane, signal });
  }

  /**
   * Records that a change was sent and that nobody waits for its answer any more. The service may still carry it out.
   */
  recordUnansweredChange(): void {
    this.#changesDoneAt = this.#options.clock.now() + maxProcessingMs(this.deadlineMs);
  }

  /**
   * Seconds until the service can no longer carry out any unanswered change; 0 when there is none. An earlier process
   * may have left such a change, so the time counts from the first use of the account.
   */
  get unansweredChangeSeconds(): number {
    if (this.#changesDoneAt === undefined) this.recordUnansweredChange();
    return Math.max(((this.#changesDoneAt ?? 0) - this.#options.clock.now()) / 1000, 0);
  }

  /** The remotes of a kind, whatever their location. */
  remotes(kind: Kind): Remotes {
    if (this.#changesDoneAt === undefined) this.recordUnansweredChange();
    const { location, resource } = kind;
    if (location.type === "collection") return this.collection(resource);
    const known = this.#remotes.get(resource.name);
    if (known) return known;
    const made = location.type === "entry" ? this.#entries(resource, location) : this.#modules(kind);
    this.#remotes.set(resource.name, made);
    return made;
  }

  #entries(remote: Resource, location: EntryLocation): Entries {
    const { client, onListDelta } = this.#options;
    return new Entries({
      ...this.#calls,
      client,
      location,
      parents: this.collection(location.parent.resource),
      ...(onListDelta && { onListDelta: (delta) => onListDelta(remote, delta) }),
    });
  }

  #modules({ modules }: Kind): Modules {
    const { client, clock, resyncSeconds = DEFAULT_RESYNC_SECONDS } = this.#options;
    return new Modules({
      ...this.#calls,
      client,
      modules,
      clock,
      onUnansweredChange: () => this.recordUnansweredChange(),
      // A little less than the interval, so that a reconcile that comes slightly early reads the modules again.
      maxAgeMs: resyncSeconds * 900,
    });
  }

  recordFutileCreate = (object: ManagedObject, intent: Intent): void => this.#memory.recordFutileCreate(object, intent);

  isCreateFutile = (object: ManagedObject, intent: Intent): boolean => this.#memory.isCreateFutile(object, intent);

  recordRefusedMark = (object: ManagedObject, id: string): void => this.#memory.recordRefusedMark(object, id);

  forgetRefusedMark = (object: ManagedObject): void => this.#memory.forgetRefusedMark(object);

  /**
   * Seconds until this owner mark may be sent for the object's remote of this resource; 0 if it was not refused. What the
   * status says of an earlier process counts as long as this one has not seen for itself what the service refuses.
   */
  secondsUntilMark(object: ManagedObject, resource: Operations, id: string, mark: string): number {
    const { status } = object;
    if (!this.retriesRefused && status?.id === id && status.refusedMark?.owner === mark)
      return Number.POSITIVE_INFINITY;
    const recalled = this.#support.wasRefused(nameOf(resource, "update")) ? undefined : mark;
    return this.#memory.secondsUntilMark(object, id, recalled);
  }

  recordUnansweredUpdate = (object: ManagedObject): void => this.#memory.recordUnansweredUpdate(object);

  hasUnansweredUpdate = (object: ManagedObject): boolean => this.#memory.hasUnansweredUpdate(object);

  forgetUnansweredUpdate = (object: ManagedObject): void => this.#memory.forgetUnansweredUpdate(object);

  recordToken = (id: string, token: string): void => this.#memory.recordToken(id, token);

  tokenDigestOf = (id: string): string | undefined => this.#memory.tokenDigestOf(id);

  leaveModules = (id: string, fields: readonly string[]): void => this.#memory.leaveModules(id, fields);

  isLeftModule = (id: string, field: string): boolean => this.#memory.isLeftModule(id, field);

  forgetLeftModules = (id: string, fields: readonly string[]): void => this.#memory.forgetLeftModules(id, fields);

  claim = (id: string, object: ManagedObject): void => this.#memory.claim(id, object);

  isClaimedByOther = (id: string, object: ManagedObject): boolean => this.#memory.isClaimedByOther(id, object);

  /** Call it when an object is about to be tried in this account. */
  beginTry = (uid: string): void => this.#memory.tryIn(this.failures, uid);

  recordFailure = (uid: string, failure: Failure): void => this.#memory.recordFailure(this.failures, uid, failure);

  /** Call it when the object is gone. */
  forget(uid: string): void {
    this.#memory.forget(uid);
    this.turns.forget(uid);
  }

  /**
   * Tries to prove a key again. Reads a missing remote of a suspected loss when it is due. If the remote is back, the
   * loss is no longer suspected.
   */
  async recheckMissing(signal: AbortSignal): Promise<void> {
    if (this.keyProof.isAttemptDue) await this.keyProof.ensure();
    for (const { resource, id } of this.lossGuard.takeDueRechecks()) {
      if (this.#options.hasObjectFor?.(id) === false) {
        this.lossGuard.clear(resource);
        continue;
      }
      const collection = this.collection(resource);
      const back = collection.cached(id) ?? (await collection.read(id, { lane: "sync", signal }));
      if (!back) continue;
      await collection.listed(this.#options.clock.now(), { lane: "sync" });
      // The read puts the remote into the cache before the next list, so the list delta would not report it.
      this.#options.onListDelta?.(resource, { changed: [id], absent: [] });
      this.lossGuard.clear(resource);
    }
  }

  /**
   * Whether an operation may be sent now: it is documented or may be tried, and the service has not just refused it.
   */
  supports(resource: Operations, verb: "update" | "delete"): boolean {
    return this.#exists(resource, verb) && this.#support.mayTry(nameOf(resource, verb));
  }

  /** What the answers of the service say about its support for an operation. */
  support(resource: Operations, verb: "update" | "delete"): Support {
    return this.#exists(resource, verb) ? this.#support.of(nameOf(resource, verb)) : "unsupported";
  }

  /** Seconds until an operation that was refused is tried again. */
  secondsUntilTry(resource: Operations, verb: "update" | "delete"): number {
    return this.#support.secondsUntilTry(nameOf(resource, verb));
  }

  /** Call it before an operation is sent that was refused before. Other objects wait for the answer. */
  operationTried(resource: Operations, verb: "update" | "delete"): void {
    this.#support.recordAttempt(nameOf(resource, verb));
  }

  operationAccepted(resource: Operations, verb: "update" | "delete"): void {
    this.#support.accepted(nameOf(resource, verb));
  }

  #exists({ verbs }: Operations, verb: "update" | "delete"): boolean {
    return verbs[verb] === "documented" || (verbs[verb] === "undocumented" && this.#options.undocumented);
  }

  /** Whether an update may try a member that the API page does not show in updates. */
  get triesUndocumented(): boolean {
    return this.#options.undocumented;
  }

  /** Whether requests that an earlier process has seen refused are sent again some time. */
  get retriesRefused(): boolean {
    return this.#options.neverRetriesRefused !== true;
  }

  /** The service answered as if it lacked the operation. */
  operationRefused(resource: Operations, verb: "update" | "delete"): void {
    this.#support.refused(nameOf(resource, verb));
  }
}

const nameOf = ({ name }: Operations, verb: "update" | "delete"): string => `${name}:${verb}`;
