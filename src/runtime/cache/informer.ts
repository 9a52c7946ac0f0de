import type { Random } from "../backoff.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { KubeClient } from "../connection/client.ts";
import type { Logger } from "../log.ts";
import { type KubeObject, type ResourceType, resourceName } from "../object.ts";
import { Reflector, type Refusal } from "./reflector.ts";
import { type Change, type Indexer, Store } from "./store.ts";
import type { ReflectorTiming } from "./timing.ts";

export interface InformerOptions<T extends KubeObject> {
  client: KubeClient;
  type: ResourceType;
  /** Empty or missing: all namespaces. */
  namespaces?: readonly string[];
  labelSelector?: string;
  /** Leaves spec, status and data on the server. */
  metadataOnly?: boolean;
  /** Called with each object as it arrives: the store keeps its result, which must have the same identity. */
  transform?: (object: KubeObject) => T;
  indexers?: Readonly<Record<string, Indexer<T>>>;
  log: Logger;
  clock?: Clock;
  random?: Random;
  timing?: Partial<ReflectorTiming>;
}

export type Handler<T extends KubeObject> = (change: Change<T>) => void;

/** All namespaces, for one reflector. */
const EVERYWHERE = "";

interface Run {
  abort: AbortController;
  ended: Promise<unknown>;
}

/**
 * Keeps a store of one kind up to date, and calls the handlers with each change, synchronously and in order. An error
 * that a handler throws is logged, and the other handlers are called. A handler that is added later is first called
 * with all objects in the store.
 */
