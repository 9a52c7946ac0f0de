import type { Intent } from "../objects/intent.ts";
import { keyWithKindOf, type ManagedObject, type Status } from "../objects/object.ts";
import { type AccountSharing, CachedObjects } from "../operator/kubernetes/cached-objects.ts";
import { indexersOf } from "../operator/kubernetes/indexes.ts";
import type {
  AccountQuestions,
  Cluster,
  DNSEndpoints,
  EventDraft,
  Reading,
  SecretContent,
  Secrets,
  SecretValue,
} from "../reconcile/cluster.ts";
import { Store } from "../runtime/cache/store.ts";
import { keyOf } from "../runtime/object.ts";
import { FINALIZER } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";

/** Reads Secrets and ConfigMaps. Undefined when one does not exist. Throws when it may not be read. */
export interface ClusterSource {
  secret(namespace: string, name: string): Promise<SecretValue | undefined>;
  configMap(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

export interface ClusterCopyOptions extends AccountSharing, Pick<AccountQuestions, "mayAdopt"> {
  kinds: readonly Kind[];
  objects: readonly ManagedObject[];
  source: ClusterSource;
}

/** The objects of a cluster. Writes change only this copy. */
export class ClusterCopy extends CachedObjects implements Cluster {
  /** Keys of the objects that were written since this set was last cleared. */
  readonly written = new Set<string>();
  readonly #stores: ReadonlyMap<string, { store: Store<ManagedObject> }>;
  readonly #source: ClusterSource;
  readonly #secrets = new Map<string, SecretValue | undefined>();
  #revision: bigint;

  constructor({ kinds, objects, source, ...accounts }: ClusterCopyOptions) {
    const stores = new Map(
      kinds.map((kind) => [kind.kind, { store: new Store<ManagedObject>({ indexers: indexersOf(kind) }) }]),
    );
    super({ kinds, stores, accounts });
    this.#stores = stores;
    this.#source = source;
    this.accounts = {
      ...accounts,
      // The GatewayAccounts were read before.
      ensureDefaultKnown: async () => {},
      isAccountOrphaned: () => false,
      // A plan knows no API keys, so it does not show that a deletion waits for their users.
      usersOfKey: () => [],
      // A plan has no secret of the operator, and its statuses are not written.
      tokenRecordOf: () => "unknown",
      isTokenRecord: () => true,
    };
    const revisions = objects.map(({ metadata }) => BigInt(metadata.resourceVersion ?? 0));
    this.#revision = revisions.reduce((one, other) => (one > other ? one : other), 0n);
    for (const object of objects) this.store(object.kind).put(object);
  }

  /** The object as it is now; undefined when it is gone. */
  now({ kind, metadata }: ManagedObject): ManagedObject | undefined {
    return this.get(kind, metadata.namespace, metadata.name);
  }

  /** All objects were read before, and nothing that contains them goes away. */
  readonly reading: Reading = {
    visibilityOf: () => "Visible",
    unreadNamespaces: () => [],
    isNamespaceDeleting: async () => false,
    isKindDeleting: async () => false,
  };
  readonly accounts: AccountQuestions;
  readonly secrets: Secrets = {
    read: (namespace, name) => this.#secret(namespace, name),
    configMap: (namespace, name) => this.#source.configMap(namespace, name),
    write: async (object, content) => this.#writeSecret(object, content),
    tryWrite: async () => {},
    bind: (object, secret) => this.#bindSecret(object, secret),
  };
  /** A plan shows changes of the account, and DNSEndpoints change nothing there. */
  readonly endpoints: DNSEndpoints = { write: async () => {}, delete: async () => {}, keep: async () => {} };

  hasEnded({ kind }: Pick<Kind, "kind">, namespace: string, name: string): boolean {
    return this.#stores.has(kind) && this.get(kind, namespace, name) === undefined;
  }

  async annotate(
    _kind: Kind,
    object: ManagedObject,
    change: { finalizer?: true; intent?: Intent },
  ): Promise<ManagedObject> {
    const finalizers = new Set([...(object.metadata.finalizers ?? []), ...(change.finalizer ? [FINALIZER] : [])]);
    const intent = change.intent ?? object.intent;
    return this.#write({ ...object, intent, metadata: { ...object.metadata, finalizers: [...finalizers] } });
  }

  async removeFinalizer(kind: Kind, object: ManagedObject): Promise<void> {
    const finalizers = (object.metadata.finalizers ?? []).filter((one) => one !== FINALIZER);
    const written = this.#write({ ...object, metadata: { ...object.metadata, finalizers } });
    if (written.metadata.deletionTimestamp && finalizers.length === 0)
      this.store(kind.kind).forget(keyOf(object), object.metadata.uid);
  }

  async writeStatus(_kind: Kind, object: ManagedObject, status: Status): Promise<boolean> {
    this.#write({ ...object, status });
    return true;
  }

  recordUnfinalized(): void {}

  isUnfinalized = (): boolean => false;

  async #secret(namespace: string, name: string): Promise<SecretValue | undefined> {
    const key = `${namespace}/${name}`;
    if (!this.#secrets.has(key)) this.#secrets.set(key, await this.#source.secret(namespace, name));
    return this.#secrets.get(key);
  }

  #writeSecret(object: ManagedObject, { name, data, annotations, ownership }: SecretContent): void {
    const owners = ownership === "owned" ? [object.metadata.uid] : [];
    this.#secrets.set(`${object.metadata.namespace}/${name}`, {
      resourceVersion: this.#next(),
      data,
      annotations,
      owners,
    });
  }

  async #bindSecret(
    { metadata }: ManagedObject,
    { name, annotations, ownership }: Omit<SecretContent, "data">,
  ): Promise<void> {
    const secret = await this.#secret(metadata.namespace, name);
    if (!secret) return;
    const owners = ownership === "owned" ? [metadata.uid] : [];
    const bound = { ...secret, owners, annotations: { ...secret.annotations, ...annotations } };
    this.#secrets.set(`${metadata.namespace}/${name}`, ownership === "discarded" ? undefined : bound);
  }

  emit(_object: ManagedObject, _event: EventDraft): void {}

  #write(object: ManagedObject): ManagedObject {
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: this.#next() } };
    this.store(object.kind).put(written);
    this.written.add(keyWithKindOf(object));
    return written;
  }

  #next(): string {
    this.#revision += 1n;
    return String(this.#revision);
  }
}
