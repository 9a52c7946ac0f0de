import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Random } from "../../../tools/shared/random.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import type { OperatorProcess } from "../../support/operator-process.ts";
import type { World } from "../../support/world.ts";
import { ForeignRemotes } from "./foreign-remotes.ts";
import { Population } from "./population.ts";

/** A short timeout: a create whose answer was lost is settled 5 seconds after its intent was recorded. */
export const DISRUPTION_ENV = { REQUEST_TIMEOUT: "2s", MAX_DELETES_PER_MINUTE: "0" };

/** For this long after a fault, objects are still changed. */
const AFTERWARDS_MS = 500;

/** Without requests and writes for this long, the operator is at rest. */
const REST_MS = 1_500;

/** Changes objects during a fault and after it. Afterwards, each test checks the same invariants. */
export class DisruptionTest {
  readonly #world: World<OperatorProcess>;
  readonly #random: Random;
  readonly #population: Population;
  #others: ForeignRemotes | undefined;
  #pid: number | undefined;

  constructor(world: World<OperatorProcess>, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#population = new Population(world, random);
  }

  /** Call it when the operator runs. */
  async begin(): Promise<void> {
    const others = new ForeignRemotes(this.#world.simulator);
    for (const { of, name } of Population.labels) others.add(of.collection, of.lookalike(`${name}-1`));
    await this.#population.begin();
    this.#others = others;
    this.#pid = this.#world.operator.pid;
  }

  /**
   * Causes the fault, and checks that the same process then brings account and objects into agreement and comes to
   * rest.
   */
  async survive(fault: () => Promise<unknown>): Promise<void> {
    await this.#changingDuring(async () => {
      await fault();
      await sleep(AFTERWARDS_MS);
    });
    await this.#agreement();
    this.#nothingTwice();
    this.#others?.expectUntouched();
    await this.#rest();
    expect(this.#world.operator.isRunning && this.#world.operator.pid).toBe(this.#pid);
  }

  async #changingDuring(fault: () => Promise<unknown>): Promise<void> {
    let over = false;
    const changing = async () => {
      while (!over) {
        await this.#population.change();
        await sleep(this.#random.below(40));
      }
    };
    const ended = fault().finally(() => {
      over = true;
    });
    await Promise.all([ended, changing()]);
  }

  async #agreement(): Promise<void> {
    let problems: string[] = [];
    const agreed = this.#world.until(
      "account and objects agree",
      async () => {
        problems = await this.#population.problems((collection) => this.#others?.except(collection) ?? []);
        return problems.length === 0;
      },
      60,
    );
    await agreed.catch((cause) => expect.fail([...problems, cause.message].join("\n")));
    expect(this.#population.wanted.length).toBeGreaterThan(0);
  }

  #nothingTwice(): void {
    const made = this.#world.simulator.control.requests({ method: "POST", status: 201 });
    const labels = made.map(({ body }) => (body as Members)["description"]);
    expect(labels.filter((label, index) => labels.indexOf(label) !== index)).toEqual([]);
  }

  async #rest(): Promise<void> {
    let before = "";
    await this.#world.until(
      "nothing is asked or written any more",
      async () => {
        const seen = before;
        before = await this.#traces();
        if (seen === before) return true;
        await sleep(REST_MS);
        return false;
      },
      30,
    );
  }

  /** The operator's requests to the service, and the resourceVersions that its writes leave. */
  async #traces(): Promise<string> {
    const versions = (await this.#world.kube.all()).map(({ metadata }) => metadata.resourceVersion);
    return JSON.stringify([this.#world.simulator.control.count(), versions.sort()]);
  }
}
