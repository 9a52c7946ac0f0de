import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { type Status, typeOf } from "../../objects/object.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import { removeFinalizer } from "../../runtime/connection/finalizer.ts";
import { type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../runtime/object.ts";
import type { EventRecorder } from "../../runtime/process/events.ts";
import { FINALIZER } from "../../schema/contract.ts";
import type { AccountKeyObject } from "../kubernetes/account-key.ts";
import { toReconcileError } from "../kubernetes/api-error.ts";
import type { NamespaceRights } from "../kubernetes/namespace-rights.ts";
import { secrets } from "../kubernetes/resource-types.ts";
import { tellUnwritten } from "../kubernetes/unwritten-status.ts";
import { WriteTurns } from "./write-turns.ts";

export interface AccountObject extends AccountKeyObject {
  metadata: AccountKeyObject["metadata"] & { namespace: string; uid: string; generation: number };
  spec: AccountKeyObject["spec"] & { tunnelSessions?: "Ignore" | "Mirror" };
  status?: Pick<Status, "conditions"> & { baseURL?: string; secretName?: string; keyDigests?: string[] } & {
    [field: string]: unknown;
  };
}

/**
 * Writes GatewayAccounts and the finalizers of their Secrets. Throws the same errors as KubeCluster, and ignores a 404.
 * Does nothing for a GatewayAccount that belongs to another installation.
 */
export class AccountObjects {
  readonly #client: KubeClient;
  readonly #store: Store<AccountObject>;
  readonly #rights: Pick<NamespaceRights, "during" | "settle">;
  readonly #isOurs: (object: AccountObject) => boolean;
  readonly #turns = new WriteTurns();
  readonly #recorder: Pick<EventRecorder, "emit">;

  constructor(
    { client, recorder }: { client: KubeClient; recorder: Pick<EventRecorder, "emit"> },
    store: Store<AccountObject>,
    rights: Pick<NamespaceRights, "during" | "settle">,
    isOurs: (object: AccountObject) => boolean,
  ) {
    this.#client = client;
    this.#store = store;
    this.#rights = rights;
    this.#isOurs = isOurs;
    this.#recorder = recorder;
  }

  /**
   * `change`: makes the new status from the status at the time of the write. Undefined: nothing is written. Resolves with
   * false if the GatewayAccount is gone.
   */
  async writeStatus(
    object: AccountObject,
    change: (before: AccountObject["status"]) => Readonly<Record<string, unknown>> | undefined,
  ): Promise<boolean> {
    if (!this.#isOurs(object)) return true;
    const write = async () => {
      const current = this.#latest(object);
      const status = change(current.status);
      if (status) this.#store.put(await this.#client.replaceStatus(typeOf(GatewayAccount), current, status));
    };
    return ignoringNotFound(() => this.#turns.run(keyOf(object), write)).catch((error: unknown) => {
      throw tellUnwritten(this.#recorder, object, error);
    });
  }

  async addFinalizer(object: AccountObject): Promise<void> {
    if (!this.#isOurs(object)) return;
    const write = async () => {
      const written = await addFinalizer(this.#client, typeOf(GatewayAccount), this.#latest(object));
      if (written) this.#store.put(written as AccountObject);
    };
    const inTurn = () => this.#turns.run(keyOf(object), write);
    await ignoringNotFound(() => this.#rights.during(object.metadata.namespace ?? "", inTurn));
  }

  async removeFinalizer(object: AccountObject): Promise<void> {
    if (!this.#isOurs(object)) return;
    await ignoringNotFound(() => removeFinalizer(this.#client, typeOf(GatewayAccount), object, FINALIZER));
    this.#store.forget(keyOf(object), object.metadata.uid);
    await this.#rights.settle(object.metadata.namespace ?? "");
  }

  /** Keeps the Secret from being deleted while the account needs it. */
  async addSecretFinalizer(object: AccountObject, ref: ObjectRef): Promise<void> {
    if (!this.#isOurs(object)) return;
    const write = async () => {
      await addFinalizer(this.#client, secrets, await this.#metadataOf(ref));
    };
    await ignoringNotFound(() => this.#turns.run(keyOf(object), write));
  }

  async removeSecretFinalizer(object: AccountObject, ref: ObjectRef): Promise<void> {
    if (!this.#isOurs(object)) return;
    await ignoringNotFound(async () => removeFinalizer(this.#client, secrets, await this.#metadataOf(ref), FINALIZER));
  }

  #latest(object: AccountObject): AccountObject {
    const latest = this.#store.get(keyOf(object));
    return latest?.metadata.uid === object.metadata.uid ? latest : object;
  }

  #metadataOf(ref: ObjectRef): Promise<KubeObject> {
    return this.#client.get(secrets, ref, { metadataOnly: true });
  }
}

async function addFinalizer(
  client: KubeClient,
  type: ResourceType,
  object: KubeObject,
): Promise<KubeObject | undefined> {
  const { finalizers = [], resourceVersion, deletionTimestamp } = object.metadata;
  if (finalizers.includes(FINALIZER) || deletionTimestamp) return undefined;
  const patch = { metadata: { resourceVersion, finalizers: [...finalizers, FINALIZER] } };
  return client.patchMerge(type, object.metadata, patch);
}

/** Resolves with false after a 404. */
async function ignoringNotFound(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw toReconcileError(error);
    return false;
  }
}
