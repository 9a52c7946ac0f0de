import { Account } from "../../account/account.ts";
import type { ListDelta } from "../../account/inventory.ts";
import type { RecordedIDs } from "../../account/key-proof.ts";
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
import { DEFAULT_ACCOUNT, OPERATOR_NAME } from "../../schema/contract.ts";
import { CachedApiKey } from "./cached-api-key.ts";
import { mayAllBeDeleted } from "./recorded.ts";

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
  /** The GatewayAccounts. */
  store: () => Store<AccountObject>;
  readSecret: (namespace: string, name: string) => Promise<SecretValue | undefined>;
  assertMaySend: () => void;
  onListDelta: (resource: Resource, delta: ListDelta) => void;
  /**
   * Ids of all remotes of objects in the account with this key (see `onAvailabilityChange`), by resource. `staying`:
   * without those of objects that are being deleted.
   */
  recordedIn: (key: string, which?: { staying: boolean }) => RecordedIDs;
  /** Whether an object has the remote with this id. */
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
  /** A GatewayAccount with another fingerprint is another account. */
  fingerprint: string;
}

/** The accounts of objects: the operator's own credentials, and one for each GatewayAccount that was used. */
export class Accounts {
  readonly own: Account;
  readonly #options: AccountsOptions;
  readonly #ownEntry: AccountEntry;
  readonly #entries = new Map<string, AccountEntry>();
  /** Keys of accounts that this process has used, also those that are gone. */
  readonly #used = new Set<string>();

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#ownEntry = this.#create("", options.config.baseURL, options.config.apiKey);
    this.own = this.#ownEntry.account;
  }

  get all(): Account[] {
    return [this.#ownEntry, ...this.#entries.values()].map(({ account }) => account);
  }

  /**
   * The account of an object. A remote stays in the account in which it was created: throws Blocked if the spec names
   * another account by now. Throws Waiting if the GatewayAccount does not exist.
   */
  accountOf(object: ManagedObject): Account {
    const { status, spec, metadata } = object;
    const name = this.nameOf(object);
    const isSpecified = name === this.specifiedNameOf(object);
    if (status?.id !== undefined && !isSpecified && !isDeleting(object)) {
      const undo =
        name === "" ? "remove accountRef and the GatewayAccount named default" : `set accountRef: {name: ${name}}`;
      throw new Blocked(
        "AccountMismatch",
        `To keep ${status.id}, ${undo}; or recreate this object: ${spec.accountRef ? "accountRef" : "its default"} is another account now`,
      );
    }
    const account = this.#gatewayAccount(metadata.namespace, name, isSpecified);
    if (account?.metadata.deletionTimestamp && isNew(object)) {
      throw new Waiting("AccountNotReady", `Name another account: GatewayAccount "${name}" is being deleted`);
    }
    return account ? this.ofGatewayAccount(account) : this.own;
  }

  /** `namespace/name` of the GatewayAccount; "" for the operator's own credentials. */
  keyOf(account: Account): string {
    return [...this.#entries].find(([, known]) => known.account === account)?.[0] ?? "";
  }

  /**
   * The GatewayAccount of the object's remote; without one, that of a create whose outcome is not known; else the
   * specified one. "" for the operator's own.
   */
  nameOf(object: ManagedObject): string {
    const { status, metadata } = object;
    if (status?.id !== undefined) return status.account ?? "";
    const intent = intentOf(object);
    if (intent?.account === undefined) return this.specifiedNameOf(object);
    const account = intent.account ? this.#entries.get(`${metadata.namespace}/${intent.account}`)?.account : this.own;
    return account?.isCreateRefused(object, intent) ? this.specifiedNameOf(object) : intent.account;
  }

  /** The GatewayAccount that the spec asks for. "" for the operator's own. */
  specifiedNameOf({ metadata, spec }: ManagedObject): string {
    if (spec.accountRef) return spec.accountRef.name;
    return this.#options.store().get(`${metadata.namespace}/${DEFAULT_ACCOUNT}`) ? DEFAULT_ACCOUNT : "";
  }

  /** The account of a GatewayAccount, created at first use and again when its fingerprint changes. */
  ofGatewayAccount(object: AccountObject): Account {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const baseURL = this.#allowedBaseURL(object.spec.baseURL);
    const fingerprint = JSON.stringify([object.metadata.uid, baseURL]);
    const known = this.#entries.get(key);
    if (known?.fingerprint === fingerprint) return known.account;
    this.remove(key);
    const cachedKey = new CachedApiKey(this.#options.clock, () => this.#readKey(key));
    const made = this.#create(key, baseURL, async () => {
      const { breaker, lossGuard, keyProof } = made.account;
      if (isUnauthorized(breaker.problem) || lossGuard.problem || keyProof.problem) cachedKey.invalidate();
      return cachedKey.read();
    });
    this.#entries.set(key, { ...made, key: cachedKey, fingerprint });
    return made.account;
  }

  /** Call it when the GatewayAccount is gone. Aborts the requests under way. */
  remove(key: string): void {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    known?.abort.abort();
    void known?.client.close();
  }

  /** Call it when an object is gone. */
  forget(uid: string): void {
    for (const account of this.all) account.forget(uid);
  }

  /** The process is about to stop: requests that would have to wait for the budget fail from now on. */
  shutDown(): void {
    for (const account of this.all) account.shutDown();
  }

  async close(): Promise<void> {
    for (const { abort } of [this.#ownEntry, ...this.#entries.values()]) abort.abort();
    await Promise.all([this.#ownEntry, ...this.#entries.values()].map(({ client }) => client.close()));
  }

  /** Undefined for the operator's own. */
  #gatewayAccount(namespace: string, name: string, isSpecified: boolean): AccountObject | undefined {
    if (name === "") return undefined;
    const object = this.#options.store().get(`${namespace}/${name}`);
    if (object) return object;
    const why = isSpecified
      ? "spec.accountRef names it"
      : "its account has what this object stands for, or may have it";
    throw new Waiting("AccountNotReady", `Create GatewayAccount "${name}" in this namespace: ${why}`);
  }

  /** Editors of a namespace must not make the operator send requests to any host they like. */
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

  /** The next request reads the account's key from its Secret again. */
  invalidateKey(key: string): void {
    this.#entries.get(key)?.key?.invalidate();
  }

  #believesFirstKey(key: string): () => boolean {
    const { config, recordedIn } = this.#options;
    if (key === "" && config.accountConfirmed) return () => true;
    // A base URL that is edited while the process runs may lead to another account.
    if (this.#used.has(key)) return () => false;
    return () => mayAllBeDeleted((which) => recordedIn(key, which));
  }

  #create(key: string, baseURL: string, apiKey: () => Promise<string>): AccountEntry {
    const { config, clock, log, metrics, assertMaySend, onListDelta, onAvailabilityChange, hasObjectFor, recordedIn } =
      this.#options;
    const abort = new AbortController();
    const client = new GatewayClient({
      baseURL,
      apiKey: async () => {
        const value = await apiKey();
        account.keyProof.use(value);
        return value;
      },
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
      key: {
        recorded: () => recordedIn(key),
        believesFirstKey: this.#believesFirstKey(key),
        wayOut: key
          ? `set the annotation reconcile-requested-at on GatewayAccount "${key.split("/")[1]}"`
          : "start the operator with GATEWAY_ACCOUNT_CONFIRMED=true",
        onProblem: (exists) => {
          if (exists) log.warn({ account: key }, "Stopped changes: the account has nothing that is recorded");
          else log.info({ account: key }, "Resumed changes: the API key is proved");
          onAvailabilityChange(key, !exists);
        },
      },
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
    this.#used.add(key);
    return { account, client, abort, fingerprint: "" };
  }
}

/** No create was sent for the object yet, so any account can become its account. */
const isNew = (object: ManagedObject): boolean =>
  object.status?.id === undefined && !isDeleting(object) && intentOf(object) === undefined;

/** The pattern in the CRD accepts some texts that are no URL. */
function originOf(baseURL: string): string {
  try {
    return parseBaseURL(baseURL).origin;
  } catch (error) {
    throw new Blocked("InvalidSpec", `Correct spec.baseURL: ${(error as Error).message}`, { cause: error });
  }
}
