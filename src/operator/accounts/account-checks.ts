import type { Account } from "../../account/account.ts";
import { type WaitOptions, waitFor } from "../../account/requests/turn.ts";
import { reconcileRequestedAt } from "../../objects/object.ts";
import { Postponed } from "../../objects/reconcile-error.ts";
import type { AccountObject } from "./account-objects.ts";
import type { AllCredentials } from "./all-credentials.ts";
import type { Credentials } from "./credentials.ts";

/** The checks of GatewayAccounts by their reconciles: whether each key works, and whom one answer serves. */
export class AccountChecks {
  readonly #credentials: AllCredentials;
  readonly #probes = new Map<Account, Promise<void>>();
  /** By GatewayAccount: the probe whose answer its postponed reconcile waits for. */
  readonly #awaited = new Map<string, { probing: Promise<void>; account: Account }>();

  constructor(credentials: AllCredentials) {
    this.#credentials = credentials;
  }

  /** Throws Blocked when the operator does not allow the base URL. */
  assertAllowed(object: AccountObject): void {
    this.#credentials.of(object);
  }

  /**
   * Reads the key of a GatewayAccount anew, and finds its account. `isAsked`: a person has edited or annotated the
   * GatewayAccount since `answered` was called.
   */
  async check(object: AccountObject, wait: WaitOptions = {}): Promise<{ account: Account; isAsked: boolean }> {
    const { shared } = this.#credentials;
    const credentials = this.#credentials.of(object);
    const version = versionOf(object);
    const isAsked = credentials.checked !== undefined && credentials.checked !== version;
    credentials.checked ??= version;
    credentials.apiKey.invalidate();
    if (isAsked) shared.probeSoon(credentials);
    await shared.settle(credentials, wait);
    return { account: credentials.shared.account, isAsked };
  }

  /** Call it when a check has shown whether the key of this GatewayAccount works. */
  answered(object: AccountObject): void {
    const credentials = this.#knownOf(object);
    if (credentials) credentials.checked = credentials.answered = versionOf(object);
  }

  /** Whether `answered` was called since a person has edited or annotated this GatewayAccount. */
  isAnswered(object: AccountObject): boolean {
    return this.#knownOf(object)?.answered === versionOf(object);
  }

  #knownOf({ metadata: { namespace, name } }: AccountObject): Credentials | undefined {
    return this.#credentials.known(namespace, name);
  }

  /** Whether other credentials lead to the account as well. */
  isShared(account: Account): boolean {
    return this.#credentials.shared.all.some((one) => one.account === account && one.credentials.size > 1);
  }

  /** When the pause ends that the service has asked for. Undefined: there is none, or nothing is known of the account. */
  pauseEndOf({ metadata: { namespace, name } }: AccountObject): Date | undefined {
    return this.#credentials.find(namespace, name)?.shared.account.turns.budget.pauseEnd;
  }

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

  /**
   * Call it when the GatewayAccount is gone. Aborts its requests under way, unless other credentials share the account.
   */
  remove(key: string): void {
    this.#awaited.delete(key);
    this.#credentials.remove(key);
  }
}

/** Changes when a person edits or annotates the GatewayAccount. */
const versionOf = (object: AccountObject): string =>
  `${object.metadata.generation} ${reconcileRequestedAt(object) ?? ""}`;
