import { Retry } from "../../../src/objects/reconcile-error.ts";
import type { Kind } from "../../../src/schema/define.ts";
import type { faults, refusals, verbs } from "./random-steps.ts";
import { resources } from "./random-subjects.ts";
import { DEADLINE_MS, type Scene } from "./scene.ts";

/** Thrown when the process is killed in the middle of a reconcile. */
export class Killed extends Error {}

/** A create for which the operator no longer waits, and which the service may carry out until `until`. */
interface Late {
  kind: Kind;
  body: Record<string, unknown>;
  until: number;
}

/** A service may carry out a request a little later than the operator's deadline for it. */
export const LATEST_MS = DEADLINE_MS + 4000;

/** Faults of the service, of the API server and of the process. */
export class Faults {
  readonly #scene: Scene;
  /** The faults that are planned for the next creates. */
  readonly #planned: string[] = [];
  #late: Late[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  plan(verb: (typeof verbs)[number], how: (typeof faults)[number]): void {
    const { gateway } = this.#scene;
    if (verb === "create") this.#planned.push(how);
    const [what, status] = how.split(" ");
    if (what === "done") gateway.answerWrongly(verb, Number(status));
    else if (how === "late 408") gateway.refuse(verb, 408);
    else if (how === "lost") gateway.loseAnswer(verb);
    else if (how === "unreadable") gateway.loseAnswer(verb, { kind: "unreadable" });
    else if (how === "swallowed" || how === "late") gateway.swallow(verb);
    else if (how === "unsent") gateway.swallow(verb, "unsent");
    else gateway.refuse(verb, Number(how));
  }

  killAt(write: (typeof refusals)[number]): void {
    this.#scene.cluster.beforeWrite = (now) => {
      if (now === write) throw new Killed();
    };
  }

  /** The API server is overloaded and refuses the next requests of this type. */
  refuse(refused: (typeof refusals)[number], times: number): void {
    const { cluster } = this.#scene;
    let left = times;
    cluster.beforeWrite = (now) => {
      if (now !== refused || left === 0) return;
      left -= 1;
      throw new Retry("Pending", "Waiting for the Kubernetes API");
    };
    cluster.beforeAsk = () => void cluster.beforeWrite("ask");
  }

  end(): void {
    this.#scene.cluster.beforeWrite = () => {};
    this.#scene.cluster.beforeAsk = () => {};
    this.#scene.gateway.forgetFaults();
  }

  /** Call it when a create has reached the service. */
  created(resource: string, body: Record<string, unknown> = {}): void {
    const kind = resources.find(({ resource: remote }) => remote.name === resource);
    const until = this.#scene.clock.now() + LATEST_MS;
    if (this.#planned.shift()?.startsWith("late") && kind) this.#late.push({ kind, body, until });
  }

  /** Carries out the late creates. Returns whether there were any. */
  arrive(): boolean {
    const { gateway, clock } = this.#scene;
    const arriving = this.#late.splice(0).filter(({ kind: { naturalKey, resource }, body, until }) => {
      const isTaken =
        naturalKey !== undefined &&
        gateway.remotesOf(resource).some((remote) => remote[naturalKey] === body[naturalKey]);
      return clock.now() <= until && !isTaken;
    });
    for (const { kind, body } of arriving) gateway.seed(kind.resource, body);
    return arriving.length > 0;
  }
}
