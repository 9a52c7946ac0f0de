import { digestOf } from "../../account/key-proof.ts";
import { type WaitOptions, waitFor } from "../../account/requests/turn.ts";
import { isForbidden, isUnauthorized } from "../../gateway/errors.ts";
import type { Resource } from "../../gateway/resource.ts";
import { hasList } from "../../objects/evidence.ts";
import { Blocked, Outdated, Postponed } from "../../objects/reconcile-error.ts";
import { KEY_MISSING } from "../kubernetes/account-key.ts";
import { type Credentials, isOwn, type SharedAccount } from "./credentials.ts";

interface SharedAccountsOptions {
  /** Opens an account for these credentials alone. */
  open: (credentials: Credentials) => SharedAccount;
  /** Whether objects have remotes with these credentials. */
  hasRecorded: (credentials: Credentials) => boolean;
  /** The record of a key for the next process. */
  recordOf: (credentials: Credentials, apiKey: string) => string;
  /** Called when the credentials have another key than before. */
  onKeyChange: (credentials: Credentials) => void;
}

/**
 * Finds credentials that lead to one account: those with the same base URL and the same key. All credentials begin with
 * an account of their own. They move to the account of others when that account is known to have their recorded
 * remotes, or when they have none. So a wrong key in one Secret stops nobody who uses it rightly, and a key that others
 * have proved proves nothing for credentials whose remotes are elsewhere. Keys are compared by digest.
 */
export class SharedAccounts {
  readonly #options: SharedAccountsOptions;
  readonly #all = new Set<SharedAccount>();
  #reads = 0;

  constructor(options: SharedAccountsOptions) {
    this.#options = options;
  }

