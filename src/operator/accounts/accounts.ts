import type { Account } from "../../account/account.ts";
import { type WaitOptions, waitFor } from "../../account/requests/turn.ts";
import { isUnauthorized } from "../../gateway/errors.ts";
import { accountDeleted, accountLeft, accountMissing, accountUncertain } from "../../objects/errors/account.ts";
import { intentOf } from "../../objects/intent.ts";
import { isDeleting, isOrphan, type ManagedObject, reconcileRequestedAt } from "../../objects/object.ts";
import { Outdated, Postponed } from "../../objects/reconcile-error.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import type { AccountFigures } from "../kubernetes/account-figures.ts";
import { type AccountObject, AllCredentials, type CredentialsOptions } from "./all-credentials.ts";
import { type Credentials, isOwn, labelOf } from "./credentials.ts";
import { figuresOf } from "./figures.ts";
import { type Relation, relationOf } from "./relation.ts";
import type { SharedAccounts } from "./shared-accounts.ts";

/** How many Secrets are read at the same time at the start. */
const FIRST_READS = 10;

/** The accounts of objects: the operator's own credentials, and those of the GatewayAccounts. */
export class Accounts {
  readonly #options: CredentialsOptions;
  readonly #credentials: AllCredentials;
  readonly #shared: SharedAccounts;
  readonly #probes = new Map<Account, Promise<void>>();
  /** By GatewayAccount: the probe whose answer its postponed reconcile waits for. */
  readonly #awaited = new Map<string, { probing: Promise<void>; account: Account }>();
  #firstReads: Promise<void> | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#credentials = new AllCredentials(options);
    this.#shared = this.#credentials.shared;
  }

  /** The account of the operator's own credentials. Another one after their key has changed. */
  get own(): Account {
    return this.#credentials.own.shared.account;
  }

  get all(): Account[] {
    return this.#shared.all.map(({ account }) => account);
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
    const { status, metadata } = object;
    const name = this.nameOf(object);
    const specified = this.specifiedNameOf(object);
    if (status?.id !== undefined && name !== specified && !isDeleting(object))
      refuseUnless(this.#relation(metadata.namespace, name, specified), { object, name, specified });
    const account = this.#gatewayAccount(metadata.namespace, name, name === specified);
    if (account?.metadata.deletionTimestamp && isNew(object)) throw accountDeleted({ name });
    const { shared, failure } = account ? this.#credentials.of(account) : this.#credentials.own;
    if (failure) throw failure;
    return shared.account;
  }

  /**
   * Reads the keys of two accounts: the one that has the object's remote, and the one that its spec names. `accountOf`
   * then knows whether they are the same. Call it before each reconcile. A key is read at most every 30 seconds.
   * Rejects like a request to the account when a key cannot be read or used.
   */
  async settle(object: ManagedObject, wait: WaitOptions = {}): Promise<void> {
    this.#firstReads ??= this.#readAllKeys();
    await waitFor(this.#firstReads, wait);
    const names = new Set([this.recordedNameOf(object), this.specifiedNameOf(object)]);
    // A key that cannot be read is recorded as missing, which `accountOf` reports.
    if (names.size > 1) await this.readOwnKey().catch(() => undefined);
    for (const name of names) {
      const credentials = this.#credentials.find(object.metadata.namespace, name);
      if (credentials && !isOwn(credentials) && !isKeyAwaited(credentials)) await this.#settle(credentials, wait);
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
    if (!isKeyAwaited(credentials)) await this.#settle(credentials, wait);
    return credentials.shared.account;
  }

  /** When the pause ends that the service has asked for. Undefined: there is none, or nothing is known of the account. */
  pauseEndOf({ metadata: { namespace = "", name } }: AccountObject): Date | undefined {
    return this.#credentials.find(namespace, name)?.shared.account.turns.budget.pauseEnd;
  }

  /**
   * A reconcile that would have to wait for long fails at once with the last failure of this account, if there is one.
   */
  async #settle(credentials: Credentials, wait: WaitOptions): Promise<void> {
    try {
      await waitFor(this.#shared.settle(credentials), wait);
    } catch (error) {
      throw error instanceof Postponed ? (credentials.failure ?? error) : error;
    }
  }

  /**
   * Objects with the same result belong to one account, as far as is known. The queue shares its workers fairly between
   * accounts.
   */
  flowOf(object: ManagedObject): unknown {
    const { namespace } = object.metadata;
    const name = this.recordedNameOf(object);
    return this.#credentials.known(namespace, name)?.shared ?? `${namespace}/${name}`;
  }

  /**
   * Reads the key of a GatewayAccount anew, and finds its account. `isAsked`: a person has edited or annotated the
   * GatewayAccount since `answered` was called.
   */
  async check(object: AccountObject, wait: WaitOptions = {}): Promise<{ account: Account; isAsked: boolean }> {
    const credentials = this.#credentials.of(object);
    const version = versionOf(object);
    const isAsked = credentials.checked !== undefined && credentials.checked !== version;
    credentials.checked ??= version;
    credentials.apiKey.invalidate();
    if (isAsked) this.#shared.probeSoon(credentials);
    await this.#settle(credentials, wait);
    return { account: credentials.shared.account, isAsked };
  }

  /** Call it when a check has shown whether the key of this GatewayAccount works. */
  answered(object: AccountObject): void {
    const credentials = this.#knownOf(object);
    if (credentials) credentials.checked = credentials.answered = versionOf(object);
  }

  /** Whether `answered` was called since a person has edited or annotated this GatewayAccount. */
  isAnswered = (object: AccountObject): boolean => this.#knownOf(object)?.answered === versionOf(object);

  #knownOf = ({ metadata: { namespace, name } }: AccountObject): Credentials | undefined =>
    this.#credentials.known(namespace, name);

  /** Throws Blocked when the operator does not allow the base URL. */
  assertAllowed(object: AccountObject): void {
    this.#credentials.of(object);
  }

  /** Whether other credentials lead to the account as well. */
  isShared = (account: Account): boolean =>
    this.#shared.all.some((one) => one.account === account && one.credentials.size > 1);

  /**
   * Resolves or rejects like the probe of a GatewayAccount. Callers at the same time share a probe. Throws Postponed
   * when it takes long; the next reconcile gets the answer to the same probe.
   */
  async probe(key: string, account: Account, send: () => Promise<void>, wait: WaitOptions): Promise<void> {
    const awaited = this.#awaited.get(key);
    this.#awaited.delete(key);
    const probing = awaited?.account === account ? awaited.probing : this.#shareProbe(account, send);
    try {
      await waitFor(probing, wait);
    } catch (error) {
      if (error instanceof Postponed) this.#awaited.set(key, { probing, account });
      throw error;
    }
  }

  #shareProbe(account: Account, send: () => Promise<void>): Promise<void> {
    const probing = this.#probes.get(account) ?? send().finally(() => this.#probes.delete(account));
    this.#probes.set(account, probing);
    return probing;
  }

  /** Reads the operator's own key again. */
  readOwnKey = (): Promise<string> => this.#shared.readKey(this.#credentials.own);

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

  /**
   * Whether a person has set the orphan annotation on the GatewayAccount of the object's remote, while its key is
   * missing or refused.
   */
  isAccountOrphaned(object: ManagedObject): boolean {
    const { namespace } = object.metadata;
    const name = this.recordedNameOf(object);
    const account = this.#options.store().get(`${namespace}/${name}`);
    if (!account || !isOrphan(account)) return false;
    const credentials = this.#credentials.find(namespace, name);
    if (!credentials) return false;
    return credentials.isKeyMissing === true || isUnauthorized(credentials.shared.account.breaker.problem);
  }

  /**
   * Whether both objects belong to one account: the same base URL and the same key. A key that is not known at the moment
   * counts as before, since the remotes of its objects stay where they are.
   */
  isSameAccount(one: ManagedObject, other: ManagedObject): boolean {
    const [a, b] = [one, other].map((object) => this.#credentials.find(object.metadata.namespace, this.nameOf(object)));
    if (a && b) return a === b || (a.baseURL === b.baseURL && isSameKey(a, b));
    return one.metadata.namespace === other.metadata.namespace && this.nameOf(one) === this.nameOf(other);
  }

  /** Whether both objects use one inventory, because their recorded remotes are known to be in one account. */
  isSameInventory(one: ManagedObject, other: ManagedObject): boolean {
    const [a, b] = [one, other].map((object) =>
      this.#credentials.find(object.metadata.namespace, this.recordedNameOf(object)),
    );
    return a !== undefined && a.shared === b?.shared;
  }

  /**
   * The GatewayAccount whose credentials the object uses. Usually that of its remote. It is the specified one if both
   * are one account, and the status is written anyway or the former GatewayAccount is being deleted. "" for the
   * operator's own.
   */
  nameOf(object: ManagedObject): string {
    const recorded = this.recordedNameOf(object);
    const specified = this.specifiedNameOf(object);
    const { namespace, generation } = object.metadata;
    if (recorded === specified || this.#relation(namespace, recorded, specified) !== "same") return recorded;
    // Until the key is proved, the remotes that are recorded for the specified GatewayAccount may be in another
    // account.
    if (this.#credentials.find(namespace, specified)?.shared.account.keyProof.isTrusted !== true) return recorded;
    const isWritten = object.status?.id === undefined || object.status.observedGeneration !== generation;
    return isWritten || this.#isGoneOrDeleting(namespace, recorded) ? specified : recorded;
  }

  /**
   * The GatewayAccount of the object's remote; without one, that of a create whose outcome is not known; else the
   * specified one. "" for the operator's own.
   */
  recordedNameOf(object: ManagedObject): string {
    const { status, metadata } = object;
    if (status?.id !== undefined) return status.account ?? "";
    const { create, account } = intentOf(object) ?? {};
    if (create === undefined || account === undefined) return this.specifiedNameOf(object);
    const isFutile = this.#options.memory.known(metadata.uid)?.isCreateFutile(create);
    // A GatewayAccount with objects cannot go. So one that does not exist was never meant: the object was copied.
    const exists = account === "" || this.#options.store().get(`${metadata.namespace}/${account}`) !== undefined;
    return exists && !isFutile ? account : this.specifiedNameOf(object);
  }

  /** The GatewayAccount that the spec asks for. "" for the operator's own. */
  specifiedNameOf({ metadata, spec }: ManagedObject): string {
    if (spec.accountRef) return spec.accountRef.name;
    return this.#options.store().get(`${metadata.namespace}/${DEFAULT_ACCOUNT}`) ? DEFAULT_ACCOUNT : "";
  }

  /**
   * Call it when the GatewayAccount is gone. Aborts its requests under way, unless other credentials share the account.
   */
  remove(key: string): void {
    this.#awaited.delete(key);
    this.#credentials.remove(key);
  }

  /** Call it when the process is about to stop. Requests that would have to wait for the budget then fail. */
  shutDown(): void {
    for (const { turns } of this.all) turns.budget.shutDown();
  }

  async close(): Promise<void> {
    for (const { abort } of this.#shared.all) abort.abort();
    await Promise.all(this.#shared.all.map(({ client }) => client.close()));
  }

  /** How the specified GatewayAccount relates to the one with which the remote was created. */
  #relation(namespace: string, recorded: string, specified: string): Relation {
    const former = this.#credentials.find(namespace, recorded);
    const wanted = this.#credentials.find(namespace, specified);
    return former && wanted ? relationOf(former, wanted) : "other";
  }

  /** Whether the GatewayAccount is gone or being deleted, so that its key is gone or about to go. */
  #isGoneOrDeleting(namespace: string, name: string): boolean {
    const isDeleted = this.#options.store().get(`${namespace}/${name}`)?.metadata.deletionTimestamp !== undefined;
    return isDeleted || this.#credentials.known(namespace, name)?.digest === undefined;
  }

  /**
   * Until all keys are known, an object cannot see which other objects claim its remote. A key that cannot be read
   * counts as missing.
   */
  async #readAllKeys(namespace?: string): Promise<void> {
    const { store } = this.#options;
    const found = store()
      .list(namespace)
      .flatMap(({ metadata: { namespace, name } }) => this.#credentials.find(namespace, name) ?? []);
    const left = [this.#credentials.own, ...found].values();
    const readNext = async () => {
      for (const credentials of left) await this.#shared.readKey(credentials).catch(() => undefined);
    };
    await Promise.all(Array.from({ length: FIRST_READS }, readNext));
  }

  /** Undefined for the operator's own. */
  #gatewayAccount(namespace: string, name: string, isSpecified: boolean): AccountObject | undefined {
    if (name === "") return undefined;
    const object = this.#options.store().get(`${namespace}/${name}`);
    if (object) return object;
    throw accountMissing({ name, isSpecified });
  }
}

/** Whether a probe already looks for the missing key, so that reconciles of objects need not read it. */
const isKeyAwaited = ({ digest, shared: { account } }: Credentials): boolean =>
  digest === undefined && account.breaker.problem !== undefined && !account.breaker.isProbeDue;

/** Asked for many objects at a time, so usual keys are compared without sets. */
function isSameKey(one: Credentials, other: Credentials): boolean {
  if (one.digest !== undefined && other.digest !== undefined) return one.digest === other.digest;
  return !digestsOf(one).isDisjointFrom(digestsOf(other));
}

/** Digests of the keys that lead to the account of these credentials: while there is no key, those that did. */
function digestsOf({ digest, lastDigest, shared }: Credentials): ReadonlySet<string> {
  if (digest !== undefined) return new Set([digest]);
  const { proved } = shared.account.keyProof;
  return lastDigest === undefined ? proved : new Set([lastDigest, ...proved]);
}

interface Division {
  object: ManagedObject;
  /** The GatewayAccount of the object's remote. */
  name: string;
  specified: string;
}

/** Throws Blocked unless both are one account: a remote cannot change its account. */
function refuseUnless(relation: Relation, { object, name, specified }: Division): void {
  if (relation === "same") return;
  const left = { id: object.status?.id ?? "", from: name, isSpecified: object.spec.accountRef !== undefined };
  throw relation === "unknown" ? accountUncertain({ ...left, to: specified }) : accountLeft(left);
}

/** Changes when a person edits or annotates the GatewayAccount. */
const versionOf = (object: AccountObject): string =>
  `${object.metadata.generation} ${reconcileRequestedAt(object) ?? ""}`;

/** Whether no create was sent for the object yet. It may then come to belong to any account. */
const isNew = (object: ManagedObject): boolean =>
  object.status?.id === undefined && !isDeleting(object) && intentOf(object) === undefined;
