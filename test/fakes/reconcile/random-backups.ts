import { isDeleting, type ManagedObject } from "../../../src/objects/object.ts";
import { type Subject, subjects } from "./random-subjects.ts";
import type { Scene } from "./scene.ts";

/**
 * Subjects whose remotes are found again whatever the account has by then. Certificates are left out: one that was
 * issued after the backup would stay beside the one of the backup.
 */
const restorable = subjects.filter(({ foundBy, kind }) => foundBy === "mark" && kind.replacement === undefined);

/** Objects with their status, as a backup of etcd holds them. */
export class Backups {
  readonly #scene: Scene;
  #taken = new Map<string, ManagedObject>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  take(): void {
    const objects = restorable.map(({ kind, name }) => this.#scene.cluster.get(kind.kind, "team-a", name));
    const there = objects.filter((object) => object !== undefined && !isDeleting(object)) as ManagedObject[];
    this.#taken = new Map(there.map((object) => [object.metadata.name, object]));
  }

  has = ({ name }: Subject): boolean => this.#taken.has(name);

  restore({ name }: Subject): void {
    const object = this.#taken.get(name);
    if (object) this.#scene.cluster.restore(object);
  }
}