  get all(): SharedAccount[] {
    return [...this.#all];
  }

  /** Adds new credentials, with an account of their own. */
  add(given: Omit<Credentials, "shared">): Credentials {
    const credentials = given as Credentials;
    credentials.shared = this.#open(credentials);
    return credentials;
  }

  /** Removes credentials. With the last ones, the account is closed and its requests are aborted. */
  remove(credentials: Credentials): void {
    const { shared } = credentials;
    credentials.isGone = true;
    shared.credentials.delete(credentials);
    for (const { former } of this.#all) former.delete(credentials);
    if (shared.credentials.size === 0) this.#close(shared);
  }

  /**
   * Reads the key. Credentials with another key than before leave their account, and those whose key is gone leave an
   * account that they share with others.
   */
  async readKey(credentials: Credentials): Promise<string> {
    this.#reads += 1;
    const read = this.#reads;
    try {
      const key = await credentials.apiKey.read();
      credentials.isKeyMissing = false;
      this.#setDigest(credentials, read, key.trim() === "" ? undefined : digestOf(key), key);
      return key;
    } catch (error) {
      credentials.isKeyMissing = (error as { code?: unknown }).code === KEY_MISSING;
      this.#setDigest(credentials, read, undefined);
      throw error;
    }
  }

  /**
   * The key for the next request to the account, read from the operator's own credentials, else from any others of the
   * account. Never another key than that of the account.
   */
  async keyFor(shared: SharedAccount): Promise<string> {
    let problem: unknown;
    for (const credentials of [...shared.credentials].sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)))) {
      if (isInTrouble(shared)) credentials.apiKey.invalidate();
      try {
        let key = await this.readKey(credentials);
        // A read that began earlier and ended later has a former key.
        if (digestOf(key) !== shared.digest) key = await this.readKey(credentials);
        const isOfAccount = shared.digest === undefined || digestOf(key) === shared.digest;
        if (shared.credentials.has(credentials) && isOfAccount) return key;
      } catch (error) {
        problem = error;
      }
    }
    throw problem ?? new Outdated("the API key has changed");
  }

  /**
   * Reads the key, and moves the credentials to the account of others with the same key. Rejects while the service does
   * not answer whether it is the same account. A reconcile that would have to wait for long fails at once with the last
   * failure of these credentials, if there is one.
   */
  async settle(credentials: Credentials, wait: WaitOptions): Promise<void> {
    try {
      await waitFor(this.#settle(credentials), wait);
    } catch (error) {
      throw error instanceof Postponed ? (credentials.failure ?? error) : error;
    }
  }

  async #settle(credentials: Credentials): Promise<void> {
    await this.readKey(credentials).catch(() => undefined);
    credentials.searching ??= this.#search(credentials)
      .then(
        () => {
          credentials.failure = undefined;
        },
        (error: unknown) => {
          credentials.failure = error;
          throw error;
        },
      )
      .finally(() => {
        credentials.searching = undefined;
      });
    await credentials.searching;
  }

  /**
   * Lets the next request through, also in the account to which these credentials may move. Call it when a person asks
   * for a check.
   */
  probeSoon(credentials: Credentials): void {
    for (const shared of [credentials.shared, this.#targetOf(credentials)]) shared?.account.breaker.probeSoon();
  }

  /** The ids in a list of another account with this key, to which its credentials may move. Undefined: there is none. */
  async listedElsewhere(shared: SharedAccount, resource: Resource): Promise<readonly string[] | undefined> {
    const target = this.#targetOf({ ...shared, shared });
    if (!target) return undefined;
    const collection = target.account.collection(resource);
    await collection.listed(0, { lane: "retry" });
    return collection.allCached().map(({ id }) => id);
  }

  async #search(credentials: Credentials): Promise<void> {
    // Credentials never wait until others are proved: each set proves its key by its own recorded remotes.
    const { account, credentials: sharing } = credentials.shared;
    if (account.keyProof.problem && sharing.size > 1 && !isOwn(credentials)) this.#separate(credentials);
    const target = this.#targetOf(credentials);
    const { digest } = credentials;
    if (!target || digest === undefined) return;
    try {
      await proveByList(target);
      await credentials.shared.account.keyProof.ensure();
    } catch (error) {
      // The credentials keep their own account. Its status reports the problem.
      if (error instanceof Blocked) return;
      throw error;
    }
    if (credentials.isGone || credentials.digest !== digest) throw new Outdated("the API key has changed");
    // During this wait, another account or this one may have been proved.
    if (this.#targetOf(credentials) !== target) await this.#search(credentials);
    else this.#move(credentials, target);
  }

  /**
   * The account of other credentials with the same key. If there are several: the operator's own, a proved one, or the
   * one with the most remotes, in this order.
   */
  #targetOf({
    baseURL,
    digest,
    shared,
  }: Pick<Credentials, "baseURL" | "digest" | "shared">): SharedAccount | undefined {
    if ([...shared.credentials].some(isOwn)) return undefined;
    const fitting = this.all.filter((one) => one.baseURL === baseURL && one.digest === digest && isUsable(one));
    const [best] = fitting.toSorted((a, b) => rankOf(b) - rankOf(a));
    return best === shared ? undefined : best;
  }

  /** `read`: the number of the read. One that began earlier may end later. */
  #setDigest(credentials: Credentials, read: number, digest: string | undefined, apiKey = ""): void {
    if (credentials.isGone || read < credentials.lastRead) return;
    const isFirst = credentials.lastRead === 0;
    credentials.lastRead = read;
    if (digest !== undefined || credentials.isKeyMissing) credentials.lastDigest = digest;
    if (digest === credentials.digest) return;
    credentials.digest = digest;
    credentials.record = digest === undefined ? undefined : this.#options.recordOf(credentials, apiKey);
    const { shared } = credentials;
    const isAnother = digest !== undefined && shared.digest !== undefined && digest !== shared.digest;
    if (isAnother || (digest === undefined && shared.credentials.size > 1)) this.#separate(credentials);
    else setKey(shared, digest);
    if (!isFirst) this.#options.onKeyChange(credentials);
  }

  /** Gives the credentials an account of their own. */
  #separate(credentials: Credentials): void {
    const { shared } = credentials;
    if (this.#options.hasRecorded(credentials))
      for (const digest of shared.account.keyProof.proved) credentials.proved.add(digest);
    this.#enter(credentials, this.#open(credentials));
    credentials.shared.account.changedAt = shared.account.changedAt;
  }

  #enter(credentials: Credentials, next: SharedAccount): void {
    const { shared } = credentials;
    credentials.shared = next;
    next.credentials.add(credentials);
    shared.former.add(credentials);
    shared.credentials.delete(credentials);
    if (shared.credentials.size === 0) this.#close(shared);
  }

  #move(credentials: Credentials, target: SharedAccount): void {
    const { shared, digest } = credentials;
    // The recorded remotes of these credentials count for the target account from now on, and so does its proof.
    if (digest !== undefined && shared.account.keyProof.isProved) target.account.keyProof.accept(digest);
    // The lists of the target may be older than the changes that were made with these credentials.
    target.account.invalidateLists(shared.account.changedAt);
    // A person who has confirmed the account is not asked again for the remotes that are missing there.
    if (shared.account.lossGuard.isConfirmed(credentials.key)) target.account.lossGuard.confirmAll(credentials.key);
    target.account.keyProof.recordAgain();
    this.#enter(credentials, target);
  }

  #open(credentials: Credentials): SharedAccount {
    const shared = this.#options.open(credentials);
    setKey(shared, credentials.digest);
    this.#all.add(shared);
    return shared;
  }

  #close(shared: SharedAccount): void {
    this.#all.delete(shared);
    shared.abort.abort(new Outdated("the account is gone, or is shared by now"));
    void shared.client.close();
  }
}

function setKey(shared: SharedAccount, digest: string | undefined): void {
  if (digest === undefined) return;
  shared.digest ??= digest;
  shared.account.keyProof.use(digest);
}

/** Proves the key with the list that objects need first, so that the proof costs no extra request. */
async function proveByList({ account, recorded }: SharedAccount): Promise<void> {
  if (account.keyProof.isTrusted) return;
  const lists = [...recorded()].flatMap(([source, { size }]) => (hasList(source) ? [{ source, size }] : []));
  const [first] = lists.toSorted((one, other) => other.size - one.size);
  if (first) {
    await account
      .collection(first.source)
      .listed(0, { lane: "retry" })
      .catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
      });
  }
  await account.keyProof.ensure();
}

/**
 * Whether the account has a problem. The key is then read again for each request, since a person may be about to
 * replace it.
 */
const isInTrouble = ({ account: { breaker, lossGuard, keyProof } }: SharedAccount): boolean =>
  isUnauthorized(breaker.problem) || lossGuard.problem !== undefined || keyProof.problem !== undefined;

/** A rank above any number of remotes. */
const PROVED = 1_000_000;

function rankOf({ account, credentials }: SharedAccount): number {
  if ([...credentials].some(isOwn)) return Number.MAX_VALUE;
  return (account.keyProof.isProved ? PROVED : 0) + credentials.size;
}

/** Whether other credentials may move to the account. */
const isUsable = ({ account, credentials, digest }: SharedAccount): boolean =>
  digest !== undefined && !account.keyProof.problem && [...credentials].some((one) => one.digest === digest);
