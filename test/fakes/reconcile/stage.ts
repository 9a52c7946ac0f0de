import { isDeepStrictEqual } from "node:util";
import { kinds } from "../../../src/kinds/index.ts";
import type { ManagedObject, Status } from "../../../src/objects/object.ts";
import { reconcile } from "../../../src/reconcile/reconcile.ts";
import type { Result } from "../../../src/runtime/controller/controller.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { needsOf } from "../../../src/schema/wire/needs.ts";
import { examples } from "../../../tools/shared/examples.ts";
import { Killed } from "./random-faults.ts";
import { RESYNC_SECONDS, Scene, type SceneOptions } from "./scene.ts";

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: ManagedObject["spec"];
  data?: Record<string, string>;
}

const documents = (await examples()) as Manifest[];

const kindOf = ({ kind }: { kind: string }): Kind => kinds.find((one) => one.kind === kind) as Kind;

/** The example of a kind with the most fields. */
function fullestOf({ kind }: Kind): Manifest {
  const [fullest] = documents
    .filter((one) => one.kind === kind)
    .sort((one, other) => Object.keys(other.spec).length - Object.keys(one.spec).length);
  if (!fullest) throw new TypeError(`no example of ${kind}`);
  return fullest;
}

/** The examples that this one refers to by name, each after those that it refers to itself. */
function referredTo(manifest: Manifest): Manifest[] {
  return needsOf(kindOf(manifest).spec, manifest.spec).flatMap((need) => {
    if (need.type !== "reference") return [];
    const wanted = need.to.kind ?? need.trait.kinds[0];
    const found = documents.find(({ kind, metadata }) => kind === wanted && metadata.name === need.to.name);
    return found ? [...referredTo(found), found] : [];
  });
}

const refersTo = (manifest: Manifest, { kind, metadata }: Manifest): boolean =>
  kinds.some((one) => one.kind === manifest.kind) &&
  needsOf(kindOf(manifest).spec, manifest.spec).some(
    (need) =>
      need.type === "reference" && need.to.name === metadata.name && (need.to.kind ?? need.trait.kinds[0]) === kind,
  );

/** Members of every status that a line shows with their value, since the next request follows from it. */
const SHOWN_WITH_VALUE = new Set([
  ...["id", "account", "holds", "origin", "moduleOrigins", "owner", "retiring"],
  ...["leftOn", "outputSecret", "lastHandledReconcileAt", "observedGeneration"],
]);
/** Members of every status that a line shows by their name alone. */
const SHOWN_BY_NAME = new Set(["appliedFields", "appliedSecrets", "appliedDigest", "drift"]);

/**
 * One object of a kind, and all that its reconciles do, one line each: the requests and writes in their order, then what
 * has changed in the status, the events, and when the object is due again. No line has a text for people or a value that
 * only this kind has, so kinds that the operator treats alike have equal lines.
 */
export class Stage {
  readonly scene: Scene;
  readonly kind: Kind;
  readonly lines: string[] = [];
  readonly #manifest: Manifest;
  readonly #secrets = new Map<string, Record<string, string>>();
  readonly #ids = new Map<string, string>();
  /** Whether lines name the members that are sent. */
  namesMembers = false;
  /** What people have read: messages of conditions, and events. */
  readonly messages = new Set<string>();
  #untilKilled: number | undefined;
  #log: string[] = [];
  #object: ManagedObject | undefined;

  constructor(kind: Kind, options: SceneOptions = {}) {
    this.kind = kind;
    this.scene = new Scene(options);
    this.#manifest = fullestOf(kind);
    const { gateway, cluster } = this.scene;
    for (const { kind: of, metadata, data = {} } of documents) {
      if (of === "ConfigMap") cluster.setConfigMap(metadata.name, data);
      if (of !== "Secret") continue;
      const values = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
      this.#secrets.set(metadata.name, Object.fromEntries(values));
      cluster.setSecret(metadata.name, Object.fromEntries(values));
    }
    gateway.normalise = (remote) => {
      const { output, resource } = kind;
      const value = output && remote.id.startsWith(resource.idPrefix) && { [output.member]: `value of ${remote.id}` };
      return { ...remote, ...value, ...(remote["addr"] === null && { addr: `${remote.id}.tcp.example:20000` }) };
    };
    if (kind.location.type === "modules") {
      const [id] = kind.location.idFields.map((field) => String(this.spec[field])).slice(-1);
      gateway.put(kind.resource, { id: id ?? "" });
    }
    gateway.beforeCall = ({ verb, id, resource, body }) => {
      const about = this.#isOwn(resource) ? "" : " elsewhere";
      const members = Object.keys(body ?? {}).sort();
      const sent = this.namesMembers && body ? ` ${members.join(" ") || "nothing"}` : "";
      this.#act(`${verb}${id ? ` ${this.#short(id)}` : ""}${about}${sent}`);
    };
    cluster.beforeWrite = (write) => this.#act(write);
  }

