import { expect } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { isDeleting, type ManagedObject, retiringIDs } from "../../objects/object.ts";
import { isRetained } from "../../objects/origin.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import { settle } from "../../runtime/testing/virtual-clock.ts";
import { FINALIZER } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import type { Call, FakeRemote } from "./fake-gateway.ts";
import { keyPairs } from "./key-pairs.ts";
import { type Player, Rivals } from "./random-rivals.ts";
import type { faults, Step, verbs, writes } from "./random-steps.ts";
import { opaque, resources, type Subject, subjects } from "./random-subjects.ts";
import { DEADLINE_MS, Scene } from "./scene.ts";

/** The process died in the middle of a reconcile. */
class Killed extends Error {}

/** A create whose answer the operator no longer waits for, and which the service may carry out before `until`. */
interface Late {
  kind: Kind;
  body: Record<string, unknown>;
  until: number;
}

/** A service may carry out a request a little later than the operator's deadline for it. */
const LATEST_MS = DEADLINE_MS + 4000;

/** What has happened at least once in all runs. */
export const happened = new Set<string>();

/** A few objects, remotes of others in the same account, and what must be true of both after every step. */
export class World {
  /** The faults that are planned for the next creates. */
  readonly #planned: string[] = [];
  #late: Late[] = [];
  readonly scene = new Scene();
  readonly #rivals = new Rivals(this.scene);
  /** Whose object is reconciled at the moment; undefined: a subject. */
  #acting: Player | undefined;
  readonly #others: { kind: Kind; remote: FakeRemote }[];
  /** The subject of each remote, also after the remote is deleted. */
  readonly #owners = new Map<string, Subject>();
  readonly #faults: string[] = [];
  readonly #drifts = new Map<string, number>();
  #rotations = 0;

