import { formatIntent, type Intent } from "../../objects/intent.ts";
import { type ManagedObject, type Status, typeOf } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { AccountQuestions, Cluster, DNSEndpoints, EventDraft, Reading, Secrets } from "../../reconcile/cluster.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import { removeFinalizer } from "../../runtime/connection/finalizer.ts";
import type { Logger } from "../../runtime/log.ts";
import { keyOf } from "../../runtime/object.ts";
import type { EventRecorder } from "../../runtime/process/events.ts";
import { API_VERSION, annotations, FINALIZER } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { toReconcileError } from "./api-error.ts";
import { type AccountSharing, CachedObjects } from "./cached-objects.ts";
import { Deletions } from "./deletions.ts";
import { deleteDNSEndpoint, keepDNSEndpoint, writeDNSEndpoint } from "./dns-endpoints.ts";
import type { EndedObjects } from "./ended-objects.ts";
import type { Informers } from "./indexes.ts";
import type { NamespaceRights } from "./namespace-rights.ts";
import { bindSecret, writeSecret } from "./output-secrets.ts";
import { readConfigMap, readSecret } from "./read-data.ts";
import type { ReadObjects } from "./read-objects.ts";
import type { UnfinalizedObjects } from "./unfinalized-objects.ts";
import { tellUnwritten } from "./unwritten-status.ts";

const UNFINALIZED = "Kubernetes deleted the object while it got its finalizer: the operator deletes its remote";

export interface KubeClusterOptions {
  client: KubeClient;
  kinds: readonly Kind[];
  informers: Informers;
  recorder: EventRecorder;
  log: Logger;
  accounts: AccountSharing & AccountQuestions;
  endedObjects: Pick<EndedObjects, "has">;
  unfinalizedObjects: UnfinalizedObjects;
  rights: Pick<NamespaceRights, "during" | "settle">;
  readObjects: Pick<ReadObjects, "visibilityOf" | "unreadNamespaces">;
}

/** Reads from the stores of the informers, writes through the client, and puts the answers into the stores. */
export class KubeCluster extends CachedObjects implements Cluster {
  readonly reading: Reading;
  readonly accounts: AccountQuestions;
  readonly secrets: Secrets;
  readonly endpoints: DNSEndpoints;
  readonly #client: KubeClient;
  readonly #recorder: EventRecorder;
  readonly #log: Logger;
  readonly #endedObjects: Pick<EndedObjects, "has">;
  readonly #unfinalizedObjects: UnfinalizedObjects;
  readonly #rights: Pick<NamespaceRights, "during" | "settle">;

  constructor(options: KubeClusterOptions) {
    super({ ...options, stores: options.informers });
    const { client, readObjects } = options;
    const deletions = new Deletions(client);
    this.reading = {
      visibilityOf: (kind, namespace) => readObjects.visibilityOf(kind, namespace),
      unreadNamespaces: (kind) => readObjects.unreadNamespaces(kind),
      isNamespaceDeleting: (name) => deletions.isNamespaceDeleting(name),
      isKindDeleting: (kind) => deletions.isKindDeleting(kind),
    };
    this.accounts = options.accounts;
    this.secrets = {
      read: (namespace, name) => readSecret(client, { namespace, name }),
      configMap: (namespace, name) => readConfigMap(client, { namespace, name }),
      write: (object, content) => writeSecret(client, object, content),
      tryWrite: (object, content) => writeSecret(client, object, content, { dryRun: true }),
      bind: (object, secret) => bindSecret(client, object, secret),
    };
    this.endpoints = {
      write: (object, content) => writeDNSEndpoint(client, object, content),
      delete: (object) => deleteDNSEndpoint(client, object),
      keep: (object) => keepDNSEndpoint(client, object),
    };
    this.#client = client;
    this.#recorder = options.recorder;
    this.#log = options.log;
    this.#endedObjects = options.endedObjects;
    this.#unfinalizedObjects = options.unfinalizedObjects;
    this.#rights = options.rights;
  }