  #isOwn(resource: string): boolean {
    const { modules, location } = this.kind;
    const parent = location.type === "entry" ? [location.parent.resource.name] : [];
    const names = [this.kind.resource, ...Object.values(modules)].map(({ name }) => name);
    return [...names, ...parent].includes(resource);
  }

  #act(what: string): void {
    if (this.#untilKilled === 0) {
      this.#untilKilled = undefined;
      this.#log.push(`killed before ${what}`);
      throw new Killed();
    }
    if (this.#untilKilled !== undefined) this.#untilKilled -= 1;
    this.#log.push(what);
  }

  /** The process is killed before it has carried out one more than so many requests and writes. */
  killAfter(count: number): void {
    this.#untilKilled = count;
  }

  /** The process has not come to where it was to be killed. */
  get isAlive(): boolean {
    const isAlive = this.#untilKilled !== undefined;
    this.#untilKilled = undefined;
    return isAlive;
  }

  /** The spec of the example. */
  get spec(): ManagedObject["spec"] {
    return this.#manifest.spec;
  }

  get object(): ManagedObject {
    if (!this.#object) throw new TypeError("no object was applied");
    return this.#object;
  }

  /** The lines go on with this object. */
  turnTo(object: ManagedObject): void {
    this.#object = object;
  }

  /** Fields of the example that may be unset. */
  get optional(): string[] {
    const shape = Object.entries(this.kind.spec.shape) as [string, { isOptional(): boolean }][];
    return shape.flatMap(([field, schema]) => (field in this.spec && schema.isOptional() ? [field] : []));
  }

  /** The same for those that an update may send. */
  get editable(): string[] {
    const { resource, modules } = this.kind;
    const members = [...resource.update, ...resource.updateUndocumented, ...Object.keys(modules)];
    return members.length === 0 ? [] : this.optional;
  }

  /** Names of the Secrets that the example reads. */
  get secretNames(): string[] {
    const needs = needsOf(this.kind.spec, this.spec);
    return [...new Set(needs.flatMap((need) => (need.type === "secret" ? [need.name] : [])))];
  }

  /** The Secrets get other values: those of another Secret of the examples where they have to fit each other. */
  changeSecrets(): void {
    for (const name of this.secretNames) this.scene.cluster.setSecret(name, { ...this.#secrets.get(name) });
  }

  removeSecrets(): void {
    for (const name of this.secretNames) this.scene.cluster.removeSecret(name);
  }

  /** Makes what the example refers to. */
  async prepare(): Promise<void> {
    for (const manifest of new Set(referredTo(this.#manifest))) await this.#ready(manifest);
    this.#log = [];
    this.scene.resetCounts();
  }

  /** Makes the examples that refer to this one. */
  async addReferrers(): Promise<void> {
    for (const manifest of documents.filter((one) => refersTo(one, this.#manifest))) {
      for (const needed of new Set(referredTo(manifest))) await this.#ready(needed);
      await this.#ready(manifest);
    }
    this.#log = [];
    this.scene.resetCounts();
  }

  async removeReferrers(): Promise<void> {
    for (const { kind, metadata } of documents.filter((one) => refersTo(one, this.#manifest))) {
      const object = this.scene.cluster.get(kind, "team-a", metadata.name);
      if (!object) continue;
      this.scene.cluster.delete(object);
      await this.scene.settle(object, 2);
    }
  }

  async #ready({ kind, metadata, spec }: Manifest): Promise<void> {
    if (this.scene.cluster.get(kind, "team-a", metadata.name)) return;
    await this.scene.apply(kindOf({ kind }), metadata.name, spec);
  }

  /** Creates or edits the object. Undefined members are taken out of the spec of the example. */
  apply(change: Record<string, unknown> = {}): ManagedObject {
    const spec = Object.entries({ ...this.spec, ...change }).filter(([, value]) => value !== undefined);
    this.#object = this.scene.cluster.apply(this.kind, this.#manifest.metadata.name, Object.fromEntries(spec));
    return this.#object;
  }

  /** Creates the object, and reconciles it until nothing happens. The lines of that are dropped. */
  async given(change: Record<string, unknown> = {}): Promise<void> {
    await this.prepare();
    this.apply(change);
    await this.settle("given");
    if (!this.scene.idOf(this.object)) throw new TypeError(`${this.kind.kind}: ${this.scene.reason(this.object)}`);
    this.lines.length = 0;
  }

  /** The remote of the object, as the account has it. */
  get remote() {
    return this.scene.gateway.remote(this.kind.resource, this.object && this.scene.idOf(this.object));
  }

  /** Reconciles until nothing happens any more, and lets the requeue times pass. */
  async settle(title: string, limit = 4): Promise<void> {
    for (let count = 0; count < limit; count += 1) {
      if (!this.scene.cluster.exists(this.object)) return;
      const before = this.lines.length;
      const seconds = await this.look(count === 0 ? title : "then");
      if (this.lines.length === before || this.lines.at(-1)?.includes(": nothing")) return;
      await this.scene.clock.advance(Math.min(seconds, 60) * 1000);
    }
  }

  /** Reconciles once. Returns after how many seconds the object is due again. */
  async look(title: string): Promise<number> {
    const { scene } = this;
    const before = scene.cluster.now(this.object);
    this.#log = [];
    scene.cluster.events.length = 0;
    const context = scene.contextFor(this.object);
    const result = await this.#passed(reconcile(context, { resyncSeconds: RESYNC_SECONDS }));
    const after = scene.cluster.exists(this.object) ? scene.cluster.now(this.object) : undefined;
    const changes = context.changes.map(({ type, ...more }) => {
      const ids = Object.values(more).filter((value) => typeof value === "string");
      return [
        type,
        ...ids.map((id) => this.#short(id)),
        ...("drifted" in more && more.drifted ? ["drifted"] : []),
      ].join(" ");
    });
    const { conditions = [] } = after?.status ?? {};
    for (const { reason, message } of conditions) this.messages.add(`${reason}: ${message}`);
    for (const { reason, note } of scene.cluster.events) this.messages.add(`${reason}: ${note}`);
    const events = scene.cluster.events.map(({ type, reason, action }) => `${type} ${reason} in ${action}`);
    const parts = [
      counted(this.#log).join(", ") || "nothing",
      changes.length > 0 && `did ${changes.join(", ")}`,
      ...(after ? this.#statusChanges(before.status, after.status) : ["object gone"]),
      events.length > 0 && `events ${events.join(", ")}`,
      resultText(result),
    ];
    this.lines.push(`${title}: ${parts.filter(Boolean).join("; ")}`);
    return "requeueAfterSeconds" in result ? (result.requeueAfterSeconds ?? 1) : 1;
  }

  /** Time passes while a reconcile waits, such as after a 429. */
  async #passed(reconciled: Promise<Result>): Promise<Result> {
    let isDone = false;
    const result = reconciled
      .catch((error: unknown): Result => {
        if (error instanceof Killed) return {};
        throw error;
      })
      .finally(() => {
        isDone = true;
      });
    for (let count = 0; !isDone && count < 300; count += 1) await this.scene.clock.advance(count === 0 ? 0 : 1000);
    return result;
  }

  #statusChanges(before: Status = {}, after: Status = {}): string[] {
    // in an order of their own, since members of JSON have none
    const members = [
      ...SHOWN_WITH_VALUE.union(SHOWN_BY_NAME).union(new Set([before, after].flatMap(Object.keys))),
    ].filter((member) => !isDeepStrictEqual(before[member], after[member]));
    const shown = members.flatMap((member) => this.#memberText(member, after[member]) ?? []);
    const others = members.some(
      (member) => !SHOWN_WITH_VALUE.has(member) && !SHOWN_BY_NAME.has(member) && member !== "conditions",
    );
    const conditions = (after.conditions ?? []).flatMap((condition) => {
      const known = before.conditions?.find(({ type }) => type === condition.type);
      const { lastTransitionTime: _, ...seen } = condition;
      const { lastTransitionTime: __, ...was } = known ?? { lastTransitionTime: "" };
      if (isDeepStrictEqual(seen, was)) return [];
      return [`${condition.type}=${condition.status} ${condition.reason}`];
    });
    const ended = (before.conditions ?? []).filter(
      ({ type }) => !after.conditions?.some((condition) => condition.type === type),
    );
    return [
      [...shown, ...(others ? ["texts"] : [])].join(", "),
      [...conditions, ...ended.map(({ type }) => `no ${type}`)].join(", "),
    ];
  }

  #memberText(member: string, value: unknown): string | undefined {
    if (!SHOWN_WITH_VALUE.has(member) && !SHOWN_BY_NAME.has(member)) return undefined;
    if (value === undefined) return `no ${member}`;
    if (SHOWN_BY_NAME.has(member)) return member;
    if (member === "outputSecret") return value ? member : `${member} none`;
    if (member === "owner") return value ? "owner named" : "owner marked";
    return `${member} ${this.#values(value)}`;
  }

  #values(value: unknown): string {
    if (typeof value === "string") return this.#short(value);
    if (Array.isArray(value)) return value.map((one) => this.#values(one)).join(" and ");
    if (typeof value === "object" && value !== null) return Object.values(value).join(" and ");
    return String(value);
  }

  /** A number in place of an id, in the order in which ids come up. */
  #short(id: string): string {
    if (!/^[a-z]+_/.test(id)) return id;
    const known = this.#ids.get(id) ?? `#${this.#ids.size + 1}`;
    this.#ids.set(id, known);
    return known;
  }
}

/** Equal entries in a row are one, with their number. */
function counted(entries: readonly string[]): string[] {
  const runs: { entry: string; count: number }[] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.entry === entry) last.count += 1;
    else runs.push({ entry, count: 1 });
  }
  return runs.map(({ entry, count }) => (count > 1 ? `${count} x ${entry}` : entry));
}

function resultText(result: Result): string {
  if ("stale" in result) return "stale";
  if ("when" in result) return "postponed";
  if ("backoff" in result)
    return `backoff${result.atLeastSeconds === undefined ? "" : ` from ${result.atLeastSeconds} s`}`;
  const { requeueAfterSeconds: seconds } = result;
  return seconds === undefined ? "" : `again after ${Math.round(seconds * 10) / 10} s`;
}
