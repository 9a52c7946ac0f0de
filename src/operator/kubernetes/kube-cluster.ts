import { setTimeout as sleep } from "node:timers/promises";
import { formatIntent, type Intent } from "../../objects/intent.ts";
import { type ManagedObject, type Status, typeOf } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Cluster, DNSEndpointContent, EventDraft, SecretContent, SecretValue } from "../../reconcile/cluster.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isNotFound } from "../../runtime/connection/errors.ts";
import { removeFinalizer } from "../../runtime/connection/finalizer.ts";
import type { Logger } from "../../runtime/log.ts";
import { keyOf, type ResourceType } from "../../runtime/object.ts";
import type { EventRecorder } from "../../runtime/process/events.ts";
import { SharedCall } from "../../runtime/shared-call.ts";
import { API_VERSION, annotations, FINALIZER, GROUP } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { toReconcileError } from "./api-error.ts";
import { type AccountSharing, CachedObjects } from "./cached-objects.ts";
import { deleteDNSEndpoint, keepDNSEndpoint, writeDNSEndpoint } from "./dns-endpoints.ts";
import type { EndedObjects } from "./ended-objects.ts";
import type { Informers } from "./indexes.ts";
import type { NamespaceRights } from "./namespace-rights.ts";
import { bindSecret, writeSecret } from "./output-secrets.ts";
import { readConfigMap, readSecret } from "./read-data.ts";
import type { ReadObjects } from "./read-objects.ts";
import { definitions, namespaces } from "./resource-types.ts";
import type { UnfinalizedObjects } from "./unfinalized-objects.ts";
import { tellUnwritten } from "./unwritten-status.ts";

const UNFINALIZED = "Kubernetes deleted the object while it got its finalizer: the operator deletes its remote";

/** How much later discovery may show the deletion of a definition than the watch shows the deletion of its objects. */
const DISCOVERY_LAG_MS = 1_000;

/** Questions of a reconcile about the API keys of accounts. */
interface AccountKeys {
  usersOfKey: Cluster["usersOfKey"];
  tokenRecordOf: Cluster["tokenRecordOf"];
  isAccountOrphaned: (object: ManagedObject) => boolean;
  ensureDefaultKnown: Cluster["ensureDefaultKnown"];
}

export interface KubeClusterOptions {
  client: KubeClient;
  kinds: readonly Kind[];
  informers: Informers;
  recorder: EventRecorder;
  log: Logger;
  accounts: AccountSharing & AccountKeys;
  endedObjects: Pick<EndedObjects, "has">;
  unfinalizedObjects: UnfinalizedObjects;
  rights: Pick<NamespaceRights, "during" | "settle">;
  readObjects: Pick<ReadObjects, "visibilityOf" | "unreadNamespaces">;
}

/** Reads from the stores of the informers, writes through the client, and puts the answers into the stores. */
export class KubeCluster extends CachedObjects implements Cluster {
  readonly #client: KubeClient;
  readonly #readObjects: KubeClusterOptions["readObjects"];
  readonly #recorder: EventRecorder;
  readonly #log: Logger;
  readonly #accountKeys: AccountKeys;
  readonly #endedObjects: Pick<EndedObjects, "has">;
  readonly #unfinalizedObjects: UnfinalizedObjects;
  readonly #rights: Pick<NamespaceRights, "during" | "settle">;
  readonly #deletionReads = new Map<string, SharedCall<boolean>>();

  constructor(options: KubeClusterOptions) {
    super({ ...options, stores: options.informers });
    this.#client = options.client;
    this.#readObjects = options.readObjects;
    this.#recorder = options.recorder;
    this.#log = options.log;
    this.#accountKeys = options.accounts;
    this.#endedObjects = options.endedObjects;
    this.#unfinalizedObjects = options.unfinalizedObjects;
    this.#rights = options.rights;
  }

  usersOfKey: Cluster["usersOfKey"] = (object, key) => this.#accountKeys.usersOfKey(object, key);

  tokenRecordOf = (digest: string): string => this.#accountKeys.tokenRecordOf(digest);

  isAccountOrphaned = (object: ManagedObject): boolean => this.#accountKeys.isAccountOrphaned(object);

  ensureDefaultKnown = (object: ManagedObject): Promise<void> => this.#accountKeys.ensureDefaultKnown(object);

  visibilityOf: Cluster["visibilityOf"] = (kind, namespace) => this.#readObjects.visibilityOf(kind, namespace);

  unreadNamespaces = (kind: string): readonly string[] => this.#readObjects.unreadNamespaces(kind);

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

  /** Stores the answer of the API server. */
  #keep({ kind }: Kind, written: ManagedObject): ManagedObject {
    this.store(kind).put(written);
    return written;
  }

  secret = (namespace: string, name: string): Promise<SecretValue | undefined> =>
    readSecret(this.#client, { namespace, name });

  configMap = (namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined> =>
    readConfigMap(this.#client, { namespace, name });

  writeSecret = (object: ManagedObject, content: SecretContent): Promise<void> =>
    writeSecret(this.#client, object, content);

  tryWriteSecret = (object: ManagedObject, content: SecretContent): Promise<void> =>
    writeSecret(this.#client, object, content, { dryRun: true });

  bindSecret = (object: ManagedObject, secret: Omit<SecretContent, "data">): Promise<void> =>
    bindSecret(this.#client, object, secret);

  writeDNSEndpoint = (object: ManagedObject, content: DNSEndpointContent): Promise<void> =>
    writeDNSEndpoint(this.#client, object, content);

  deleteDNSEndpoint = (object: ManagedObject): Promise<void> => deleteDNSEndpoint(this.#client, object);

  keepDNSEndpoint = (object: ManagedObject): Promise<void> => keepDNSEndpoint(this.#client, object);

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
    const shared = this.#deletionReads.get(key) ?? new SharedCall(read);
    this.#deletionReads.set(key, shared);
    return shared.ask().finally(() => this.#deletionReads.delete(key));
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
