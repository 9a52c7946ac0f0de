import type { ManagedObject } from "../../objects/object.ts";
import { newest } from "../../runtime/cache/newest.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import type { ResourceType } from "../../runtime/object.ts";
import { SharedCall } from "../../runtime/shared-call.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import { toReconcileError } from "../kubernetes/api-error.ts";
import type { AccountObject } from "./account-objects.ts";

/**
 * How long an answer counts. A restored API server starts again with lower resourceVersions, so an older answer would
 * wrongly seem newer than an object.
 */
const COUNTS_MS = 60_000;

interface DefaultAccountsOptions {
  client: Pick<KubeClient, "get">;
  /** The resource of GatewayAccounts. */
  type: ResourceType;
  store: () => Pick<Store<AccountObject>, "get" | "put">;
  /** Whether the watch that fills the store with a namespace is in order. */
  isConnectedIn: (namespace: string) => boolean;
  /** The newest resourceVersion that any watch has delivered. */
  seen: () => bigint;
  clock: Clock;
}

/** There was no such GatewayAccount at `revision`. `at`: when it was read, in monotonic milliseconds. */
interface Absence {
  revision: bigint;
  at: number;
}

/**
 * Finds out whether a namespace has a GatewayAccount named `default`. Each kind has a watch of its own, so an object
 * may arrive before a GatewayAccount that was created first, and its remote would be created in the operator's own
 * account. An answer of the API server counts for all objects of the namespace that are not newer than the question, as
 * long as the watch is connected.
 */
export class DefaultAccounts {
  readonly #options: DefaultAccountsOptions;
  readonly #reads = new Map<string, SharedCall<void>>();
  /** The latest GET that found no such GatewayAccount, by namespace. */
  readonly #absences = new Map<string, Absence>();
  /**
   * The newest resourceVersion of an object in a call. After an own write, it may be newer than what any watch has
   * delivered.
   */
  #newest = 0n;

  constructor(options: DefaultAccountsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the store has the GatewayAccount named `default` that existed at the object's resourceVersion, or
   * when there was none. Throws a ReconcileError while the API server cannot be asked.
   */
  async ensureKnown({ metadata, spec }: ManagedObject): Promise<void> {
    const { namespace, resourceVersion = "0" } = metadata;
    const { store, isConnectedIn } = this.#options;
    if (spec.accountRef || store().get(`${namespace}/${DEFAULT_ACCOUNT}`)) return;
    this.#forgetOld();
    const absence = this.#absences.get(namespace);
    const revision = BigInt(resourceVersion);
    if (isConnectedIn(namespace) && absence && absence.revision >= revision) return;
    this.#newest = newest([this.#newest, revision]);
    const read = this.#reads.get(namespace) ?? new SharedCall(() => this.#read(namespace));
    this.#reads.set(namespace, read);
    await read.ask().finally(() => this.#reads.delete(namespace));
  }

  #forgetOld(): void {
    const since = this.#options.clock.now() - COUNTS_MS;
    for (const [namespace, { at }] of this.#absences) if (at < since) this.#absences.delete(namespace);
  }

  /**
   * Reads with a GET, which the API server answers from etcd. A list would make it wait until its own watch is up to
   * date, up to 100 ms for each new object. Everything seen before the GET is older than its answer.
   */
  async #read(namespace: string): Promise<void> {
    const { client, type, store, clock, seen } = this.#options;
    const at = clock.now();
    const revision = newest([seen(), this.#newest]);
    try {
      store().put(await client.get<AccountObject>(type, { namespace, name: DEFAULT_ACCOUNT }));
    } catch (error) {
      if (!isNotFound(error)) throw toReconcileError(error);
      this.#absences.set(namespace, { revision, at });
    }
  }
}
