import { isDeepStrictEqual } from "node:util";
import { listenedOn, parentIDsOf, remoteIDsOf, wantedIDOf } from "../../../src/objects/identity.ts";
import { formatIntent, type Intent } from "../../../src/objects/intent.ts";
import { type ManagedObject, retiringIDs, type Status } from "../../../src/objects/object.ts";
import { Outdated } from "../../../src/objects/reconcile-error.ts";
import type {
  AccountQuestions,
  Cluster,
  DNSEndpointContent,
  DNSEndpoints,
  EventDraft,
  KeyUser,
  Reading,
  Referrer,
  SecretContent,
  Secrets,
  SecretValue,
  Visibility,
} from "../../../src/reconcile/cluster.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { annotations, FINALIZER } from "../../../src/schema/contract.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { needsOf, targetKindsOf } from "../../../src/schema/wire/needs.ts";

type Metadata = Partial<ManagedObject["metadata"]>;

/** Objects, Secrets and ConfigMaps in memory, in the namespace `team-a` unless a test names another. */
export class FakeCluster implements Cluster {
  /** The operator's writes, in order. */
  readonly writes: string[] = [];
  readonly events: EventDraft[] = [];
  /** Objects that a reconcile has reported as deleted in spite of their finalizer. */
  readonly unfinalized: ManagedObject[] = [];
  /** Names of the Secrets that were read. */
  readonly secretReads: string[] = [];
  namespaceDeleting = false;
  /** Whether the cluster knows which objects were deleted. False after a restart of the operator. */
  knowsEnds = true;
  /** Other namespaces that are being deleted. */
  readonly otherNamespacesDeleting = new Set<string>();
  /** Whether the objects of a kind can be read, by kind. Default: Visible. */
  readonly visibility = new Map<string, Visibility>();
  readonly kindsDeleting = new Set<string>();
  /** Called before each write of the operator. An error that it throws is the outcome of the write. */
  beforeWrite: (write: string) => void | Promise<void> = () => {};
  /** Called when the API server is asked for the GatewayAccount of an object. An error that it throws is the answer. */
  beforeAsk: () => void = () => {};
  readonly kinds: readonly Kind[];
  readonly #clock: Clock;
  readonly #objects = new Map<string, ManagedObject>();
  readonly #secrets = new Map<string, SecretValue>();
  readonly #written = new Map<string, DNSEndpointContent>();
  readonly #configMaps = new Map<string, Record<string, string>>();
  readonly #created = new Map<string, number>();
  #revision = 0;

  constructor(kinds: readonly Kind[], clock: Clock) {
    this.kinds = kinds;
    this.#clock = clock;
  }

  // Actions of users.

