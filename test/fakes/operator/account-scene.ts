import { createSecretKey } from "node:crypto";
import { onTestFinished } from "vitest";
import type { RecordedIDs } from "../../../src/account/key-proof.ts";
import { ObjectMemory } from "../../../src/account/object-memory.ts";
import { type Config, readConfig } from "../../../src/config.ts";
import { ipPolicies, routeOidc } from "../../../src/gateway/resources/index.ts";
import { GatewayAccount } from "../../../src/kinds/gateway-account.ts";
import type { Source } from "../../../src/objects/evidence.ts";
import { type Condition, conditionOf } from "../../../src/objects/object.ts";
import {
  type LoneCertificate,
  protectAccount,
  reconcileAccount,
} from "../../../src/operator/accounts/account-controller.ts";
import { type AccountObject, AccountObjects } from "../../../src/operator/accounts/account-objects.ts";
import { Accounts } from "../../../src/operator/accounts/accounts.ts";
import { KeyRecords } from "../../../src/operator/accounts/key-records.ts";
import type { SecretValue } from "../../../src/reconcile/cluster.ts";
import { Store } from "../../../src/runtime/cache/store.ts";
import { KubeClient } from "../../../src/runtime/connection/client.ts";
import { Transport } from "../../../src/runtime/connection/transport.ts";
import type { Result } from "../../../src/runtime/controller/controller.ts";
import type { KubeObject } from "../../../src/runtime/object.ts";
import { annotations, STATE_SECRET } from "../../../src/schema/contract.ts";
import { json, type Seen, serve } from "../../support/gateway-service.ts";
import { FakeApiServer } from "../runtime/fake-api-server.ts";
import { recordingLogger } from "../runtime/logs.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";

const ACCOUNTS = "tunnelgateway.dev/v1/gatewayaccounts";
const SECRETS = "v1/secrets";

export const OWN_KEY = "own-key";

export interface SceneOptions {
  env?: Record<string, string>;
  secretsWatched?: boolean;
}

/** Accounts and their controller between a service and a fake API server. Tests say when to reconcile. */
export class AccountScene {
  readonly clock = new VirtualClock();
  readonly log = recordingLogger();
  readonly store = new Store<AccountObject>();
  readonly server: FakeApiServer;
  readonly serviceURL: string;
  /** The requests that the service received. */
  readonly seen: Seen[];
  /** The operator's own key. */
  ownKey = OWN_KEY;
  /** Keys that the service accepts. */
  readonly accepted = new Set([OWN_KEY]);
  /** Keys that the service accepts, but answers with 403. */
  readonly forbidden = new Set<string>();
  /** Whether the service answers every request with 503. */
  broken = false;
  /** Headers of all refusals. */
  refusalHeaders: Record<string, string> = {};
  /** The fault of a request to the API server. */
  failing: (request: Passing) => { status: number } | undefined = () => undefined;
  /** Whether a write was refused after `killAfter`. */
  wasKilled = false;
  /** How many objects need an account, by its `namespace/name`. */
  readonly dependents = new Map<string, number>();
  /** What a person does so that all objects can be read. Undefined: they can be. */
  unread: string | undefined;
  /** Whether this installation writes to the GatewayAccounts. */
  isOurs = true;
  unreadableKinds: readonly string[] = [];
  loneCertificate: LoneCertificate = "none";
  /** `namespace/name` of each Secret whose value was read. */
  readonly secretReads: string[] = [];
  /** Ids that objects have in each account. */
  recorded: RecordedIDs = new Map();
  /**
   * Ids of IP policies that objects have by a GatewayAccount, by its name, or of routes with an OIDC module (`edge/route`).
   * Those of others are in `recorded`.
   */
  readonly recordedBy = new Map<string, readonly string[]>();
  /** Ids of the IP policies, and of the routes with an OIDC module, that the service shows, by key. */
  readonly shown = new Map<string, readonly string[]>();
  /** Names of the GatewayAccounts whose keys have changed; "" for the operator's own. */
  readonly changedKeys: string[] = [];
  /** Names of the GatewayAccounts that were told that requests are stopped, or go through again. */
  readonly availabilityChanges: [names: string[], available: boolean][] = [];
  /** Awaited before the value of a Secret is returned. */
  beforeSecret: () => Promise<void> | void = () => {};
  /** Awaited before the service answers a list. */
  beforeList: () => Promise<void> | void = () => {};
  readonly #config: Config;
  readonly #objects: AccountObjects;
  readonly #client: KubeClient;
  /** With which records of keys are made. */
  #secret = createSecretKey(Buffer.alloc(32, 1));
  #accounts: Accounts;
  /** Of the present process. */
  keyRecords!: KeyRecords;
  memory!: ObjectMemory;
  readonly #secretsWatched: boolean;

