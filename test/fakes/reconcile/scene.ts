import { Account } from "../../../src/account/account.ts";
import { digestOf, type RecordedIDs } from "../../../src/account/key-proof.ts";
import { ObjectMemory } from "../../../src/account/object-memory.ts";
import type { Operations } from "../../../src/account/operation-support.ts";
import { type Lane, RequestBudget } from "../../../src/account/requests/request-budget.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { evidenceOf, type Source } from "../../../src/objects/evidence.ts";
import { type Condition, conditionOf, type ManagedObject } from "../../../src/objects/object.ts";
import { Outdated } from "../../../src/objects/reconcile-error.ts";
import type { ReconcileContext } from "../../../src/reconcile/context.ts";
import { reconcile } from "../../../src/reconcile/reconcile.ts";
import type { Result } from "../../../src/runtime/controller/controller.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import { FakeCluster } from "./fake-cluster.ts";
import { FakeDNS } from "./fake-dns.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { type KeyOfAccount, keyedClient } from "./keyed-client.ts";

export const DEADLINE_MS = 30_000;
export const RESYNC_SECONDS = 300;

export interface SceneOptions {
  /** Another scene whose account and clock this one shares. */
  beside?: Scene;
  /** The id of the cluster in owner marks. Default: c1. */
  clusterID?: string;
  formerClusterIDs?: readonly string[];
  /** Whether a person has set the id of the cluster. Default true. */
  isClusterIDSet?: boolean;
  /** Default: no limit. */
  deletesPerMinute?: number;
  /** Default: no limit. */
  requestsPerMinute?: number;
  /** Whether operations that the API page does not document are tried. Default true. */
  undocumented?: boolean;
  /** Kinds in addition to those of the operator. */
  extraKinds?: readonly Kind[];
  /** Whether Secrets are watched. Default false. */
  secretsWatched?: boolean;
  /** The API key that is read for each request, and that has to be proved. Unset: a key that needs no proof. */
  keyNow?: () => KeyOfAccount;
}

/** One cluster, one account, and an operator that reconciles an object when a test says so. */
export class Scene {
  readonly clock: VirtualClock;
  readonly gateway: FakeGateway;
  readonly cluster: FakeCluster;
  readonly dns: FakeDNS;
  /** Name of the GatewayAccount of all objects; empty for the operator's own account. */
  accountName = "";
  /** The lane in which reconciles send their requests. */
  lane: Lane = "edit";
  /** The GatewayAccount that the specs of all objects name. Unset: `accountName`. */
  specifiedAccountName: string | undefined;
  readonly #options: SceneOptions;
  readonly #kinds: readonly Kind[];
  readonly #listed = new Set<string>();
  #memory: ObjectMemory;
  #account: Account;
  /** The digest of the key of `account`, once it was read. */
  #digest: string | undefined;
  /** Digests of former keys of this process that were proved. */
  readonly #proved = new Set<string>();
  #clusterIDs: readonly [string, ...string[]];