  apply(kind: Kind, name: string, spec: ManagedObject["spec"] = {}, metadata: Metadata = {}): ManagedObject {
    const { namespace = "team-a" } = metadata;
    const known = this.get(kind.kind, namespace, name);
    const created = {
      name,
      namespace,
      uid: this.#uid(kind, name, known),
      generation: 0,
      creationTimestamp: this.#time(),
    };
    const { generation } = known?.metadata ?? created;
    return this.#store({
      ...known,
      apiVersion: "tunnelgateway.dev/v1",
      kind: kind.kind,
      metadata: { ...created, ...known?.metadata, ...metadata, generation: generation + 1 },
      spec,
    });
  }

  #uid({ kind }: Kind, name: string, known: ManagedObject | undefined): string {
    if (known) return known.metadata.uid;
    const key = `uid-${kind}-${name}`;
    const count = (this.#created.get(key) ?? 0) + 1;
    this.#created.set(key, count);
    return count === 1 ? key : `${key}-${count}`;
  }

  annotateByHand(object: ManagedObject, name: string, value: string): void {
    const { metadata } = this.now(object);
    this.#store({
      ...this.now(object),
      metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: value } },
    });
  }

  delete(object: ManagedObject): void {
    const known = this.now(object);
    if (!known.metadata.finalizers?.length) return void this.#objects.delete(keyOf(known));
    const deletionTimestamp = this.#time();
    this.#store({
      ...known,
      metadata: { ...known.metadata, deletionTimestamp, generation: known.metadata.generation + 1 },
    });
  }

  /** Deletes the object in spite of its finalizers, like a DELETE that the API server began before they were added. */
  vanish(object: ManagedObject): void {
    this.#objects.delete(keyOf(object));
  }

  /** Removes the status, like a restore from a backup that has only metadata and spec. */
  loseStatus(object: ManagedObject): void {
    const { status: _, ...rest } = this.now(object);
    this.#store(rest);
  }

  /** Restores an earlier state of an object in place of the present one, like a restore of etcd. */
  restore(object: ManagedObject): void {
    this.#store(object);
  }

  removeAnnotation(object: ManagedObject, name: string): void {
    const { metadata } = this.now(object);
    const { [name]: _, ...kept } = metadata.annotations ?? {};
    this.#store({ ...this.now(object), metadata: { ...metadata, annotations: kept } });
  }

  setSecret(name: string, data: Record<string, string>): void {
    this.#secrets.set(name, { resourceVersion: this.#next(), data, annotations: {}, owners: [] });
  }

  removeSecret(name: string): void {
    this.#secrets.delete(name);
  }

  /** Restores a Secret with its earlier resourceVersion. */
  restoreSecret(name: string, secret: SecretValue | undefined): void {
    if (secret) this.#secrets.set(name, secret);
  }

  setConfigMap(name: string, data: Record<string, string>): void {
    this.#configMaps.set(name, data);
  }

  // For assertions of tests.

  /** The object as it is now. Throws when it does not exist. */
  now({ kind, metadata }: ManagedObject): ManagedObject {
    const object = this.get(kind, metadata.namespace, metadata.name);
    if (!object) throw new TypeError(`${kind} ${metadata.name} is gone`);
    return object;
  }

  exists({ kind, metadata }: ManagedObject): boolean {
    return this.get(kind, metadata.namespace, metadata.name) !== undefined;
  }

  secretNow(name: string): SecretValue | undefined {
    return this.#secrets.get(name);
  }

  // The interface `Cluster`.

  get(kind: string, namespace: string, name: string): ManagedObject | undefined {
    return this.#objects.get(`${kind}/${namespace}/${name}`);
  }

  othersWithRemoteID({ kind }: Pick<Kind, "kind">, id: string, { metadata }: ManagedObject): ManagedObject[] {
    const known = this.kinds.find((one) => one.kind === kind);
    if (!known) return [];
    return [...this.#objects.values()].filter(
      (other) =>
        other.kind === kind &&
        other.metadata.uid !== metadata.uid &&
        [...remoteIDsOf(known, other), ...parentIDsOf(known, other)].includes(id),
    );
  }

  othersSpecifying(kind: Pick<Kind, "kind">, id: string, object: ManagedObject): ManagedObject[] {
    const adopting = [...this.#objects.values()].filter(
      (other) => other.kind === kind.kind && wantedIDOf(other) === id && other.metadata.uid !== object.metadata.uid,
    );
    return [...new Set([...this.othersWithRemoteID(kind, id, object), ...adopting])];
  }

  othersListeningOn(address: string, { metadata }: ManagedObject): ManagedObject[] {
    return [...this.#objects.values()].filter((other) => {
      const kind = this.kinds.find((one) => one.kind === other.kind);
      return kind && other.metadata.uid !== metadata.uid && listenedOn(kind, other.status).includes(address);
    });
  }

  /** Who uses a key, by the digest of its value. */
  readonly keyUsers = new Map<string, KeyUser[]>();
  isAccountAbandoned = false;
  /** With which records of tokens are made. */
  stateSecret = "first";

  readonly accounts: AccountQuestions = {
    isSameAccount: (one, other) => one.spec.accountRef?.name === other.spec.accountRef?.name,
    mayAdopt: () => true,
    ensureDefaultKnown: async () => this.beforeAsk(),
    isAccountOrphaned: () => this.isAccountAbandoned,
    tokenRecordOf: (digest) => `${this.stateSecret} record of ${digest}`,
    isTokenRecord: (record) => record.startsWith(`${this.stateSecret} `),
    usersOfKey: (_, { digest, record }) => {
      const users = [...this.keyUsers].filter(([used]) => {
        if (digest !== undefined) return used === digest;
        return record === undefined || this.accounts.tokenRecordOf(used) === record;
      });
      return users.flatMap(([, all]) => all);
    },
  };

  /** Namespaces of which nothing can be read. */
  readonly unread: string[] = [];

  readonly reading: Reading = {
    visibilityOf: (kind, namespace) => {
      const isUnread = namespace === undefined ? this.unread.length > 0 : this.unread.includes(namespace);
      return this.visibility.get(kind) ?? (isUnread ? "Unreadable" : "Visible");
    },
    unreadNamespaces: (kind) => (this.visibility.has(kind) ? [] : this.unread),
    isNamespaceDeleting: async (namespace) =>
      namespace === "team-a" ? this.namespaceDeleting : this.otherNamespacesDeleting.has(namespace),
    isKindDeleting: async ({ kind }) => this.kindsDeleting.has(kind),
  };

  hasEnded = ({ kind }: Pick<Kind, "kind">, namespace: string, name: string): boolean =>
    this.knowsEnds && this.#created.has(`uid-${kind}-${name}`) && this.get(kind, namespace, name) === undefined;

  remoteIDsBeside(kind: Kind): string[] {
    const objects = [...this.#objects.values()].filter((object) => object.kind === kind.kind);
    return [...new Set(objects.flatMap((object) => remoteIDsOf(kind, object)))];
  }

  referrersOf(kind: Pick<Kind, "kind">, object: ManagedObject): Referrer[] {
    return this.kinds.flatMap((one) =>
      [...this.#objects.values()]
        .filter((other) => other.kind === one.kind && refersTo(one, other, kind.kind, object))
        .map((other) => ({ kind: one, object: other })),
    );
  }

  kindsReferringTo = ({ kind }: Pick<Kind, "kind">): Kind[] =>
    this.kinds.filter(({ spec }) => targetKindsOf(spec).includes(kind));

  async annotate(
    kind: Kind,
    object: ManagedObject,
    change: { finalizer?: true; intent?: Intent },
  ): Promise<ManagedObject> {
    await this.#write("annotate");
    const known = this.get(kind.kind, object.metadata.namespace, object.metadata.name);
    if (!known || known.metadata.resourceVersion !== object.metadata.resourceVersion) throw new Outdated("changed");
    const { finalizers = [], annotations: present } = known.metadata;
    const added = change.finalizer && !finalizers.includes(FINALIZER) ? [FINALIZER] : [];
    const intent = change.intent && { [annotations.createIntent]: formatIntent(change.intent) };
    const metadata = {
      ...known.metadata,
      finalizers: [...finalizers, ...added],
      annotations: { ...present, ...intent },
    };
    return this.#store({ ...known, metadata });
  }

  async removeFinalizer(_kind: Kind, object: ManagedObject): Promise<void> {
    await this.#write("removeFinalizer");
    const known = this.now(object);
    const finalizers = known.metadata.finalizers?.filter((one) => one !== FINALIZER) ?? [];
    if (known.metadata.deletionTimestamp && finalizers.length === 0) this.#objects.delete(keyOf(known));
    else this.#store({ ...known, metadata: { ...known.metadata, finalizers } });
  }

  async writeStatus(_kind: Kind, object: ManagedObject, status: Status): Promise<boolean> {
    await this.#write("writeStatus");
    if (!this.exists(object) || this.now(object).metadata.uid !== object.metadata.uid) return false;
    const [now, known] = [this.now(object).status ?? null, object.status ?? null];
    if (JSON.stringify(now) !== JSON.stringify(known)) throw new Outdated("the status has changed");
    // Undefined members are not sent to an API server.
    this.#store({ ...this.now(object), status: JSON.parse(JSON.stringify(status)) });
    return true;
  }

  isUnfinalized = ({ metadata }: ManagedObject): boolean =>
    this.unfinalized.some((one) => one.metadata.uid === metadata.uid);

  recordUnfinalized(object: ManagedObject): void {
    if (object.metadata.finalizers?.includes(FINALIZER)) this.unfinalized.push(object);
  }

  readonly secrets: Secrets = {
    read: async (_, name) => {
      this.secretReads.push(name);
      return this.#secrets.get(name);
    },
    configMap: async (_, name) => this.#configMaps.get(name),
    write: (object, content) => this.#writeSecret(object, content),
    tryWrite: async () => this.beforeWrite("tryWriteSecret"),
    bind: (object, secret) => this.#bindSecret(object, secret),
  };

  async #writeSecret(object: ManagedObject, { name, data, annotations, ownership }: SecretContent): Promise<void> {
    await this.#write("writeSecret");
    const owners = ownership === "owned" ? [object.metadata.uid] : [];
    this.#secrets.set(name, { resourceVersion: this.#next(), data, annotations, owners });
  }

  async #bindSecret(
    { metadata }: ManagedObject,
    { name, annotations, ownership }: Omit<SecretContent, "data">,
  ): Promise<void> {
    const secret = this.#secrets.get(name);
    if (!secret || (ownership === "kept" && secret.owners.length === 0)) return;
    await this.#write(`${ownership} Secret`);
    if (ownership === "discarded") return void this.#secrets.delete(name);
    const owners = ownership === "owned" ? [metadata.uid] : [];
    const resourceVersion = this.#next();
    this.#secrets.set(name, {
      ...secret,
      resourceVersion,
      owners,
      annotations: { ...secret.annotations, ...annotations },
    });
  }

  /** The DNSEndpoint that was written for an object. */
  endpointOf = (object: ManagedObject): DNSEndpointContent | undefined => this.#written.get(keyOf(object));

  readonly endpoints: DNSEndpoints = {
    write: async (object, content) => {
      if (isDeepStrictEqual(this.endpointOf(object), content)) return;
      await this.#write("writeDNSEndpoint");
      this.#written.set(keyOf(object), content);
    },
    delete: async (object) => {
      if (!this.endpointOf(object)) return;
      await this.#write("deleteDNSEndpoint");
      this.#written.delete(keyOf(object));
    },
    keep: async (object) => {
      const content = this.endpointOf(object);
      if (!content?.owned) return;
      await this.#write("keepDNSEndpoint");
      this.#written.set(keyOf(object), { ...content, owned: false });
    },
  };

  /** All objects belong to one account. */
  inAccount({ kind }: Kind): ManagedObject[] {
    return [...this.#objects.values()].filter((object) => object.kind === kind && object.status?.id !== undefined);
  }

  emit(_object: ManagedObject, event: EventDraft): void {
    this.events.push(event);
  }

  async #write(write: string): Promise<void> {
    await this.beforeWrite(write);
    this.writes.push(write);
  }

  #store(object: ManagedObject): ManagedObject {
    const metadata = { ...object.metadata, resourceVersion: this.#next() };
    const stored = { ...object, metadata };
    this.#objects.set(keyOf(stored), stored);
    return stored;
  }

  #next(): string {
    this.#revision += 1;
    return String(this.#revision);
  }

  #time(): string {
    return this.#clock
      .date()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
  }
}

const keyOf = ({ kind, metadata }: ManagedObject): string => `${kind}/${metadata.namespace}/${metadata.name}`;

function refersTo(kind: Kind, { spec, metadata }: ManagedObject, target: string, object: ManagedObject): boolean {
  const ids = [object.status?.id, ...retiringIDs(object.status)];
  return needsOf(kind.spec, spec).some((need) => {
    if (need.type !== "reference") return false;
    if (need.to.name === undefined) return ids.includes(need.to.id);
    const isNamed = need.to.name === object.metadata.name && metadata.namespace === object.metadata.namespace;
    return isNamed && (need.to.kind ?? need.trait.kinds[0]) === target;
  });
}