  private constructor(server: FakeApiServer, transport: Transport, service: Service, options: SceneOptions) {
    this.server = server;
    this.serviceURL = service.url;
    this.seen = service.seen;
    service.statusFor = (key) => this.#statusFor(key);
    service.refusalHeaders = () => this.refusalHeaders;
    service.beforeList = () => this.beforeList();
    service.idsFor = (key) => this.shown.get(key) ?? [];
    const client = new KubeClient(this.#withFaults(transport), { fieldManager: "test" });
    this.#secretsWatched = options.secretsWatched ?? false;
    const env = { GATEWAY_BASE_URL: service.url, GATEWAY_API_KEY: OWN_KEY, REQUESTS_PER_MINUTE: "0", ...options.env };
    this.#config = { ...readConfig(env), apiKey: async () => this.ownKey };
    const rights = { during: <T>(_: string, write: () => Promise<T>) => write(), settle: async () => {} };
    this.#objects = new AccountObjects({ client, recorder: { emit: () => {} } }, this.store, rights, () => this.isOurs);
    this.#watchAccounts();
    const metadata = { name: STATE_SECRET, namespace: "operator" };
    server.storage.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata });
    this.#client = client;
    this.#accounts = this.#start();
  }

  get accounts(): Accounts {
    return this.#accounts;
  }

  /** A new process, which knows only what is in the cluster and the account. */
  async restart(): Promise<void> {
    await this.accounts.close();
    this.#accounts = this.#start();
  }

  /** Closed when the test ends. */
  static async begin(options: SceneOptions = {}): Promise<AccountScene> {
    const [server, service] = [await FakeApiServer.start(), await startService()];
    const transport = new Transport(server.connection);
    const scene = new AccountScene(server, transport, service, options);
    onTestFinished(async () => {
      await scene.accounts.close();
      await transport.close();
      await server[Symbol.asyncDispose]();
    });
    return scene;
  }

  /** The Secret with the key of intents was lost, and a new one was made. */
  signWithAnotherSecret(): void {
    this.#secret = createSecretKey(Buffer.alloc(32, 2));
  }

  /** A user applies a GatewayAccount. */
  account(name: string, spec: Partial<AccountObject["spec"]> = {}): AccountObject {
    const object = {
      apiVersion: "tunnelgateway.dev/v1",
      kind: GatewayAccount.kind,
      metadata: { name, namespace: "n" },
      spec: { apiKeySecretRef: { name, key: "key" }, ...spec },
    };
    return this.#apply(ACCOUNTS, object) as AccountObject;
  }

  /** A user asks for a reconcile of a GatewayAccount. */
  annotate(name: string, asked: string): void {
    this.server.storage.update(ACCOUNTS, `n/${name}`, (now) => ({
      ...now,
      metadata: { ...now.metadata, annotations: { [annotations.reconcileRequestedAt]: asked } },
    }));
  }

  secret(name: string, data: Record<string, string>): void {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    const metadata = { name, namespace: "n" };
    this.#apply(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(encoded) });
  }

  /** A user deletes a GatewayAccount. It stays while it has finalizers. */
  deleteAccount(name: string): void {
    this.server.storage.delete(ACCOUNTS, `n/${name}`);
  }

  reconcile(name: string): Promise<Result> {
    const { clock, log } = this;
    const { resyncSeconds } = this.#config;
    const options = {
      checks: this.accounts.checks,
      clock,
      resyncSeconds,
      allowed: this.#config,
      ...this.#protection(),
      secretsWatched: this.#secretsWatched,
      readSecret: this.#readSecret,
      loneCertificate: () => this.loneCertificate,
    };
    const signal = new AbortController().signal;
    const request = { key: `n/${name}`, namespace: "n", name, attempt: 0, priority: 0, signal, log, reconcileID: "r" };
    return reconcileAccount(options, request);
  }

  #protection() {
    return {
      objects: this.#objects,
      store: this.store,
      countDependents: (key: string) => this.dependents.get(key) ?? 0,
      unreadableKinds: () => this.unreadableKinds,
    };
  }

  latest(name: string): AccountObject | undefined {
    return this.server.storage.get(ACCOUNTS, `n/${name}`) as AccountObject | undefined;
  }

  condition(name: string, type: string): Condition | undefined {
    return conditionOf(this.latest(name)?.status, type);
  }

  /** Each condition with its status and reason. */
  summary(name: string): string[] {
    return (this.latest(name)?.status?.conditions ?? []).map(
      ({ type, status, reason }) => `${type} ${status} ${reason}`,
    );
  }

  finalizersOfSecret(name: string): readonly string[] | undefined {
    const found = this.server.storage.get(SECRETS, `n/${name}`);
    return found && (found.metadata.finalizers ?? []);
  }

  /** Writes of the operator to the API server. */
  get writes(): string[] {
    const written = this.server.received.filter(({ method }) => method !== "GET");
    return written.map(({ method, path }) => `${method} ${path}`);
  }

  /** The keys of all requests to the service, in order. */
  get keysSent(): string[] {
    return this.seen.map(({ headers }) => headers.authorization?.replace("Bearer ", "") ?? "");
  }

  #recordedIn(key: string): RecordedIDs {
    const ids = this.recordedBy.get(nameOf(key));
    if (!ids) return this.recorded;
    const sources = Map.groupBy(ids, (id): Source => (id.includes("/") ? routeOidc : ipPolicies));
    return new Map([...sources].map(([source, some]) => [source, new Set(some)]));
  }

  readonly #readSecret = async (namespace: string, name: string): Promise<SecretValue | undefined> => {
    this.secretReads.push(`${namespace}/${name}`);
    const found = this.server.storage.get(SECRETS, `${namespace}/${name}`) as SecretObject | undefined;
    await this.beforeSecret();
    if (!found) return undefined;
    const data = Object.entries(found.data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
    const { resourceVersion = "" } = found.metadata;
    return { resourceVersion, data: Object.fromEntries(data), annotations: {}, owners: [] };
  };

  /** Refuses writes to the API server after this many more, as if the process was killed. */
  killAfter(writes: number): void {
    let left = writes;
    this.wasKilled = false;
    this.failing = ({ method }) => {
      if (method === "GET" || left-- > 0) return undefined;
      this.wasKilled = true;
      return { status: 500 };
    };
  }

  #start(): Accounts {
    this.memory = new ObjectMemory({ clock: this.clock, deadlineMs: 30_000 });
    this.keyRecords = new KeyRecords({
      client: this.#client,
      namespace: "operator",
      installation: "default",
      store: () => this.store,
      secret: () => this.#secret,
      objects: this.#objects,
      protect: (object) => protectAccount(this.#protection(), object),
    });
    return new Accounts({
      config: this.#config,
      clock: this.clock,
      log: this.log,
      readSecret: this.#readSecret,
      store: () => this.store,
      keyRecords: this.keyRecords,
      memory: this.memory,
      assertMaySend: () => {},
      onListDelta: () => {},
      onListProblem: () => {},
      onReleased: () => {},
      onAvailabilityChange: (keys, available) => this.availabilityChanges.push([keys.map(nameOf), available]),
      recordedIn: (key) => this.#recordedIn(key),
      unreadIn: () => this.unread,
      onKeyChange: (key) => this.changedKeys.push(nameOf(key)),
      hasObjectFor: () => true,
    });
  }

  #statusFor(key: string): number {
    if (this.broken) return 503;
    if (this.forbidden.has(key)) return 403;
    return this.accepted.has(key) ? 200 : 401;
  }

  #withFaults(transport: Transport): Transport {
    const request: Transport["request"] = async (exchange) => {
      const fault = this.failing(exchange);
      if (!fault) return transport.request(exchange);
      return { ...fault, body: JSON.stringify({ message: "fault" }), retryAfter: undefined };
    };
    return Object.assign(Object.create(transport), { request });
  }

  #apply(collection: string, object: KubeObject): KubeObject {
    const { storage } = this.server;
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    if (!storage.get(collection, key)) return storage.create(collection, object);
    return storage.update(collection, key, (now) => ({ ...now, ...object, metadata: now.metadata }));
  }

  /** A watch without delay. */
  #watchAccounts(): void {
    const feed = this.store.feed();
    this.server.storage.onWrite(({ collection, type, object }) => {
      if (collection !== ACCOUNTS) return;
      if (type === "DELETED") feed.remove(object);
      else feed.upsert(object);
    });
  }
}