export class Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType;
  readonly store: Store<T>;
  /** Resolves when all handlers have been called with the initial list; rejects when the informer is stopped before. */
  readonly synced: Promise<void>;
  /**
   * Resolves like `synced`, or when the server has refused the list for some seconds, for want of a definition or a right.
   * The informer goes on asking, so `synced` may resolve later.
   */
  readonly settled: Promise<void>;

  readonly #options: InformerOptions<T>;
  readonly #log: Logger;
  readonly #handlers = new Set<Handler<T>>();
  readonly #onListed = new Set<(namespace: string) => void>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #settled = Promise.withResolvers<void>();
  readonly #scopes: ReadonlySet<string>;
  #reflectors = new Map<string, Reflector>();
  /** Namespaces that were never listed. */
  #missing: Set<string>;
  /** Namespaces that are still to be listed, and whose lists are not refused. */
  #unsettled: Set<string>;
  #run: Run | undefined;

  constructor(options: InformerOptions<T>) {
    this.type = options.type;
    this.#options = options;
    this.#log = options.log.child({ logger: "informer", resource: resourceName(options.type) });
    this.#scopes = new Set(this.namespaces);
    this.#missing = new Set(this.namespaces);
    this.#unsettled = new Set(this.namespaces);
    this.synced = this.#synced.promise;
    this.synced.catch(() => {});
    this.settled = Promise.race([this.synced, this.#settled.promise]);
    this.settled.catch(() => {});
    this.store = new Store<T>({
      ...(options.indexers && { indexers: options.indexers }),
      onChange: (change) => this.#dispatch(change),
      onError: (error) => this.#log.error({ error }, "Indexer failed"),
    });
  }

  /** The namespaces that it watches. One that is empty stands for all. */
  get namespaces(): readonly string[] {
    return this.#options.namespaces?.length ? this.#options.namespaces : [EVERYWHERE];
  }

  watches(namespace: string): boolean {
    return this.#scopeOf(namespace) !== undefined;
  }

  get hasSynced(): boolean {
    return this.#missing.size === 0;
  }

  /** Whether the store has had all objects of this namespace once. False for a namespace that it does not watch. */
  hasSyncedIn(namespace: string): boolean {
    const scope = this.#scopeOf(namespace);
    return scope !== undefined && !this.#missing.has(scope);
  }

  /** Why there is no complete list of this namespace yet, if the server refuses it at the moment. */
  refusalIn(namespace: string): Refusal | undefined {
    return this.hasSyncedIn(namespace) ? undefined : this.#reflectorOf(namespace)?.refusal;
  }

  /** Why the store may be out of date with this namespace at the moment. */
  problemIn(namespace: string): string | undefined {
    return this.#reflectorOf(namespace)?.problem;
  }

  /** Whether list and watch of this namespace are in order at the moment. */
  isConnectedIn(namespace: string): boolean {
    return this.hasSyncedIn(namespace) && this.#reflectorOf(namespace)?.isConnected === true;
  }

  /** Whether the store has not been up to date with this namespace for long. */
  isDeadIn(namespace: string): boolean {
    return this.#reflectorOf(namespace)?.isDead === true;
  }

  /** Why the informer is not synced yet, or what has kept its store from being up to date for long. */
  get reason(): string | undefined {
    if (!this.hasSynced) return this.problem ?? `${resourceName(this.type)}: not listed yet`;
    const dead = this.#all.find(({ isDead }) => isDead);
    return dead && (dead.problem ?? `${resourceName(this.type)}: not up to date`);
  }

  /** Why there is no complete list yet, if the server refuses it at the moment. */
  get refusal(): Refusal | undefined {
    return this.hasSynced ? undefined : this.#all.find(({ refusal }) => refusal)?.refusal;
  }

  /** Whether all lists and watches are in order at the moment. */
  get isConnected(): boolean {
    return this.hasSynced && this.#all.every(({ isConnected }) => isConnected);
  }

  /** Why the store may be out of date at the moment, before or after the first sync. */
  get problem(): string | undefined {
    return this.#all.find(({ problem }) => problem)?.problem;
  }

  addHandler(handler: Handler<T>): void {
    for (const object of this.store.list()) this.#call(handler, { type: "added", object, initial: true });
    this.#handlers.add(handler);
  }

  /** `onListed` is called with each namespace when the store has its first complete list. */
  addListHandler(onListed: (namespace: string) => void): void {
    this.#onListed.add(onListed);
  }

  start(): void {
    if (this.#run) return;
    const abort = new AbortController();
    this.#reflectors = new Map(this.namespaces.map((namespace) => [namespace, this.#reflect(namespace)]));
    this.#run = { abort, ended: Promise.all(this.#all.map((reflector) => reflector.run(abort.signal))) };
  }

  /** Resolves when no connection and no timer is left and no handler will be called. The store keeps its objects. */
  async stop(): Promise<void> {
    this.#run?.abort.abort();
    await this.#run?.ended;
    this.#run = undefined;
    this.#synced.reject(new Error(`${resourceName(this.type)}: stopped before it was listed`));
  }

  get #all(): Reflector[] {
    return [...this.#reflectors.values()];
  }

  #scopeOf(namespace: string): string | undefined {
    return [EVERYWHERE, namespace].find((scope) => this.#scopes.has(scope));
  }

  #reflectorOf(namespace: string): Reflector | undefined {
    return this.#reflectors.get(this.#scopeOf(namespace) ?? namespace);
  }

  #reflect(namespace: string): Reflector {
    const { client, type, labelSelector, metadataOnly, transform, timing } = this.#options;
    return new Reflector({
      client,
      type,
      namespace: namespace || undefined,
      labelSelector,
      metadataOnly,
      transform,
      timing,
      feed: this.store.feed(namespace),
      clock: this.#options.clock ?? systemClock,
      random: this.#options.random ?? Math.random,
      log: namespace ? this.#log.child({ namespace }) : this.#log,
      onListed: () => this.#listed(namespace),
      onRefused: () => this.#settle(namespace),
    });
  }

  #settle(namespace: string): void {
    if (this.#unsettled.delete(namespace) && this.#unsettled.size === 0) this.#settled.resolve();
  }

  #listed(namespace: string): void {
    this.#settle(namespace);
    if (!this.#missing.delete(namespace)) return;
    for (const onListed of this.#onListed) onListed(namespace);
    if (!this.hasSynced) return;
    this.#log.info({ objects: this.store.size }, "Synced");
    this.#synced.resolve();
  }

  #dispatch(change: Change<T>): void {
    for (const handler of this.#handlers) this.#call(handler, change);
  }

  #call(handler: Handler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#log.error({ error, type: change.type }, "Handler failed");
    }
  }
}
