import { setTimeout as sleep } from "node:timers/promises";
import { typeOf } from "../../objects/object.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isNotFound } from "../../runtime/connection/errors.ts";
import type { ResourceType } from "../../runtime/object.ts";
import { SharedCall } from "../../runtime/shared-call.ts";
import { GROUP } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { toReconcileError } from "./api-error.ts";
import { definitions, namespaces } from "./resource-types.ts";

/** How much later discovery may show the deletion of a definition than the watch shows the deletion of its objects. */
const DISCOVERY_LAG_MS = 1_000;

/** What of the cluster is being deleted, with all objects in it. Asks the API server each time. */
export class Deletions {
  readonly #client: Pick<KubeClient, "get" | "verbsOf">;
  readonly #reads = new Map<string, SharedCall<boolean>>();

  constructor(client: Pick<KubeClient, "get" | "verbsOf">) {
    this.#client = client;
  }

  /** False if the operator may not read namespaces. */
  isNamespaceDeleting(name: string): Promise<boolean> {
    return this.#shareRead(`namespaces/${name}`, async () => (await this.#isDeleting(namespaces, name)) ?? false);
  }

  isKindDeleting(kind: Kind): Promise<boolean> {
    return this.#shareRead(kind.plural, async () => {
      const isDeleting = await this.#isDeleting(definitions, `${kind.plural}.${GROUP}`);
      return isDeleting ?? !(await this.#canBeCreated(typeOf(kind)));
    });
  }

  /** Shares reads between objects that ask at the same time. The answer comes from a read that began after the call. */
  #shareRead(key: string, read: () => Promise<boolean>): Promise<boolean> {
    const shared = this.#reads.get(key) ?? new SharedCall(read);
    this.#reads.set(key, shared);
    return shared.ask().finally(() => this.#reads.delete(key));
  }

  /** Undefined if the operator may not read the object. */
  async #isDeleting(type: ResourceType, name: string): Promise<boolean | undefined> {
    try {
      const { metadata } = await this.#client.get(type, { name }, { metadataOnly: true });
      return metadata.deletionTimestamp !== undefined;
    } catch (error) {
      if (isForbidden(error)) return undefined;
      // If the namespace is gone, the object that asks has ended too.
      if (isNotFound(error)) return true;
      throw toReconcileError(error);
    }
  }

  /**
   * While a definition is being deleted, the API server accepts no creates for it. It deletes the objects right after
   * that.
   */
  async #canBeCreated(type: ResourceType): Promise<boolean> {
    await sleep(DISCOVERY_LAG_MS);
    const verbs = await this.#client.verbsOf(type).catch((error: unknown) => {
      throw toReconcileError(error);
    });
    return verbs.includes("create");
  }
}
