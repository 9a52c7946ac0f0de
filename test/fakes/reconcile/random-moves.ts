import { isDeleting, type ManagedObject, nameOf, releasedTo } from "../../../src/objects/object.ts";
import { ownerMarkOf } from "../../../src/objects/ownership.ts";
import { annotations } from "../../../src/schema/contract.ts";
import { isOurMark, type Subject, subjects } from "./random-subjects.ts";
import type { Scene } from "./scene.ts";

/** The subjects whose remotes move between objects: those that are found by their owner mark. */
const moved = subjects.filter(({ name }) => name === "policy" || name === "group");

/** Moves a remote from one object of a pair to the other and back: `team-a/policy` and `team-c/heir-policy`. */
export class Moves {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** `to`: the object that gets the remote. `says`: which of the two objects has the annotation or spec for it. */
  begin(one: Subject, to: "heir" | "subject", says: "both" | "giver" | "taker"): void {
    const [giver, taker] = this.#pair(one, to);
    const id = giver?.status?.id;
    if (!moved.includes(one) || !giver || id === undefined || isDeleting(giver) || taker) return;
    const { cluster } = this.#scene;
    const [namespace, name] =
      to === "heir" ? (["team-c", `heir-${one.name}`] as const) : (["team-a", one.name] as const);
    if (says !== "taker") cluster.annotateByHand(giver, annotations.releaseTo, `${namespace}/${name}`);
    const spec = { ...giver.spec, adopt: { id, from: nameOf(giver) } };
    if (says !== "giver") cluster.apply(one.kind, name, spec, { namespace });
  }

  /** Deletes the object that gives the remote away. The deletion waits until the other object has taken it. */
  finish(one: Subject): void {
    for (const giver of this.#givers(one))
      if (this.#takerOf(one, giver) && !isDeleting(giver)) this.#scene.cluster.delete(giver);
  }

  /** A person completes the moves that have begun, and cancels the others. */
  settle(): void {
    const { cluster } = this.#scene;
    for (const one of moved) {
      for (const giver of this.#givers(one).filter((object) => !isDeleting(object))) {
        if (this.#isTaken(one, giver)) cluster.delete(giver);
        else cluster.removeAnnotation(giver, annotations.releaseTo);
      }
      const waiting = this.objectsOf(one).filter(({ spec, status }) => spec.adopt && status?.id === undefined);
      for (const taker of waiting) if (!isDeleting(taker)) cluster.delete(taker);
    }
  }

  #isTaken(one: Subject, giver: ManagedObject): boolean {
    const taker = this.#takerOf(one, giver);
    const id = taker && !isDeleting(taker) ? taker.status?.id : undefined;
    return id !== undefined && id === giver.status?.id;
  }

  heirOf = (one: Subject): ManagedObject | undefined =>
    this.#scene.cluster.get(one.kind.kind, "team-c", `heir-${one.name}`);

  get heirs(): { subject: Subject; object: ManagedObject }[] {
    return moved.flatMap((subject) => {
      const object = this.heirOf(subject);
      return object ? [{ subject, object }] : [];
    });
  }

  objectsOf(one: Subject): ManagedObject[] {
    return [this.#subjectOf(one), this.heirOf(one)].filter((object) => object !== undefined);
  }

  /** Ids of the remotes that are marked for the heir. */
  remotesOfHeir = ({ kind, name }: Subject): string[] =>
    this.#scene.gateway
      .remotesOf(kind.resource)
      .filter((remote) => isOurMark(ownerMarkOf(remote), `team-c/heir-${name}`))
      .map(({ id }) => id);

  /** Whether the heir holds this remote: no other object has it, or the owner mark names the heir. */
  holds(one: Subject, id: string): boolean {
    const [subject, heir] = [this.#subjectOf(one), this.heirOf(one)];
    if (heir?.status?.id !== id) return false;
    if (subject?.status?.id !== id || releasedTo(subject) === nameOf(heir)) return true;
    return releasedTo(heir) === undefined && this.#hasMark(one, heir, id);
  }

  /** Why the heir may not change this remote; undefined if it may. */
  fault(one: Subject, verb: "update" | "delete", id: string): string | undefined {
    const [subject, heir] = [this.#subjectOf(one), this.heirOf(one)];
    if (!heir) return "there is no heir";
    if (releasedTo(heir) !== undefined) return "the heir has released it";
    if (verb === "delete" && !isDeleting(heir)) return "the heir stays";
    if (this.holds(one, id)) return undefined;
    if (verb === "update" && this.#isGiven(id, subject, heir)) return undefined;
    return subject?.status?.id === id || (subject && this.#hasMark(one, subject, id))
      ? "it is that of the subject"
      : undefined;
  }

  /** Why the subject may not change this remote because of the heir; undefined if it may. */
  faultOfSubject(one: Subject, verb: "update" | "delete", id: string): string | undefined {
    const [subject, heir] = [this.#subjectOf(one), this.heirOf(one)];
    if (!heir || !this.holds(one, id)) return undefined;
    return verb === "update" && this.#isGiven(id, heir, subject) ? undefined : `${heir.metadata.name} has it`;
  }

  /** Whether both objects agree that the remote moves, so that the one that gets it may update it. */
  #isGiven = (id: string, giver: ManagedObject | undefined, taker: ManagedObject | undefined): boolean =>
    giver?.status?.id === id &&
    taker?.spec.adopt?.id === id &&
    releasedTo(giver) === nameOf(taker) &&
    taker.spec.adopt.from === nameOf(giver);

  #pair(one: Subject, to: "heir" | "subject"): [ManagedObject | undefined, ManagedObject | undefined] {
    const [subject, heir] = [this.#subjectOf(one), this.heirOf(one)];
    return to === "heir" ? [subject, heir] : [heir, subject];
  }

  #subjectOf = (one: Subject): ManagedObject | undefined => this.#scene.cluster.get(one.kind.kind, "team-a", one.name);

  #givers = (one: Subject): ManagedObject[] =>
    moved.includes(one) ? this.objectsOf(one).filter((object) => releasedTo(object) !== undefined) : [];

  #takerOf = (one: Subject, giver: ManagedObject): ManagedObject | undefined =>
    this.objectsOf(one).find((object) => nameOf(object) === releasedTo(giver));

  #hasMark(one: Subject, object: ManagedObject, id: string): boolean {
    const mark = ownerMarkOf(this.#scene.gateway.remote(one.kind.resource, id) ?? {});
    return isOurMark(mark, nameOf(object));
  }
}
