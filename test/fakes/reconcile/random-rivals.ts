import { hasOwnID, isDeleting, isObserveOnly, type ManagedObject } from "../../../src/objects/object.ts";
import { ownerMarkOf } from "../../../src/objects/ownership.ts";
import { isOurMark, type Subject, subjects } from "./random-subjects.ts";
import { Scene } from "./scene.ts";

/** The owner of the rival object: a second namespace of the cluster, or a second cluster. */
export const players = ["namespace", "cluster"] as const;
export type Player = (typeof players)[number];

/**
 * The subjects whose remotes rivals want: those that are found by their owner mark, and whose deletion nothing waits
 * for.
 */
const wanted = subjects.filter(({ name }) => name === "policy" || name === "group");

/** Objects of others that adopt remotes of the subjects, and delete them when they are deleted. */
export class Rivals {
  readonly #scenes: Readonly<Record<Player, Scene>>;

  constructor(scene: Scene) {
    this.#scenes = { namespace: scene, cluster: new Scene({ beside: scene, clusterID: "c2" }) };
    this.restart();
  }

  /** Restarts the process of the second cluster. The second namespace shares the process of the first. */
  restart(): void {
    this.#scenes.cluster.restart();
  }

  /** `observes`: the rival only observes the remote at first. */
  want(player: Player, subject: Subject, id: string, observes: boolean): void {
    if (!wanted.includes(subject)) return;
    const object = this.#object(player, subject);
    if (object && isDeleting(object)) return;
    const managementPolicy = observes ? "ObserveOnly" : "Full";
    const spec = { adopt: { id }, deletionPolicy: "Delete", managementPolicy } as const;
    this.#scenes[player].cluster.apply(subject.kind, this.#nameOf(subject), spec, { namespace: "team-b" });
  }

  end(player: Player): void {
    for (const { object } of this.objects.filter((one) => one.player === player && !isDeleting(one.object)))
      this.#scenes[player].cluster.delete(object);
  }

  get objects(): { player: Player; scene: Scene; object: ManagedObject }[] {
    return players.flatMap((player) =>
      wanted.flatMap((subject) => {
        const object = this.#object(player, subject);
        return object ? [{ player, scene: this.#scenes[player], object }] : [];
      }),
    );
  }

  /** Whether a rival holds the remote: no other object has it, or the owner mark names the rival. */
  holds = (subject: Subject, id: string): boolean =>
    this.objects.some(({ player, object }) => hasOwnID(object, id) && !this.#isOfSubject(player, subject, id));

  /** Why a rival may not change this remote; undefined if it may. */
  fault(player: Player, subject: Subject, remoteID: string): string | undefined {
    const { gateway } = this.#scenes.namespace;
    const object = this.#object(player, subject);
    if (object && isObserveOnly(object)) return `${remoteID} is only observed`;
    const mark = ownerMarkOf(gateway.remote(subject.kind.resource, remoteID) ?? {});
    if (player === "cluster" && mark?.startsWith("c1")) return `${remoteID} has the mark of another cluster: ${mark}`;
    return this.#isOfSubject(player, subject, remoteID) ? `${remoteID} is that of ${subject.name}` : undefined;
  }

  /** An object that has lost its status finds its remote by the mark. A restored object may have an old status. */
  #isOfSubject(player: Player, subject: Subject, remoteID: string): boolean {
    const { cluster, gateway } = this.#scenes.namespace;
    const object = cluster.get(subject.kind.kind, "team-a", subject.name);
    const mark = ownerMarkOf(gateway.remote(subject.kind.resource, remoteID) ?? {});
    if (isOurMark(mark, `team-a/${subject.name}`))
      return object !== undefined && (object.status?.id ?? remoteID) === remoteID;
    const isRivals =
      player === "cluster" ? mark?.startsWith("c2/team-b/") : isOurMark(mark, `team-b/${this.#nameOf(subject)}`);
    return object?.status?.id === remoteID && !isRivals;
  }

  #object(player: Player, subject: Subject): ManagedObject | undefined {
    return this.#scenes[player].cluster.get(subject.kind.kind, "team-b", this.#nameOf(subject));
  }

  #nameOf = ({ name }: Subject): string => `rival-${name}`;
}