  constructor() {
    // A restarted scene counts the first list of each resource as well.
    this.scene.restart();
    this.#rotate();
    const { gateway } = this.scene;
    this.#others = resources.flatMap((kind) =>
      ['{"tunnelgateway.dev/owner":"c2/team-a/policy"}', opaque].map((metadata) => {
        const members = { description: "words 0", metadata, domain: `${metadata.length}.example.com` };
        return { kind, remote: gateway.seed(kind.resource, members) };
      }),
    );
    gateway.beforeCall = (call) => this.#checkCall(call);
  }

  /**
   * Creates these subjects. The remotes of others are older, since some can only be told apart by their creation time.
   */
  async begin(there: readonly number[]): Promise<void> {
    await this.scene.clock.advance(3_600_000);
    for (const index of there) this.#apply(subjects[index] as Subject, 0);
    // Twice, because the edge may come before its policy.
    for (let round = 0; round < 2; round += 1) await this.#everything();
    this.#check();
    await this.scene.clock.advance(1);
  }

  async run(step: Step): Promise<void> {
    await this.#do(step);
    happened.add(step.do);
    this.#check();
    await this.scene.clock.advance(1);
  }

  /** Lets the operator work until it has finished. Nobody else does anything. */
  async calmDown(): Promise<void> {
    this.scene.cluster.beforeWrite = () => {};
    // Longer than an interrupted create may be under way.
    for (let round = 0; round < 3; round += 1) await this.#waitRound(40);
    this.#settleReferences();
    // The deletion of a replaced remote is postponed for minutes after each refusal.
    for (let round = 0; round < 16; round += 1) await this.#waitRound(round < 4 ? 30 : 600);
  }

  /** Reconciles and lists everything, and then lets this time pass. A person confirms what the operator asks about. */
  async #waitRound(seconds: number): Promise<void> {
    await this.#everything();
    this.#confirmLoss();
    await this.#resync();
    this.#check();
    await this.scene.clock.advance(seconds * 1000);
  }

  #confirmLoss(): void {
    const { lossGuard } = this.scene.account;
    if (!lossGuard.isSuspected) return;
    happened.add("confirmed a loss");
    for (const requested of ["before", "after"]) lossGuard.confirm("", requested);
  }

  expectAgreement(): void {
    for (const { reason, action } of this.scene.cluster.events) happened.add(`${action}: ${reason}`);
    for (const one of subjects) {
      const object = this.#object(one);
      const remotes = this.#remotesOf(one);
      if (!object) continue;
      expect(isDeleting(object), `${one.name} is gone`).toBe(false);
      expect(this.scene.reason(object), one.name).toMatch(/^Available/);
      const [remote] = remotes;
      expect(
        remotes.map(({ id }) => id),
        one.name,
      ).toEqual([object.status?.id]);
      const { description } = object.spec;
      if (description) expect(remote?.["description"], one.name).toBe(description);
    }
    this.#expectOthersUntouched();
  }

  /** No remote is left of objects that are deleted, except those to be retained. */
  expectNoLeftovers(): void {
    for (const one of subjects) {
      const left = this.#remotesOf(one).filter(({ id }) => !this.#retained.has(id));
      if (!this.#object(one)) expect(left, one.name).toEqual([]);
    }
  }

  /** Ids of remotes that were retained and not adopted again. */
  readonly #retained = new Set<string>();

  /** Ends a wait that needs a user: a policy waits for the edge that refers to it, or an edge for its policy. */
  #settleReferences(): void {
    const [policy, edge] = ["policy", "edge"].map((wanted) => subjects.find(({ name }) => name === wanted)) as [
      Subject,
      Subject,
    ];
    const [there, user] = [this.#object(policy), this.#object(edge)];
    if (user && !isDeleting(user)) {
      if (!there) this.#apply(policy, 0);
      else if (isDeleting(there)) this.#delete(edge, false);
    }
    // The object may end at once, and leave what an earlier one retained.
    if (!this.#object(edge)) this.#dropRetained(edge);
  }

  /** A policy that is being deleted waits for an edge that was retained. */
  #dropRetained(edge: Subject): void {
    for (const { id } of this.#remotesOf(edge)) {
      if (this.#retained.has(id)) this.scene.gateway.drop(edge.kind.resource, id);
    }
  }

  #do(step: Step): Promise<void> | void {
    const one = this.#chosen(step);
    switch (step.do) {
      case "apply":
        return this.#apply(one, step.variant ?? 0);
      case "delete":
        return this.#delete(one, step.retain === true && one.foundBy === "mark" && one.kind.replacement === undefined);
      case "reconcile":
        return this.#reconcile(one);
      case "everything":
        return this.#everything();
      case "drift":
        return this.#drift(one);
      case "drop":
        return this.#drop(one);
      case "rotate":
        return this.#rotate();
      case "resync":
        return this.#resync();
      case "restore":
        return this.#restore(one);
      case "fault":
        return this.#fault(step.verb ?? "get", step.how ?? "lost");
      case "kill":
        return this.#killAt(step.write ?? "annotate");
      case "refuse":
        return this.#refuse(step.write ?? "annotate", step.times ?? 1);
      case "arrive":
        return this.#arrive();
      case "restart":
        return this.#restart();
      case "rival":
        return this.#want(one, step.player ?? "namespace");
      case "end rivals":
        return this.#rivals.end(step.player ?? "namespace");
      default:
        return this.scene.clock.advance((step.seconds ?? 1) * 1000);
    }
  }

  /** The subject of the step or, for steps that need a remote, the next subject that has one. */
  #chosen({ do: what, subject: first = 0 }: Step): Subject {
    const [one] = [...subjects.slice(first), ...subjects] as [Subject, ...Subject[]];
    if (!["delete", "drift", "drop", "restore"].includes(what)) return one;
    const rest = [...subjects.slice(first), ...subjects.slice(0, first)];
    return rest.find((each) => this.#object(each)?.status?.id !== undefined) ?? one;
  }

  #object({ kind, name }: Subject): ManagedObject | undefined {
    return this.scene.cluster.get(kind.kind, "team-a", name);
  }

  #remotesOf({ kind, isOurs }: Subject): FakeRemote[] {
    const ours = this.scene.gateway.remotesOf(kind.resource).filter(isOurs);
    // What a rival has taken over bears the old mark until the rival's first update succeeds.
    return ours.filter(({ id }) => !this.#isOther(id) && !this.#rivals.hold(id));
  }

  #isOther = (id: string): boolean => this.#others.some(({ remote }) => remote.id === id);

  #apply(one: Subject, variant: number): void {
    const object = this.#object(one);
    if (object && isDeleting(object)) return;
    this.scene.cluster.apply(one.kind, one.name, one.spec(variant));
  }

  #delete(one: Subject, retain: boolean): void {
    const object = this.#object(one);
    if (!object || isDeleting(object)) return;
    if (retain) this.scene.cluster.apply(one.kind, one.name, { ...object.spec, deletionPolicy: "Retain" });
    this.scene.cluster.delete(object);
    this.#noteOwners();
  }

  async #reconcile(one: Subject): Promise<void> {
    const object = this.#object(one);
    if (object) await this.#reconcileIn(this.scene, object);
  }

  async #reconcileIn(scene: Scene, object: ManagedObject): Promise<void> {
    try {
      await this.#inTime(scene.reconcile(object));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      happened.add("killed");
      this.scene.cluster.beforeWrite = () => {};
      this.#restart();
    }
  }

  async #everything(): Promise<void> {
    for (const one of subjects) await this.#reconcile(one);
    for (const { player, scene, object } of this.#rivals.objects) {
      this.#acting = player;
      await this.#reconcileIn(scene, object);
      this.#acting = undefined;
    }
  }

  #restart(): void {
    this.scene.restart();
    this.#rivals.restart();
  }

  #want(one: Subject, player: Player): void {
    const [remote] = this.#remotesOf(one);
    if (remote) this.#rivals.want(player, one, remote.id);
  }

  /** At most twice for each subject, so that the operator does not give up, and only once the status has the id. */
  #drift(one: Subject): void {
    const count = (this.#drifts.get(one.name) ?? 0) + 1;
    const id = this.#object(one)?.status?.id;
    const remote = this.#remotesOf(one).find((each) => each.id === id);
    if (!remote || count > 2 || one.kind === TLSCertificate) return;
    this.#drifts.set(one.name, count);
    happened.add("drifted");
    this.scene.gateway.change(one.kind.resource, remote.id, { description: "drifted" });
  }

  #drop(one: Subject): void {
    if (this.#remotesOf(one).length > 0) happened.add("dropped");
    for (const { id } of this.#remotesOf(one)) this.scene.gateway.drop(one.kind.resource, id);
  }

  #rotate(): void {
    this.#rotations += 1;
    this.scene.cluster.setSecret("tls", keyPairs[this.#rotations % keyPairs.length] ?? {});
  }

  async #resync(): Promise<void> {
    await this.scene.clock.advance(1);
    const { account, clock } = this.scene;
    for (const { resource } of resources) {
      // A planned fault may make this list fail. Then the next list counts.
      await this.#inTime(account.collection(resource).listed(clock.now(), { lane: "sync" })).catch(() => undefined);
    }
  }

  /** Lets time pass until the work is done, since it may wait, for example after a 429. */
  async #inTime(work: Promise<unknown>): Promise<void> {
    let over = false;
    const done = work.finally(() => {
      over = true;
    });
    // It is awaited only below, and must not be an unhandled rejection before.
    done.catch(() => undefined);
    for (await settle(); !over; await settle()) await this.scene.clock.advance(500);
    await done;
  }

  /** Restores the object from a backup without status, under a new process. */
  #restore(one: Subject): void {
    const object = this.#object(one);
    if (!object || isDeleting(object) || one.foundBy === "values") return;
    this.scene.cluster.loseStatus(object);
    this.scene.restart();
  }

  #fault(verb: (typeof verbs)[number], how: (typeof faults)[number]): void {
    const { gateway } = this.scene;
    if (verb === "create") this.#planned.push(how);
    if (how === "lost") gateway.loseAnswer(verb);
    else if (how === "unreadable") gateway.loseAnswer(verb, { kind: "unreadable" });
    else if (how === "swallowed" || how === "late") gateway.swallow(verb);
    else if (how === "unsent") gateway.swallow(verb, "unsent");
    else gateway.refuse(verb, Number(how));
  }

  #killAt(write: (typeof writes)[number]): void {
    this.scene.cluster.beforeWrite = (now) => {
      if (now === write) throw new Killed();
    };
  }

  /** The API server is overloaded and refuses the next writes of this type. */
  #refuse(write: (typeof writes)[number], times: number): void {
    let left = times;
    this.scene.cluster.beforeWrite = (now) => {
      if (now !== write || left === 0) return;
      left -= 1;
      throw new Retry("Pending", "Waiting for the Kubernetes API");
    };
  }

  #arrive(): void {
    for (const { kind, body, until } of this.#late.splice(0)) {
      const { gateway, clock } = this.scene;
      const key = kind.naturalKey;
      const isTaken = key !== undefined && gateway.remotesOf(kind.resource).some((remote) => remote[key] === body[key]);
      if (clock.now() > until || isTaken) continue;
      happened.add("arrived late");
      gateway.seed(kind.resource, body);
    }
  }

  #checkCreate(resource: string, body: Record<string, unknown> = {}): void {
    const kind = resources.find(({ resource: remote }) => remote.name === resource);
    const until = this.scene.clock.now() + LATEST_MS;
    if (this.#planned.shift() === "late" && kind) this.#late.push({ kind, body, until });
  }

  /**
   * Checks a call right before it is carried out. Collects faults, since the operator would handle an error thrown
   * here.
   */
  #checkCall({ verb, resource, body, id }: Call): void {
    if (verb === "create") this.#checkCreate(resource, body);
    if (verb === "create" || verb === "list") return;
    if (!id) this.#faults.push(`${verb} without an id`);
    else if (verb === "update" || verb === "delete") this.#checkChange(verb, id);
  }

  #checkChange(verb: "update" | "delete", id: string): void {
    this.#noteOwners();
    const one = this.#owners.get(id);
    if (verb === "delete" && this.#isNeeded(id)) this.#faults.push(`delete ${id}, which an edge needs`);
    if (this.#acting) {
      this.#checkRival(this.#acting, verb, id);
      return;
    }
    const object = one && this.#object(one);
    if (!object) this.#faults.push(`${verb} ${id}, which belongs to no object of ours`);
    else if (!object.metadata.finalizers?.includes(FINALIZER)) this.#faults.push(`${verb} ${id} without a finalizer`);
    else if (verb === "delete" && !isDeleting(object) && !this.#isOutdated(one, id))
      this.#faults.push(`delete ${id}, whose object stays`);
  }

  #checkRival(player: Player, verb: "update" | "delete", id: string): void {
    const one = this.#owners.get(id);
    const fault = one ? this.#rivals.fault(player, one, id) : "it belongs to others";
    if (fault) this.#faults.push(`${verb} by another ${player}: ${fault}`);
    happened.add(`${verb} by another ${player}`);
  }

  /** Whether this policy exists and the restriction of any edge in the account has it in it. */
  #isNeeded(id: string): boolean {
    const { gateway } = this.scene;
    if (!gateway.remote(IPPolicy.resource, id)) return false;
    const restrictions = gateway.remotesOf(TCPEdge.resource).map((edge) => edge["ip_restriction"]);
    return restrictions.some((restriction) => JSON.stringify(restriction ?? "").includes(`"${id}"`));
  }

  #noteOwners(): void {
    for (const one of subjects) {
      const remotes = this.#remotesOf(one);
      for (const { id } of remotes) this.#owners.set(id, one);
      const object = this.#object(one);
      if (object) this.#noteRetained(object, remotes);
    }
  }

  #noteRetained(object: ManagedObject, remotes: readonly FakeRemote[]): void {
    if (!isDeleting(object)) this.#retained.delete(object.status?.id ?? "");
    // Also remotes that an interrupted create makes meanwhile.
    else if (isRetained(object)) for (const { id } of remotes) this.#retained.add(id);
  }

  /** Whether a remote was replaced, or no longer exists. */
  #isOutdated(one: Subject, id: string): boolean {
    const remotes = this.#remotesOf(one);
    return (
      remotes.every((remote) => remote.id !== id) || (one.kind.replacement === "CreateFirst" && remotes.length > 1)
    );
  }

  #check(): void {
    this.#noteOwners();
    expect(this.#faults).toEqual([]);
    for (const one of subjects) {
      // A replacement that was created may not be in the status yet, and those before may wait for their deletion.
      const most = one.kind === TLSCertificate ? 2 + retiringIDs(this.#object(one)?.status).length : 1;
      expect(this.#remotesOf(one).length, `remotes of ${one.name}`).toBeLessThanOrEqual(most);
    }
    this.#expectOthersUntouched();
  }

  #expectOthersUntouched(): void {
    for (const { kind, remote } of this.#others)
      expect(this.scene.gateway.remote(kind.resource, remote.id)).toEqual(remote);
  }
}
