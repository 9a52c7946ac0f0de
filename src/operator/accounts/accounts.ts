import { Account } from "../../account/account.ts";
import type { ListDelta } from "../../account/inventory.ts";
import { type Lane, RequestBudget } from "../../account/request-budget.ts";
import type { Config } from "../../config.ts";
import { type ExchangeEvent, GatewayClient } from "../../gateway/client.ts";
import { isUnauthorized } from "../../gateway/errors.ts";
import { parseBaseURL } from "../../gateway/http/base-url.ts";
import type { Resource } from "../../gateway/resource.ts";
import { intentOf } from "../../objects/intent.ts";
import { isDeleting, type ManagedObject, type Status } from "../../objects/object.ts";
import { Blocked, Waiting } from "../../objects/reconcile-error.ts";
import type { SecretValue } from "../../reconcile/cluster.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";
import { CachedApiKey } from "./cached-api-key.ts";

/** The account that serves all objects of its namespace that name none. */
export const DEFAULT_ACCOUNT = "default";

export interface AccountObject extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string; uid: string; generation: number };
  spec: { apiKeySecretRef: { name: string; key: string }; baseURL?: string };
  status?: Pick<Status, "conditions"> & { secretName?: string; [field: string]: unknown };
}

export interface AccountMetrics {
  onExchange: (event: ExchangeEvent) => void;
  onWait: (lane: Lane, seconds: number) => void;
}

export interface AccountsOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  metrics?: AccountMetrics;
  /** Objects of the kind GatewayAccount. */
  store: () => Store<AccountObject>;
  readSecret: (namespace: string, name: string) => Promise<SecretValue | undefined>;
  assertMaySend: () => void;
  onListDelta: (resource: Resource, delta: ListDelta) => void;
  /** Whether some object stands for the remote of this id. */
  hasObjectFor: (id: string) => boolean;
  /**
   * Requests to an account are stopped, because the service is away, refuses its key, or lacks many remotes; or they go
   * through again. `key`: `namespace/name` of the GatewayAccount, or "" for the operator's own credentials.
   */
  onAvailabilityChange: (key: string, available: boolean) => void;
}

interface AccountEntry {
  account: Account;
  client: GatewayClient;
  abort: AbortController;
  /** Undefined for the operator's own. */
  key?: CachedApiKey;
  /** What of the object makes it another account. */
  fingerprint: string;
}

