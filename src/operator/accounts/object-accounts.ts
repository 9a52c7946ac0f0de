import { isUnauthorized } from "../../gateway/errors.ts";
import { accountLeft, accountUncertain } from "../../objects/errors/account.ts";
import { intentOf } from "../../objects/intent.ts";
import { isDeleting, isOrphan, type ManagedObject } from "../../objects/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import type { AllCredentials, CredentialsOptions } from "./all-credentials.ts";
import type { Credentials } from "./credentials.ts";

/** Which account an object belongs to, as far as its status, its intent, its spec and the known keys tell. Reads no key. */
export class ObjectAccounts {
  readonly #options: Pick<CredentialsOptions, "memory" | "store">;
  readonly #credentials: AllCredentials;

  constructor(options: Pick<CredentialsOptions, "memory" | "store">, credentials: AllCredentials) {
    this.#options = options;
    this.#credentials = credentials;
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
    const store = this.#options.store();
    // Asked for many times in a reconcile, and most installations have no GatewayAccount.
    return store.size > 0 && store.get(`${metadata.namespace}/${DEFAULT_ACCOUNT}`) ? DEFAULT_ACCOUNT : "";
  }

  /**
   * Throws Blocked if the spec has come to name another account than `from`, the GatewayAccount of the object: a remote
   * stays in the account in which it was created.
   */
  assertStays(object: ManagedObject, from: string): void {
    const { status, metadata, spec } = object;
    if (status?.id === undefined || isDeleting(object)) return;
    const to = this.specifiedNameOf(object);
    if (from === to) return;
    const relation = this.#relation(metadata.namespace, from, to);
    if (relation === "same") return;
    const remote = { id: status.id, from, isSpecified: spec.accountRef !== undefined };
    throw relation === "unknown" ? accountUncertain({ ...remote, to }) : accountLeft(remote);
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
    const [a, b] = [one, other].map((object) => this.#recordedCredentialsOf(object));
    return a !== undefined && a.shared === b?.shared;
  }

  /**
   * Whether a person has set the orphan annotation on the GatewayAccount of the object's remote, while its key is
   * missing or refused.
   */
  isAccountOrphaned(object: ManagedObject): boolean {
    const account = this.#options.store().get(`${object.metadata.namespace}/${this.recordedNameOf(object)}`);
    if (!account || !isOrphan(account)) return false;
    const credentials = this.#recordedCredentialsOf(object);
    if (!credentials) return false;
    return credentials.isKeyMissing === true || isUnauthorized(credentials.shared.account.breaker.problem);
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

  #recordedCredentialsOf(object: ManagedObject): Credentials | undefined {
    return this.#credentials.find(object.metadata.namespace, this.recordedNameOf(object));
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
}

/** How the account of other credentials relates to the account in which a remote was created. */
type Relation = "same" | "other" | "unknown";

/** A key belongs to one account for ever. So a key that the former credentials also had leads to their account. */
function relationOf(former: Credentials, wanted: Credentials): Relation {
  if (former.baseURL !== wanted.baseURL) return "other";
  const { digest } = wanted;
  if (digest === undefined) return "unknown";
  const { proved } = former.shared.account.keyProof;
  if (former.digest === digest || former.proved.has(digest) || proved.has(digest)) return "same";
  return former.digest === undefined && former.proved.size === 0 && proved.size === 0 ? "unknown" : "other";
}

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
