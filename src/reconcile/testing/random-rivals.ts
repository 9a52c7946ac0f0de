import { isDeleting, type ManagedObject } from "../../objects/object.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { type Subject, subjects } from "./random-subjects.ts";
import { Scene } from "./scene.ts";

/** Whose object wants a remote of another: that of a second namespace of the cluster, or of a second cluster. */
export const players = ["namespace", "cluster"] as const;
export type Player = (typeof players)[number];

/** The subjects whose remotes are wanted: those that are known by a mark, and that nothing waits for when they stay. */
const wanted = subjects.filter(({ name }) => name === "policy" || name === "group");

/** Objects that are to adopt remotes of the subjects, and to delete them with themselves. */
export class Rivals {
  readonly #scenes: Readonly<Record<Player, Scene>>;

  constructor(scene: Scene) {
    this.#scenes = { namespace: scene, cluster: new Scene({ beside: scene, clusterID: "c2" }) };
    this.restart();
  }

  /** The process of the second cluster starts anew; the second namespace has that of the first. */
  restart(): void {
    this.#scenes.cluster.restart();
  }

  want(player: Player, subject: Subject, id: string): void {
    if (!wanted.includes(subject)) return;
    const object = this.#object(player, subject);
    if (object && isDeleting(object)) return;
    const spec = { adopt: { id }, deletionPolicy: "Delete" as const };
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

  hold = (id: string): boolean => this.objects.some(({ object }) => object.status?.id === id);

  /** Why a rival may not change this remote; undefined if it may. */
  fault(player: Player, subject: Subject, remoteID: string): string | undefined {
    const { cluster, gateway } = this.#scenes.namespace;
    const mark = ownerMarkOf(gateway.remote(subject.kind.resource, remoteID) ?? {});
    if (player === "cluster" && mark?.startsWith("c1/")) return `${remoteID} has the mark of another cluster: ${mark}`;
    const object = cluster.get(subject.kind.kind, "team-a", subject.name);
    // An object that has lost its status finds its remote by the mark.
    const id = object?.status?.id ?? (object && mark === `c1/team-a/${subject.name}` ? remoteID : undefined);
    return id === remoteID ? `${id} is that of ${subject.name}` : undefined;
  }

  #object(player: Player, subject: Subject): ManagedObject | undefined {
    return this.#scenes[player].cluster.get(subject.kind.kind, "team-b", this.#nameOf(subject));
  }

  #nameOf = ({ name }: Subject): string => `rival-${name}`;
}
