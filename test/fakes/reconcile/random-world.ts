import { expect } from "vitest";
import { HTTPSEdgeRoute } from "../../../src/kinds/https-edge-route.ts";
import { IPPolicy } from "../../../src/kinds/ip-policy.ts";
import { TCPEdge } from "../../../src/kinds/tcp-edge.ts";
import { TLSCertificate } from "../../../src/kinds/tls-certificate.ts";
import { openCreateOf } from "../../../src/objects/intent.ts";
import { isDeleting, isReleased, type ManagedObject, releasedTo, retiringIDs } from "../../../src/objects/object.ts";
import { isRetainedByPolicy } from "../../../src/objects/origin.ts";
import { ownerMark } from "../../../src/objects/ownership.ts";
import { FINALIZER } from "../../../src/schema/contract.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { settle } from "../runtime/virtual-clock.ts";
import type { Call, FakeRemote } from "./fake-gateway.ts";
import { keyPairs } from "./key-pairs.ts";
import { ownerIn } from "./owner-in.ts";
import { Backups } from "./random-backups.ts";
import { Faults, Killed, LATEST_MS } from "./random-faults.ts";
import { Keys } from "./random-keys.ts";
import { Moves } from "./random-moves.ts";
import { type Player, Rivals } from "./random-rivals.ts";
import type { Step } from "./random-steps.ts";
import { opaque, resources, type Subject, subjects } from "./random-subjects.ts";
import { Scene } from "./scene.ts";

/** The situations that have occurred at least once, over all runs. */
export const happened = new Set<string>();

/** Whether a remote may stay when its object is deleted: the next object of this name finds it again. */
const mayStay = ({ foundBy, kind }: Subject): boolean => foundBy === "mark" && kind.replacement === undefined;

export interface WorldOptions {
  /** Whether lists leave out the owner marks. */
  listsHideMarks: boolean;
  /** What shows the one remote that is always recorded. Default: a list. */
  anchoredBy?: "list" | "module";
}

/** A few objects, remotes of others in the same account, and invariants of both that hold after every step. */
export class World {
  readonly scene: Scene = new Scene({ keyNow: () => this.#keys.now() });
  readonly #keys = new Keys(this.scene);
  readonly #mishaps = new Faults(this.scene);
  readonly #moves = new Moves(this.scene);
  readonly #backups = new Backups(this.scene);
  readonly #rivals = new Rivals(this.scene);
  /** Who is being reconciled: a player, the heir, or undefined for a subject. */
  #acting: Player | "heir" | undefined;
  readonly #others: { kind: Kind; remote: FakeRemote }[];
  /** The subject of each remote, also after the remote is deleted. */
  readonly #owners = new Map<string, Subject>();
  readonly #faults: string[] = [];
  readonly #drifts = new Map<string, number>();
  #rotations = 0;

  readonly #options: WorldOptions;

  constructor(options: WorldOptions) {
    this.#options = options;
    if (options.listsHideMarks) this.scene.gateway.unlisted.add("metadata");
    // After a restart, the first list of each resource counts as well.
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
    this.#keys.strange.beforeCall = ({ verb, id = "" }) => {
      happened.add("asked another account");
      if (verb !== "get" && verb !== "list" && verb !== "getModule")
        this.#faults.push(`${verb} ${id} in another account`);
    };
  }

  /** Creates these subjects. The remotes of others are older, since some are told apart only by their creation time. */
  async begin(there: readonly number[]): Promise<void> {
    await this.scene.clock.advance(3_600_000);
    // Some id is always recorded. Otherwise any key would be accepted.
    await this.#reconcileIn(this.scene, this.#anchor());
    for (const index of there) this.#apply(subjects[index] as Subject, 0);
    // Two rounds, because the edge may be reconciled before its policy.
    for (let round = 0; round < 2; round += 1) await this.#everything();
    this.#check();
    await this.scene.clock.advance(1);
  }

  #anchor(): ManagedObject {
    const { gateway, cluster } = this.scene;
    if (this.#options.anchoredBy !== "module") return cluster.apply(IPPolicy, "anchor");
    const { id: routeId } = gateway.seed(HTTPSEdgeRoute.resource, {});
    const webhookVerification = { enabled: true, provider: "sns" };
    return cluster.apply(HTTPSEdgeRoute, "anchor", { edgeId: "edghts_1", routeId, webhookVerification });
  }

  async run(step: Step): Promise<void> {
    await this.#do(step);
    happened.add(step.do);
    this.#check();
    await this.scene.clock.advance(1);
  }

  /** Lets the operator work until it has finished. Nobody else acts. */
  async calmDown(): Promise<void> {
    this.#mishaps.end();
    this.#keys.correct();
    // Waits longer than an interrupted create may take.
    for (let round = 0; round < 3; round += 1) await this.#waitRound(40);
    this.#moves.settle();
    for (let round = 0; round < 3; round += 1) await this.#waitRound(40);
    this.#settleReferences();
    this.#deleteConflicting();
    await this.#waitRound(30);
    // The edge may refer to a policy that was deleted just now.
    this.#settleReferences();
    // The deletion of a replaced remote is postponed for minutes after each refusal.
    for (let round = 0; round < 16; round += 1) {
      await this.#waitRound(round < 4 ? 30 : 600);
      this.#dropRetained();
    }
  }

  /**
   * Reconciles and lists everything, and then lets this time pass. A person gives each confirmation that the operator
   * asks for.
   */
  async #waitRound(seconds: number): Promise<void> {
    await this.#everything();
    this.#confirmLoss();
    await this.#resync();
    this.#check();
    await this.scene.clock.advance(seconds * 1000);
  }

