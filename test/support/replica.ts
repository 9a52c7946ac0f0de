import { Gate } from "./gate.ts";
import { OperatorProcess } from "./operator-process.ts";
import type { World } from "./world.ts";

/** One of several operators that elect a leader. Its own gate in front of the service counts its requests. */
export class Replica {
  readonly operator: OperatorProcess;
  readonly #gate: Gate;
  /** The number of its requests to the service. */
  sent = 0;

  private constructor(operator: OperatorProcess, gate: Gate) {
    this.operator = operator;
    this.#gate = gate;
    gate.guard = (_, side) => {
      if (side === "before") this.sent += 1;
      return undefined;
    };
  }

  /** Resolves when it serves metrics and health, even if it does not lead. */
  static async launch({ cluster, simulator, namespace }: World): Promise<Replica> {
    const gate = await Gate.before(simulator.url);
    const operator = new OperatorProcess({
      kubeconfig: cluster.kubeconfig,
      gateway: { url: gate.url, apiKey: simulator.apiKey },
      namespaces: [namespace],
      env: { LEADER_ELECTION: "true", POD_NAMESPACE: namespace, REQUEST_TIMEOUT: "3s" },
    });
    await operator.url();
    return new Replica(operator, gate);
  }

  async leads(): Promise<boolean> {
    return (await this.operator.metric("leader_election_master_status")) === 1;
  }

  async isReady(): Promise<boolean> {
    return (await this.operator.read("/readyz")).endsWith("\nok\n");
  }

  async close(): Promise<void> {
    await this.operator.stop("SIGKILL");
    await this.#gate.close();
  }
}
