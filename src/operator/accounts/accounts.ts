import type { Account } from "../../account/account.ts";
import { type WaitOptions, waitFor } from "../../account/requests/turn.ts";
import { accountDeleted, accountMissing } from "../../objects/errors/account.ts";
import { intentOf } from "../../objects/intent.ts";
import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { AccountFigures } from "../kubernetes/account-figures.ts";
import { AccountChecks } from "./account-checks.ts";
import type { AccountObject } from "./account-objects.ts";
import { AllCredentials, type CredentialsOptions } from "./all-credentials.ts";
import { type Credentials, isOwn, labelOf } from "./credentials.ts";
import { figuresOf } from "./figures.ts";
import { ObjectAccounts } from "./object-accounts.ts";
import type { SharedAccounts } from "./shared-accounts.ts";

/** How many Secrets are read at the same time at the start. */
const FIRST_READS = 10;

/** The accounts of objects: the operator's own credentials, and those of the GatewayAccounts. */
export class Accounts {
  readonly ofObjects: ObjectAccounts;
  readonly checks: AccountChecks;
  readonly #options: CredentialsOptions;
  readonly #credentials: AllCredentials;
  readonly #shared: SharedAccounts;
  #firstReads: Promise<void> | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#credentials = new AllCredentials(options);
    this.#shared = this.#credentials.shared;
    this.ofObjects = new ObjectAccounts(options, this.#credentials);
    this.checks = new AccountChecks(this.#credentials);
  }

  /** The account of the operator's own credentials. Another one after their key has changed. */
  get own(): Account {
    return this.#credentials.own.shared.account;
  }

  get all(): Account[] {
    return this.#shared.all.map(({ account }) => account);
  }

  /** The most accounts that objects can have: the operator's own, and one for each GatewayAccount. */
  get most(): number {
    return 1 + this.#options.store().size;
  }

  /** The state of the accounts, for the Lease. Accounts with the most requests come first. */
  get figures(): AccountFigures {
    const { config, clock } = this.#options;
    return figuresOf(this.#shared.all, config.requestsPerMinute, clock);
  }

  /**
   * The account of an object. A remote stays in the account in which it was created, so this throws Blocked if the spec
   * has come to name another account. Throws Waiting if the GatewayAccount does not exist.
   */
  accountOf(object: ManagedObject): Account {
    const name = this.ofObjects.nameOf(object);
    this.ofObjects.assertStays(object, name);
    const account = this.#gatewayAccountOf(object, name);
    if (account?.metadata.deletionTimestamp && isNew(object)) throw accountDeleted({ name: account.metadata.name });
    const { shared, failure } = account ? this.#credentials.of(account) : this.#credentials.own;
    if (failure) throw failure;
    return shared.account;
  }

  /** Undefined for the operator's own. */
  #gatewayAccountOf(object: ManagedObject, name: string): AccountObject | undefined {
    if (name === "") return undefined;
    const found = this.#options.store().get(`${object.metadata.namespace}/${name}`);
    if (!found) throw accountMissing({ name, isSpecified: name === this.ofObjects.specifiedNameOf(object) });
    return found;
  }

  /**
   * Reads the keys of two accounts: the one that has the object's remote, and the one that its spec names. `accountOf`
   * then knows whether they are the same. Call it before each reconcile. A key is read at most every 30 seconds.
   * Rejects like a request to the account when a key cannot be read or used.
   */
  async settle(object: ManagedObject, wait: WaitOptions = {}): Promise<void> {
    this.#firstReads ??= this.#readAllKeys();
    await waitFor(this.#firstReads, wait);
    const names = new Set([this.ofObjects.recordedNameOf(object), this.ofObjects.specifiedNameOf(object)]);
    // A key that cannot be read is recorded as missing, which `accountOf` reports.
    if (names.size > 1) await this.readOwnKey().catch(() => undefined);
    for (const name of names) {
      const credentials = this.#credentials.find(object.metadata.namespace, name);
      if (credentials && !isOwn(credentials) && !isKeyAwaited(credentials))
        await this.#shared.settle(credentials, wait);
    }
  }

  /**
   * Call it when the GatewayAccounts of a namespace are known that was not read before ("": of all namespaces). Resolves
   * when their keys are known as well. An unreadable key counts as missing.
   */
  async readKeysIn(namespace: string): Promise<void> {
    if (!this.#firstReads) return;
    this.#firstReads = Promise.all([this.#firstReads, this.#readAllKeys(namespace || undefined)]).then(() => {});
    await this.#firstReads;
  }

  /** The account to which a GatewayAccount (`namespace/name`) leads. Rejects while that is not known. */
  async open(key: string, wait: WaitOptions): Promise<Account> {
    this.#firstReads ??= this.#readAllKeys();
    await waitFor(this.#firstReads, wait);
    const object = this.#options.store().get(key);
    if (!object) throw new Outdated("the GatewayAccount is gone");
    const credentials = this.#credentials.of(object);
    if (!isKeyAwaited(credentials)) await this.#shared.settle(credentials, wait);
    return credentials.shared.account;
  }

  /** Reads the operator's own key again. */
  readOwnKey(): Promise<string> {
    return this.#shared.readKey(this.#credentials.own);
  }

  /** "" for the account of the operator's own credentials, else `namespace/name` of its first GatewayAccount. */
  labelOf(account: Account): string {
    const shared = this.#shared.all.find((one) => one.account === account);
    return shared ? labelOf(shared) : "";
  }

  /**
   * Keys of the credentials whose API key has this digest or record, or is in this Secret of the namespace:
   * `namespace/name` of a GatewayAccount, "" for the operator's own. A key that cannot be read at the moment counts as
   * the one that was read last. Unknown means that it may be used: a key without digest and record, and credentials whose
   * key could not be read yet.
   */
  usersOfKey({
    digest,
    record,
    secret,
  }: {
    digest?: string | undefined;
    record?: string | undefined;
    secret?: { namespace: string; name: string } | undefined;
  }): string[] {
    const { store, keyRecords } = this.#options;
    const reading = store()
      .list(secret?.namespace)
      .filter(({ spec }) => secret !== undefined && spec.apiKeySecretRef.name === secret.name)
      .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
    const mayUse = (one: Credentials): boolean => {
      const { lastDigest, isKeyMissing, lastRead } = one;
      // Requests with the operator's own credentials are sent by nobody else, and with the key that was just read.
      if (isKeyMissing || (isOwn(one) && lastRead > 0 && lastDigest === undefined)) return false;
      if (lastDigest === undefined || (digest === undefined && record === undefined)) return true;
      return digest === undefined ? keyRecords.tokenRecordOf(lastDigest) === record : lastDigest === digest;
    };
    return [...new Set([...reading, ...this.#credentials.all.filter(mayUse).map(({ key }) => key)])];
  }

  /** Call it when the process is about to stop. Requests that would have to wait for the budget then fail. */
  shutDown(): void {
    for (const { turns } of this.all) turns.budget.shutDown();
  }

  async close(): Promise<void> {
    for (const { abort } of this.#shared.all) abort.abort();
    await Promise.all(this.#shared.all.map(({ client }) => client.close()));
  }

  /**
   * Until all keys are known, an object cannot see which other objects have its remote. A key that cannot be read
   * counts as missing.
   */
  async #readAllKeys(namespace?: string): Promise<void> {
    const { store } = this.#options;
    const found = store()
      .list(namespace)
      .flatMap(({ metadata: { namespace, name } }) => this.#credentials.find(namespace, name) ?? []);
    const unread = [this.#credentials.own, ...found].values();
    const readNext = async () => {
      for (const credentials of unread) await this.#shared.readKey(credentials).catch(() => undefined);
    };
    await Promise.all(Array.from({ length: FIRST_READS }, readNext));
  }
}

/** Whether a probe already looks for the missing key, so that reconciles of objects need not read it. */
const isKeyAwaited = ({ digest, shared: { account } }: Credentials): boolean =>
  digest === undefined && account.breaker.problem !== undefined && !account.breaker.isProbeDue;

/** Whether no create was sent for the object yet. It may then come to belong to any account. */
const isNew = (object: ManagedObject): boolean =>
  object.status?.id === undefined && !isDeleting(object) && intentOf(object) === undefined;