  /** A person deletes the objects that report that their remotes belong to others. */
  #deleteConflicting(): void {
    const objects = subjects.flatMap((one) => this.#moves.objectsOf(one));
    for (const object of objects.filter((one) => this.scene.reason(one).startsWith("OwnershipConflict"))) {
      happened.add("ended in a conflict");
      this.#noteOwners();
      this.scene.cluster.delete(object);
    }
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
      if (one.foundBy === "mark") this.#expectMark(remote, object);
    }
    for (const { subject, object } of this.#moves.heirs) {
      happened.add("moved");
      expect(isDeleting(object), `the heir of ${subject.name} is gone`).toBe(false);
      expect(this.scene.reason(object), `the heir of ${subject.name}`).toMatch(/^Available/);
      const remote = this.scene.gateway.remote(subject.kind.resource, object.status?.id ?? "");
      expect(remote?.["description"]).toBe(object.spec.description);
      this.#expectMark(remote, object);
    }
    this.#expectOthersUntouched();
  }

  #expectMark(remote: FakeRemote | undefined, { metadata: { namespace, name } }: ManagedObject): void {
    expect(ownerIn(remote ?? {})).toBe(ownerMark({ cluster: this.scene.clusterID, namespace, name }));
  }

  /** Asserts that no remote of deleted objects is left, except those that are retained. */
  expectNoLeftovers(): void {
    for (const one of subjects) {
      const left = this.#remotesOf(one).filter(({ id }) => !this.#retained.has(id));
      if (!this.#object(one)) expect(left, one.name).toEqual([]);
      const heir = this.#moves.heirOf(one);
      const isLeft = (id: string) => id === heir?.status?.id || !this.#retained.has(id);
      const heirs = this.#moves.remotesOfHeir(one).filter(isLeft);
      expect(heirs, `the heir of ${one.name}`).toEqual(heir ? [heir.status?.id] : []);
    }
  }

  /** Ids of remotes that were retained and that no object has adopted since. */
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
    this.#dropRetained();
  }

  /** A person deletes retained edges for which a policy that is being deleted waits. */
  #dropRetained(): void {
    const edge = subjects.find(({ name }) => name === "edge") as Subject;
    if (this.#object(edge)) return;
    for (const { id } of this.#remotesOf(edge)) {
      if (this.#retained.has(id)) this.scene.gateway.drop(edge.kind.resource, id);
    }
  }

  #do(step: Step): Promise<void> | void {
    const act = this.#actions[step.do] ?? (() => this.scene.clock.advance((step.seconds ?? 1) * 1000));
    return act(this.#chosen(step), step);
  }

  /** What a step does to its subject. */
  readonly #actions: Record<string, (one: Subject, step: Step) => Promise<void> | void> = {
    apply: (one, { variant = 0 }) => this.#apply(one, variant),
    delete: (one, { retain }) => this.#delete(one, retain === true && mayStay(one)),
    reconcile: (one) => this.#reconcile(one),
    everything: () => this.#everything(),
    drift: (one) => this.#drift(one),
    drop: (one) => this.#drop(one),
    rotate: () => this.#rotate(),
    resync: () => this.#resync(),
    restore: (one) => this.#restore(one),
    fault: (_, { verb = "get", how = "lost" }) => this.#mishaps.plan(verb, how),
    kill: (_, { write = "annotate" }) => this.#mishaps.killAt(write),
    refuse: (_, { write = "annotate", times = 1 }) => this.#mishaps.refuse(write, times),
    arrive: () => this.#arrive(),
    restart: () => this.#restart(),
    rival: (one, { player = "namespace", observes = false, elsewhere = false }) =>
      elsewhere ? this.#wantElsewhere(one, observes) : this.#want(one, player, observes),
    "end rivals": (_, { player = "namespace" }) => this.#rivals.end(player),
    move: (one, { to = "heir", says = "both" }) => this.#moves.begin(one, to, says),
    "finish move": (one) => this.#moves.finish(one),
    "end heir": (one) => this.#endHeir(one),
    "change cluster id": () => this.#changeClusterID(),
    "swap key": (_, { wrong = true, times = 0 }) => this.#keys.plan(wrong, times),
    "back up": () => this.#backups.take(),
    "restore backup": (one) => this.#restoreBackup(one),
  };

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

  #remotesOf(one: Subject): FakeRemote[] {
    const { kind, isOurs } = one;
    const ours = this.scene.gateway.remotesOf(kind.resource).filter(isOurs);
    // A remote that a rival has taken over carries the old mark until the rival's first update succeeds.
    return ours.filter(({ id }) => !this.#isOther(id) && !this.#isHeldByAnother(one, id));
  }

  #isHeldByAnother = (one: Subject, id: string): boolean => this.#rivals.holds(one, id) || this.#moves.holds(one, id);

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
    for (const { id } of this.#remotesOf(one)) if (!mayKnow(object, id)) this.#retained.add(id);
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
    for (const { object } of this.#moves.heirs) {
      this.#acting = "heir";
      await this.#reconcileIn(this.scene, object);
      this.#acting = undefined;
    }
  }

  #arrive(): void {
    if (this.#mishaps.arrive()) happened.add("arrived late");
  }

  #endHeir(one: Subject): void {
    const heir = this.#moves.heirOf(one);
    if (heir && !isDeleting(heir)) this.scene.cluster.delete(heir);
  }

  #clusterIDs = 1;

  /** Limited to a few times: the operator stops correcting marks that change again and again. */
  #changeClusterID(): void {
    if (this.#clusterIDs > 2) return;
    this.#clusterIDs += 1;
    this.scene.changeClusterID(`c1-${this.#clusterIDs}`);
  }

  /** The restore takes longer than a create may be under way. */
  async #restoreBackup(one: Subject): Promise<void> {
    if (!this.#backups.has(one)) return;
    this.#arrive();
    await this.scene.clock.advance(LATEST_MS);
    this.#backups.restore(one);
    this.scene.restart();
    happened.add("restored a backup");
  }

  #restart(): void {
    this.scene.restart();
    this.#rivals.restart();
  }

  #want(one: Subject, player: Player, observes: boolean): void {
    const [remote] = this.#remotesOf(one);
    if (remote) this.#rivals.want(player, one, remote.id, observes);
  }

  /** Another namespace wants a remote that only the account of the wrong key has. */
  #wantElsewhere(one: Subject, observes: boolean): void {
    const isThere = this.#rivals.objects.some(({ object }) => object.kind === one.kind.kind);
    const unmarked = this.#keys.strange.remotesOf(one.kind.resource).find(({ metadata }) => metadata === opaque);
    if (isThere || !unmarked) return;
    happened.add("wanted what another account has");
    this.#rivals.want("namespace", one, unmarked.id, observes);
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
    // The promise is awaited further down, and must not be an unhandled rejection until then.
    done.catch(() => undefined);
    for (await settle(); !over; await settle()) await this.scene.clock.advance(500);
    await done;
  }

  /**
   * Restores the object from a backup without status, and restarts the process. Only the lost status named the replaced
   * remotes that wait for their deletion, and the one that a create is to replace, so they stay, and an event names them.
   */
  #restore(one: Subject): void {
    const object = this.#object(one);
    if (!object || isDeleting(object) || one.foundBy === "status" || retiringIDs(object.status).length > 0) return;
    if (one.kind.replacement && object.status?.id !== undefined && openCreateOf(object) !== undefined) return;
    this.scene.cluster.loseStatus(object);
    this.scene.restart();
  }

  /**
   * Checks a call right before it is carried out. Collects faults, since the operator would handle an error thrown
   * here.
   */
  #checkCall({ verb, resource, body, id }: Call): void {
    if (verb === "create") this.#mishaps.created(resource, body);
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
    const fault = one && this.#moves.faultOfSubject(one, verb, id);
    if (fault) this.#faults.push(`${verb} ${id}: ${fault}`);
    if (!object) this.#faults.push(`${verb} ${id}, which belongs to no object of ours`);
    else if (isReleased(object)) this.#faults.push(`${verb} ${id}, which its object has released`);
    else if (!object.metadata.finalizers?.includes(FINALIZER)) this.#faults.push(`${verb} ${id} without a finalizer`);
    else if (verb === "delete" && !isDeleting(object) && !this.#isOutdated(one, id))
      this.#faults.push(`delete ${id}, whose object stays`);
  }

  #checkRival(player: Player | "heir", verb: "update" | "delete", id: string): void {
    const one = this.#owners.get(id);
    const fault = one ? this.#faultOf(player, one, verb, id) : "it belongs to others";
    if (fault) this.#faults.push(`${verb} by another ${player}: ${fault}`);
    happened.add(`${verb} by another ${player}`);
  }

  #faultOf(player: Player | "heir", one: Subject, verb: "update" | "delete", id: string): string | undefined {
    if (player === "heir") return this.#moves.fault(one, verb, id);
    return this.#moves.holds(one, id) ? `it is that of the heir of ${one.name}` : this.#rivals.fault(player, one, id);
  }

  /** Whether this policy exists and an edge in the account refers to it. */
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
    for (const { subject, object } of this.#moves.heirs) {
      const remote = this.scene.gateway.remote(subject.kind.resource, object.status?.id ?? "");
      this.#noteRetained(object, remote ? [remote] : []);
    }
  }

  #noteRetained(object: ManagedObject, remotes: readonly FakeRemote[]): void {
    if (!isDeleting(object)) this.#retained.delete(object.status?.id ?? "");
    // Includes remotes that an interrupted create makes meanwhile.
    else if (isRetainedByPolicy(object) || releasedTo(object) !== undefined)
      for (const { id } of remotes) this.#retained.add(id);
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
      // A replacement may not be in the status yet, and earlier remotes may still wait for their deletion.
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

/**
 * Whether an object may delete a remote of its own mark. One that was restored from a backup does not know what was
 * created after that.
 */
const mayKnow = (object: ManagedObject, id: string): boolean =>
  openCreateOf(object) !== undefined || [object.status?.id, ...retiringIDs(object.status)].includes(id);