const nameOf = (key: string): string => key.replace("n/", "");

type SecretObject = KubeObject & { data: Record<string, string> };

type Passing = Parameters<Transport["request"]>[0];

interface Service {
  url: string;
  seen: Seen[];
  /** The status code of the answer to a request with this key. */
  statusFor: (key: string) => number;
  refusalHeaders: () => Record<string, string>;
  idsFor: (key: string) => readonly string[];
  beforeList: () => Promise<void> | void;
}

/** Whether this is the path of a module of a route that is not among these. */
function lacksModule(path: string, shown: readonly string[]): boolean {
  const [, ...route] = /^\/edges\/https\/([^/]+)\/routes\/([^/]+)\/oidc$/.exec(path) ?? [];
  return route.length > 0 && !shown.includes(route.join("/"));
}

async function startService(): Promise<Service> {
  const service: Service = {
    url: "",
    seen: [],
    statusFor: () => 500,
    idsFor: () => [],
    beforeList: () => {},
    refusalHeaders: () => ({}),
  };
  const { url, seen } = await serve(async (response, { headers, method, url: path, body }) => {
    const key = headers.authorization?.replace("Bearer ", "") ?? "";
    const status = service.statusFor(key);
    const rows = service.idsFor(key).map((id) => ({ id, uri: `/ip_policies/${id}` }));
    if (method === "GET") await service.beforeList();
    if (method === "PATCH") json(response, 200, { id: path.split("/").at(-1), ...JSON.parse(body) });
    else if (status === 200 && lacksModule(path, service.idsFor(key)))
      json(response, 404, { status_code: 404, msg: "not found" });
    else if (status === 200)
      // a list, and a module: nobody asks for anything else
      json(response, 200, { ip_policies: rows, uri: "/ip_policies", next_page_uri: null, enabled: true });
    else
      json(response, status, { error_code: "refused", status_code: status, msg: "refused" }, service.refusalHeaders());
  });
  return Object.assign(service, { url, seen });
}