  constructor(options: SceneOptions = {}) {
    this.#options = options;
    this.#clusterIDs = [options.clusterID ?? "c1", ...(options.formerClusterIDs ?? [])];
    this.clock = options.beside?.clock ?? new VirtualClock();
    this.gateway = options.beside?.gateway ?? new FakeGateway(this.clock);
    this.#memory = new ObjectMemory({ clock: this.clock, deadlineMs: DEADLINE_MS });
    this.#kinds = [...kinds, ...(options.extraKinds ?? [])];
    this.cluster = new FakeCluster(this.#kinds, this.clock);
    this.dns = new FakeDNS(this.clock);
    this.#account = this.#start();
  }

  /** Starts a new process, which knows only the cluster and the account. */
  restart(): void {
    for (const { resource } of this.#kinds) this.#listed.add(resource.name);
    this.#account = this.#start();
  }

  /** A person gives the cluster another id, and declares the former one. */
  changeClusterID(id: string): void {
    this.#clusterIDs = [id, ...this.#clusterIDs];
    this.restart();
  }

  /** Whether objects of any namespace may adopt. */
  set mayAdopt(value: boolean) {
    this.cluster.accounts.mayAdopt = () => value;
  }

  get clusterID(): string {
    return this.#clusterIDs[0];
  }

  /** What the present process remembers of objects. */
  get memory(): ObjectMemory {
    return this.#memory;
  }

  get account(): Account {
    return this.#account;
  }

  /** Reconciles an object as it is now. */
  async reconcile(object: ManagedObject): Promise<Result> {
    await this.#listOnce(this.#kindOf(object));
    const { secretsWatched = false } = this.#options;
    return reconcile(this.contextFor(object), { resyncSeconds: RESYNC_SECONDS, secretsWatched });
  }

  contextFor(object: ManagedObject): ReconcileContext {
    const kind = this.#kindOf(object);
    const { name, namespace } = object.metadata;
    const account = this.#account;
    const accountNow = () => {
      if (this.#account !== account) throw new Outdated("the object has come to belong to another account");
      return account;
    };
    return {
      kind,
      object: this.cluster.now(object),
      owner: { cluster: this.clusterID, formerClusters: this.#clusterIDs.slice(1), namespace, name },
      isClusterIDSet: this.#options.isClusterIDSet ?? true,
      cluster: this.cluster,
      dns: this.dns,
      get account() {
        return accountNow();
      },
      memory: this.#memory,
      record: this.#memory.of(object),
      clock: this.clock,
      lane: this.lane,
      signal: new AbortController().signal,
      accountName: this.accountName,
      specifiedAccountName: this.specifiedAccountName ?? this.accountName,
      state: { next: {} },
      changes: [],
    };
  }

  /** Reconciles, and lets the requeue times pass, until the object is no longer due or the limit is reached. */
  async settle(object: ManagedObject, limit = 10): Promise<Result> {
    for (let count = 1; ; count += 1) {
      const result = await this.reconcile(object);
      if (Object.keys(result).length === 0 || count === limit) return result;
      const seconds = "requeueAfterSeconds" in result ? result.requeueAfterSeconds : 1;
      await this.clock.advance(seconds * 1000);
    }
  }

  /** Creates or edits an object, and reconciles it once. */
  async apply(...given: Parameters<FakeCluster["apply"]>): Promise<ManagedObject> {
    const object = this.cluster.apply(...given);
    await this.reconcile(object);
    return object;
  }

  /** Deletes an object, and reconciles it once. */
  async delete(object: ManagedObject): Promise<Result> {
    this.cluster.delete(object);
    return this.reconcile(object);
  }

  /** Deletes an object, and reconciles it as `settle` does. */
  async deleteAndSettle(object: ManagedObject): Promise<Result> {
    this.cluster.delete(object);
    return this.settle(object);
  }

  /** Creates an object and reconciles it until it is Ready. Its calls and writes are not counted. */
  async given(kind: Kind, name: string, spec: ManagedObject["spec"] = {}): Promise<ManagedObject> {
    const object = this.cluster.apply(kind, name, spec);
    await this.reconcile(object);
    if (this.condition(object, "Ready")?.status !== "True")
      throw new TypeError(`${name} is not ready: ${this.reason(object)}`);
    this.resetCounts();
    return this.cluster.now(object);
  }

  /** Forgets the calls, writes and events up to now. */
  resetCounts(): void {
    this.gateway.takeCalls();
    this.cluster.writes.length = 0;
    this.cluster.events.length = 0;
    this.cluster.secretReads.length = 0;
  }

  /** Lists the resource, as a resync does, without counting its calls. Then it reconciles these objects. */
  async resync({ resource }: Kind, ...objects: readonly ManagedObject[]): Promise<void> {
    await this.clock.advance(1);
    await this.#account.collection(resource).listed(this.clock.now(), { lane: "sync" });
    this.gateway.takeCalls();
    for (const object of objects) await this.reconcile(object);
  }

  idOf(object: ManagedObject): string {
    return this.cluster.now(object).status?.id ?? "";
  }

  condition(object: ManagedObject, type: string): Condition | undefined {
    return conditionOf(this.cluster.now(object).status, type);
  }

  /** `<reason>: <message>` of the condition Ready. */
  reason(object: ManagedObject): string {
    const ready = this.condition(object, "Ready");
    return `${ready?.reason}: ${ready?.message}`;
  }

  /** Makes this process certain that the service lacks an operation. */
  async confirmLack(resource: Operations, verb: "update" | "delete"): Promise<void> {
    this.#account.operations.refused(resource, verb);
    await this.clock.advance(5 * 60_000);
    this.#account.operations.written();
    await this.clock.advance(5 * 60_000);
    this.#account.operations.refused(resource, verb);
  }

  #kindOf(object: ManagedObject): Kind {
    const kind = this.#kinds.find((one) => one.kind === object.kind);
    if (!kind) throw new TypeError(`no kind ${object.kind}`);
    return kind;
  }

  /** The first process lists each resource once, uncounted. After `restart`, lists are counted. */
  async #listOnce({ location, resource }: Kind): Promise<void> {
    if (this.#listed.has(resource.name) || location.type !== "collection") return;
    this.#listed.add(resource.name);
    const { calls } = this.gateway;
    const count = calls.length;
    await this.#account.collection(resource).listed(0, { lane: "sync" });
    calls.splice(count);
    await this.clock.advance(1);
  }

  /** A person has exchanged the key, and the operator reads it. Each request does so as well. */
  readKey(): void {
    const { keyNow } = this.#options;
    if (keyNow) this.#use(digestOf(keyNow().key));
  }

  /** Another key is another account. */
  #use(digest: string): void {
    if (this.#digest !== undefined && this.#digest !== digest) {
      if (this.#recorded().size > 0) for (const one of this.#account.keyProof.proved) this.#proved.add(one);
      this.#account = this.#open();
    }
    this.#digest = digest;
    this.#account.keyProof.use(digest);
  }

  #start(): Account {
    this.#memory = new ObjectMemory({ clock: this.clock, deadlineMs: DEADLINE_MS });
    this.#digest = undefined;
    this.#proved.clear();
    return this.#open();
  }

  #open(): Account {
    const { clock, gateway } = this;
    const { keyNow } = this.#options;
    const key = {
      recorded: () => this.#recorded(),
      proved: this.#proved,
      onAlone: () => this.#proved.clear(),
    };
    const account: Account = new Account({
      client: keyNow ? keyedClient(keyNow, (read) => this.#use(digestOf(read))) : gateway.asClient(),
      ...(keyNow && { key }),
      budget: new RequestBudget({ perMinute: this.#options.requestsPerMinute ?? 0, clock }),
      clock,
      undocumented: this.#options.undocumented ?? true,
      deletesPerMinute: this.#options.deletesPerMinute ?? 0,
      signal: new AbortController().signal,
      assertMaySend: () => {
        if (this.#account !== account) throw new Outdated("the API key has changed");
      },
    });
    gateway.onDate.set(this, (date) => account.serviceTime.observe(date));
    return account;
  }

  #recorded(): RecordedIDs {
    const recorded = new Map<Source, Set<string>>();
    for (const kind of this.#kinds)
      for (const [source, id] of this.cluster.inAccount(kind).flatMap((object) => evidenceOf(kind, object)))
        recorded.set(source, (recorded.get(source) ?? new Set()).add(id));
    return recorded;
  }
}