/** The accounts that objects may belong to: the operator's own, and those of GatewayAccount objects. */
export class Accounts {
  readonly own: Account;
  readonly #options: AccountsOptions;
  readonly #ownEntry: AccountEntry;
  readonly #entries = new Map<string, AccountEntry>();

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#ownEntry = this.#create("", options.config.baseURL, options.config.apiKey);
    this.own = this.#ownEntry.account;
  }

  get all(): Account[] {
    return [this.#ownEntry, ...this.#entries.values()].map(({ account }) => account);
  }

  /**
   * The account of an object. What was made in one account stays with it: throws Blocked where the spec has come to
   * mean another, and Waiting where the account it names is not there.
   */
  accountOf(object: ManagedObject): Account {
    const { status, spec, metadata } = object;
    const [name, wanted] = [this.nameOf(object), this.#specifiedName(object)];
    if (name !== wanted && metadata.deletionTimestamp === undefined) {
      const recorded = name;
      const back =
        recorded === ""
          ? "remove accountRef and the GatewayAccount named default"
          : `set accountRef: {name: ${recorded}}`;
      throw new Blocked(
        "AccountMismatch",
        `To keep ${status?.id}, ${back}; or recreate this object: ${spec.accountRef ? "accountRef" : "its default"} is another account now`,
      );
    }
    const account = this.#gatewayAccount(metadata.namespace, name);
    if (account?.metadata.deletionTimestamp && isNew(object)) {
      throw new Waiting("AccountNotReady", `Name another account: GatewayAccount "${name}" is being deleted`);
    }
    return account ? this.ofGatewayAccount(account) : this.own;
  }

  /** `namespace/name` of its GatewayAccount; empty for the operator's own. */
  keyOf(account: Account): string {
    return [...this.#entries].find(([, known]) => known.account === account)?.[0] ?? "";
  }

  /** The name of the GatewayAccount of an object, that of its remote once it has one; empty for the operator's own. */
  nameOf(object: ManagedObject): string {
    return object.status?.id === undefined ? this.#specifiedName(object) : (object.status.account ?? "");
  }

  #specifiedName({ metadata, spec }: ManagedObject): string {
    if (spec.accountRef) return spec.accountRef.name;
    return this.#options.store().get(`${metadata.namespace}/${DEFAULT_ACCOUNT}`) ? DEFAULT_ACCOUNT : "";
  }

  /** The account of a GatewayAccount object, made at first use and anew when the object means another. */
  ofGatewayAccount(object: AccountObject): Account {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const baseURL = this.#allowedBaseURL(object.spec.baseURL);
    const fingerprint = JSON.stringify([object.metadata.uid, baseURL]);
    const known = this.#entries.get(key);
    if (known?.fingerprint === fingerprint) return known.account;
    this.remove(key);
    const cachedKey = new CachedApiKey(this.#options.clock, () => this.#readKey(key));
    const made = this.#create(key, baseURL, async () => {
      const { breaker, lossGuard } = made.account;
      if (isUnauthorized(breaker.problem) || lossGuard.problem) cachedKey.invalidate();
      return cachedKey.read();
    });
    this.#entries.set(key, { ...made, key: cachedKey, fingerprint });
    return made.account;
  }

  /** The GatewayAccount is no more. */
  remove(key: string): void {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    known?.abort.abort();
    void known?.client.close();
  }

  /** The object is no more. */
  forget(uid: string): void {
    for (const account of this.all) account.forget(uid);
  }

  /** Before the last work ends: what has to wait for its turn is left to the next process. */
  shutDown(): void {
    for (const account of this.all) account.shutDown();
  }

  async close(): Promise<void> {
    for (const { abort } of [this.#ownEntry, ...this.#entries.values()]) abort.abort();
    await Promise.all([this.#ownEntry, ...this.#entries.values()].map(({ client }) => client.close()));
  }

  /** Undefined for the operator's own. */
  #gatewayAccount(namespace: string, name: string): AccountObject | undefined {
    if (name === "") return undefined;
    const object = this.#options.store().get(`${namespace}/${name}`);
    if (object) return object;
    throw new Waiting("AccountNotReady", `Create GatewayAccount "${name}" in this namespace: spec.accountRef names it`);
  }

  /** A namespace must not send its requests, and the operator, wherever it likes. */
  #allowedBaseURL(baseURL: string | undefined): string {
    const { config } = this.#options;
    if (baseURL === undefined) return config.baseURL;
    const origin = originOf(baseURL);
    if (origin === parseBaseURL(config.baseURL).origin) return baseURL;
    const { host } = new URL(origin);
    if (config.allowedHosts.includes(host)) return baseURL;
    throw new Blocked(
      "InvalidSpec",
      `Ask for ${host} to be added to ALLOWED_GATEWAY_HOSTS: the operator does not allow it`,
    );
  }

  async #readKey(key: string): Promise<string> {
    const { store, readSecret } = this.#options;
    const object = store().get(key);
    if (!object) throw new Error("the GatewayAccount is gone");
    const { name, key: entry } = object.spec.apiKeySecretRef;
    const value = (await readSecret(object.metadata.namespace, name))?.data[entry];
    if (!value) throw Object.assign(new Error("no key"), { code: "SECRET_NOT_READY" });
    return value;
  }

  /** The next request reads the key anew. */
  invalidateKey(key: string): void {
    this.#entries.get(key)?.key?.invalidate();
  }

  #create(key: string, baseURL: string, apiKey: () => Promise<string>): AccountEntry {
    const { config, clock, log, metrics, assertMaySend, onListDelta, onAvailabilityChange, hasObjectFor } =
      this.#options;
    const abort = new AbortController();
    const client = new GatewayClient({
      baseURL,
      apiKey,
      timeoutMs: config.requestSeconds * 1000,
      userAgent: OPERATOR_NAME,
      ...(metrics && { onExchange: metrics.onExchange }),
    });
    const budget = new RequestBudget({
      perMinute: config.requestsPerMinute,
      clock,
      ...(metrics && { onWait: metrics.onWait }),
    });
    const account: Account = new Account({
      ...{ client, budget, clock, assertMaySend, onListDelta, hasObjectFor },
      deadlineMs: config.requestSeconds * 1000,
      undocumented: config.undocumentedOperations,
      deletesPerMinute: config.deletesPerMinute,
      resyncSeconds: config.resyncSeconds,
      signal: abort.signal,
      onOpened: () => {
        log.warn({ account: key, error: account.breaker.problem }, "Stopped requests to the service");
        onAvailabilityChange(key, false);
      },
      onRecovered: () => {
        log.info({ account: key }, "Resumed requests to the service");
        onAvailabilityChange(key, true);
      },
      onLossSuspected: () => {
        const { resource, missing, total } = account.lossGuard.problem ?? {};
        log.warn({ account: key, resource: resource?.name, missing, total }, "Suspected a mass loss of remotes");
        onAvailabilityChange(key, false);
      },
      onLossCleared: () => {
        log.info({ account: key }, "Mass loss of remotes is no longer suspected");
        onAvailabilityChange(key, true);
      },
    });
    return { account, client, abort, fingerprint: "" };
  }
}

/** Nothing was sent for it, so it may be made anywhere. */
const isNew = (object: ManagedObject): boolean =>
  object.status?.id === undefined && !isDeleting(object) && intentOf(object) === undefined;

/** A pattern cannot tell all texts that are no address, so the definition lets some through. */
function originOf(baseURL: string): string {
  try {
    return parseBaseURL(baseURL).origin;
  } catch (error) {
    throw new Blocked("InvalidSpec", `Correct spec.baseURL: ${(error as Error).message}`, { cause: error });
  }
}
