import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../tools/shared/random.ts";
import type { FaultAction } from "../../../tools/simulator/control/faults.ts";
import { ClusterGate, Gate, type Side, type Substitute } from "../../support/gate.ts";
import type { OperatorProcess } from "../../support/operator-process.ts";
import type { World } from "../../support/world.ts";

/** Faults with their probability per request. No request is delayed for longer than the operator's timeout. */
const faults: readonly { probability: number; action: FaultAction }[] = [
  { probability: 0.03, action: { cut: "before" } },
  { probability: 0.03, action: { cut: "after" } },
  { probability: 0.02, action: { truncate: true } },
  { probability: 0.02, action: { garbage: true } },
  { probability: 0.02, action: { status: 503, body: { msg: "Down for a moment" } } },
  { probability: 0.05, action: { delayMs: 700 } },
  { probability: 0.02, action: { delayMs: 1500 } },
];

/** The probability that the service carries a request out and answers 500. */
const FAILED_AFTER = 0.03;

/** The average number of requests in the life of a process. */
const MEAN_LIFE = 25;

/** Makes the service fail in every way, and kills the operator at random requests, before they are sent or after. */
export class RandomKills {
  readonly #world: World<OperatorProcess>;
  readonly #random: Random;
  #gates: Gate[] = [];
  #via: Parameters<World["startOperator"]>[1] = {};
  #left = Number.POSITIVE_INFINITY;
  killed = 0;

  constructor(world: World<OperatorProcess>, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  async open(): Promise<void> {
    const { cluster, simulator } = this.#world;
    const [kube, service] = [await ClusterGate.beforeCluster(cluster.kubeconfig), await Gate.before(simulator.url)];
    kube.guard = ({ method }) => (method === "GET" ? undefined : this.#strike());
    service.guard = (_, side) => this.#strike() ?? this.#failing(side);
    this.#via = { kubeconfig: kube.kubeconfig, gateway: { url: service.url, apiKey: simulator.apiKey } };
    this.#gates = [kube, service];
  }

  async close(): Promise<void> {
    await Promise.all(this.#gates.map((gate) => gate.close()));
  }

  /** Starts and kills one process after the other. */
  async run(until: () => boolean): Promise<void> {
    const { control } = this.#world.simulator;
    for (const { probability, action } of faults) {
      control.fault({ probability, action, times: Number.POSITIVE_INFINITY });
    }
    while (!until()) {
      await this.#world.startOperator({}, this.#via);
      this.#left = 1 + this.#random.below(2 * MEAN_LIFE);
      while (this.#world.operator.isRunning && !until()) await sleep(20);
      this.#left = Number.POSITIVE_INFINITY;
      await this.#world.operator.stop("SIGKILL");
      this.killed += 1;
    }
    control.clearFaults();
  }

  /** Kills the process at its last request, which is then lost or carried out all the same. */
  #strike(): Promise<undefined> | undefined {
    this.#left -= 1;
    if (this.#left !== 0) return undefined;
    this.#world.operator.signal("SIGKILL");
    return this.#random() < 0.5 ? new Promise(() => {}) : undefined;
  }

  #failing(side: Side): Substitute | undefined {
    if (side === "before" || this.#left === Number.POSITIVE_INFINITY || this.#random() >= FAILED_AFTER)
      return undefined;
    return { status: 500, body: JSON.stringify({ msg: "Something went wrong afterwards" }) };
  }
}