  hasEnded({ kind }: Pick<Kind, "kind">, namespace: string, name: string): boolean {
    return this.#endedObjects.has(kind, { namespace, name });
  }

  async annotate(
    kind: Kind,
    object: ManagedObject,
    change: { finalizer?: true; intent?: Intent },
  ): Promise<ManagedObject> {
    const { metadata } = object;
    const { finalizers = [], resourceVersion } = metadata;
    const missing = change.finalizer && !finalizers.includes(FINALIZER);
    const patch = {
      metadata: {
        resourceVersion,
        ...(missing && { finalizers: [...finalizers, FINALIZER] }),
        ...(change.intent && { annotations: { [annotations.createIntent]: formatIntent(change.intent) } }),
      },
    };
    const write = async () =>
      this.#keep(kind, await this.#client.patchMerge<ManagedObject>(typeOf(kind), metadata, patch));
    if (missing) this.#unfinalizedObjects.finalizerAdded(object);
    try {
      return await (missing ? this.#rights.during(metadata.namespace, write) : write());
    } catch (error) {
      if (isNotFound(error)) throw new Outdated("the object is gone", { cause: error });
      throw toReconcileError(error);
    }
  }

  isUnfinalized = (object: ManagedObject): boolean => this.#unfinalizedObjects.has(object);

  async removeFinalizer(kind: Kind, object: ManagedObject): Promise<void> {
    if (this.#unfinalizedObjects.has(object)) return this.#unfinalizedObjects.finish(object);
    const written = await removeFinalizer(this.#client, typeOf(kind), object, FINALIZER).catch((error: unknown) => {
      throw toReconcileError(error);
    });
    if (!written) return;
    const store = this.store(kind.kind);
    const { finalizers = [], deletionTimestamp } = written.metadata;
    if (deletionTimestamp && finalizers.length === 0) store.forget(keyOf(object), object.metadata.uid);
    else this.#keep(kind, written as ManagedObject);
    await this.#rights.settle(object.metadata.namespace);
  }

  async writeStatus(kind: Kind, object: ManagedObject, status: Status): Promise<boolean> {
    if (this.#unfinalizedObjects.has(object)) {
      this.#unfinalizedObjects.setStatus(object, status);
      return true;
    }
    try {
      this.#keep(kind, await this.#client.replaceStatus(typeOf(kind), object, status));
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw tellUnwritten(this.#recorder, object, toReconcileError(error));
    }
  }

  recordUnfinalized(object: ManagedObject): void {
    // A single 404 is no proof that the object has ended. The watch reports its end.
    const { uid, namespace, name } = object.metadata;
    if (this.get(object.kind, namespace, name)?.metadata.uid === uid) return;
    if (this.#unfinalizedObjects.record(object)) this.#log.warn(aboutObject(object), UNFINALIZED);
  }

  /** Stores the answer of the API server, and returns what the store keeps of it, which is much smaller. */
  #keep({ kind }: Kind, written: ManagedObject): ManagedObject {
    const store = this.store(kind);
    store.put(written);
    const kept = store.get(keyOf(written));
    const { uid, resourceVersion } = written.metadata;
    return kept?.metadata.uid === uid && kept?.metadata.resourceVersion === resourceVersion ? kept : written;
  }

  emit(object: ManagedObject, notice: EventDraft): void {
    const { kind, metadata } = object;
    this.#recorder.emit({ object: { apiVersion: API_VERSION, kind, metadata }, ...notice });
    const { type, reason, note } = notice;
    const about = { ...aboutObject(object), reason, note };
    if (type === "Warning") this.#log.warn(about, "Emitted an event");
    else this.#log.info(about, "Emitted an event");
  }
}

const aboutObject = ({ kind, metadata: { namespace, name } }: ManagedObject) => ({
  controller: kind.toLowerCase(),
  namespace,
  name,
});
