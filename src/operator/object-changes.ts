import type { ObjectMemory } from "../account/object-memory.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Change } from "../runtime/cache/store.ts";
import type { Controller } from "../runtime/controller/controller.ts";
import { keyOf } from "../runtime/object.ts";
import type { Kind } from "../schema/define.ts";
import type { ObjectAccounts } from "./accounts/object-accounts.ts";
import type { KubeCluster } from "./kubernetes/kube-cluster.ts";
import type { UnfinalizedObjects } from "./kubernetes/unfinalized-objects.ts";
import type { CommonOptions } from "./options.ts";
import type { Enqueuer } from "./triggers/enqueuer.ts";
import { priorities } from "./triggers/priority.ts";
import { requestsFor } from "./triggers/watch-mapping.ts";
import type { Watches } from "./watches.ts";

interface Parts extends CommonOptions {
  watches: Pick<Watches, "informers" | "accounts" | "endedObjects">;
  /** By kind. */
  controllers: ReadonlyMap<string, Pick<Controller, "enqueue" | "drop">>;
  accounts: Pick<ObjectAccounts, "recordedNameOf">;
  cluster: Pick<KubeCluster, "recordUnfinalized">;
  unfinalizedObjects: Pick<UnfinalizedObjects, "has">;
  memory: Pick<ObjectMemory, "end" | "take">;
  enqueuer: Enqueuer;
}

/** What follows when a managed object is seen to change, to end, or to pass to another installation. */
export class ObjectChanges {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  onChange(kind: Kind, change: Change<ManagedObject>): void {
    const { metrics, clock, isOurs, leads, enqueuer, kinds, watches } = this.#parts;
    // Every replica sees the change. Only the leader counts it.
    if (leads() && isOurs(change.object)) metrics?.onObject(change, clock.now());
    if (change.type === "deleted") this.#forget(kind, change.object);
    if (change.type === "updated" && isOurs(change.old) !== isOurs(change.object)) this.#pass(kind, change.object);
    enqueuer.enqueue(requestsFor(kind, change, { kinds, informers: watches.informers }));
  }

  /**
   * The object has ended and nothing is left to do for it. A GatewayAccount that is being deleted may have waited for
   * this.
   */
  finish(object: ManagedObject): void {
    const { memory, watches, enqueuer, accounts } = this.#parts;
    memory.end(object.metadata.uid);
    const key = `${object.metadata.namespace}/${accounts.recordedNameOf(object)}`;
    if (watches.accounts.store.get(key)?.metadata.deletionTimestamp) enqueuer.enqueueAccount(key);
  }

  #forget({ kind }: Kind, object: ManagedObject): void {
    const { watches, cluster, unfinalizedObjects, controllers } = this.#parts;
    watches.endedObjects.record(kind, object.metadata);
    cluster.recordUnfinalized(object);
    if (unfinalizedObjects.has(object)) {
      controllers.get(kind)?.enqueue(keyOf(object), { priority: priorities.edit });
      return;
    }
    controllers.get(kind)?.drop(keyOf(object));
    this.finish(object);
  }

  /** The labels of an object have changed, so that this installation gets it or loses it. */
  #pass({ kind }: Kind, object: ManagedObject): void {
    const { controllers, isOurs, log, memory, metrics, clock } = this.#parts;
    const key = keyOf(object);
    const { namespace, name, uid } = object.metadata;
    const isNew = isOurs(object);
    log.info(
      { kind, namespace, name },
      isNew ? "The object belongs to this installation now" : "The object belongs to this installation no more",
    );
    if (isNew) {
      controllers.get(kind)?.enqueue(key, { priority: priorities.edit });
      memory.take(uid);
      return;
    }
    controllers.get(kind)?.drop(key);
    metrics?.onObject({ type: "deleted", object, initial: false }, clock.now());
    memory.end(uid);
  }
}
