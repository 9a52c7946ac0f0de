import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll } from "vitest";
import { stringify } from "yaml";
import { annotations } from "../../src/schema/contract.ts";
import { type TestCluster, useCluster } from "../../tools/cluster/use.ts";
import { exampleRoutes } from "../../tools/shared/examples.ts";
import { conditionOf, isReady, type KubeJSON, nameOf } from "../../tools/shared/objects.ts";
import type { LoggedRequest } from "../../tools/simulator/control/request-log.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../tools/simulator/simulator.ts";
import { isKnown, isOurs, Kube } from "./kube.ts";
import { OperatorInWorker } from "./operator-in-worker.ts";
import { OperatorProcess, type TestOperator, type TestSettings } from "./operator-process.ts";

export interface WorldOptions {
  simulator?: SimulatorOptions;
  env?: Readonly<Record<string, string>>;
  /** Default true. */
  startOperator?: boolean;
  /**
   * Each operator is a process of its own, for tests that kill it, send it signals or set its clock. Without it, the
   * operator runs in the process of the test, which takes less than half of the time.
   */
  process?: boolean;
}

type Starts<O extends TestOperator> = new (settings: TestSettings) => O;

/**
 * For the top of a test file: a namespace of the shared cluster, an account of its own, and an operator that watches
 * only this namespace, so that test files can run in parallel.
 */
export function useWorld(options: WorldOptions & { process: true }): World<OperatorProcess>;
export function useWorld(options?: WorldOptions): World;
export function useWorld(options: WorldOptions = {}): World {
  const cluster = useCluster();
  const world = new World<TestOperator>(cluster, options, options.process ? OperatorProcess : OperatorInWorker);
  beforeAll(() => world.open());
  afterAll(() => world.close());
  afterEach(({ task }) => {
    if (task.result?.state === "fail") task.meta.operator = world.tail();
  });
  return world;
}

export class World<O extends TestOperator = TestOperator> {
  readonly cluster: TestCluster;
  readonly #options: WorldOptions;
  readonly #Operator: Starts<O>;
  namespace = "";
  #simulator: Simulator | undefined;
  readonly #operators: O[] = [];
  #kube: Kube | undefined;
  #reconcileRequests = 0;

  constructor(cluster: TestCluster, options: WorldOptions, operator: Starts<O>) {
    this.cluster = cluster;
    this.#Operator = operator;
    this.#options = options;
  }

  get simulator(): Simulator {
    if (!this.#simulator) throw new Error("The world is not open yet");
    return this.#simulator;
  }

  get operator(): O {
    const operator = this.#operators.at(-1);
    if (!operator) throw new Error("No operator has been started");
    return operator;
  }

  /** Reads and writes the namespace without starting kubectl. */
  get kube(): Kube {
    if (!this.#kube) throw new Error("The world is not open yet");
    return this.#kube;
  }

  async open(): Promise<void> {
    this.namespace = await this.cluster.freshNamespace("world");
    this.#kube = new Kube(this.cluster.kubeconfig, this.namespace);
    const routes = await exampleRoutes();
    this.#simulator = await startSimulator({ certificates: { provisionMs: 200 }, routes, ...this.#options.simulator });
    if (this.#options.startOperator !== false) await this.startOperator();
  }

  async close(): Promise<void> {
    const ended = Promise.all(this.#operators.map(endNow));
    // what an operator still waits for then fails
    await this.#simulator?.stop();
    await ended;
    await this.releaseAll();
    await this.#kube?.close();
  }

  /** `via` has other ways to the API server and the service, such as gates. */
  async startOperator(
    env: Readonly<Record<string, string>> = {},
    via: Partial<Pick<TestSettings, "main" | "kubeconfig" | "gateway" | "clock" | "nodeFlags">> = {},
  ): Promise<O> {
    const operator = new this.#Operator({
      kubeconfig: this.cluster.kubeconfig,
      gateway: this.simulator,
      namespaces: [this.namespace],
      ...via,
      env: { ADOPTION_NAMESPACES: "*", ...this.#options.env, ...env },
    });
    await operator.started();
    this.#operators.push(operator);
    return operator;
  }

  async restartOperator(env?: Readonly<Record<string, string>>): Promise<void> {
    await this.operator.stop();
    await this.startOperator(env);
  }

  kubectl = (...args: string[]) => this.cluster.kubectlRun([...args, "--namespace", this.namespace]);

  /** Like `kubectl`, but also resolves if it fails. */
  tryKubectl = (args: string[], input?: string) =>
    this.cluster.kubectlRun([...args, "--namespace", this.namespace], {
      allowFailure: true,
      ...(input !== undefined && { input }),
    });

  /** Applies objects, or texts of manifests. */
  async apply(...manifests: (object | string)[]): Promise<string> {
    const { stdout } = await this.cluster.kubectlRun(["apply", "--namespace", this.namespace, "-f", "-"], {
      input: manifests.map(toYAML).join("\n---\n"),
    });
    return stdout;
  }

  /** Undefined if there is none, or the request fails. */
  async get(kind: string, name: string): Promise<KubeJSON | undefined> {
    if (isKnown(kind)) return this.kube.get(kind, name).catch(() => undefined);
    const { stdout, code } = await this.tryKubectl(["get", kind, name, "-o", "json"]);
    return code === 0 ? JSON.parse(stdout) : undefined;
  }

  async list(kind: string): Promise<KubeJSON[]> {
    const { stdout } = await this.kubectl("get", kind, "-o", "json");
    return JSON.parse(stdout).items;
  }

  async delete(kind: string, name: string, ...args: string[]): Promise<void> {
    await this.kubectl("delete", kind, name, ...args);
  }

  /** Asks until the answer is neither undefined nor false. Fails after a time, with the last lines of the operator. */
  async until<T>(what: string, ask: () => Promise<T | undefined | false>, seconds = 120): Promise<T> {
    const begin = Date.now();
    for (;;) {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      const passed = Date.now() - begin;
      if (passed > seconds * 1000) throw new Error(`Not within ${seconds} s: ${what}\n${this.tail()}`);
      // asks less often after a while: reading long lists slows the cluster down
      await sleep(Math.min(Math.max(passed / 10, 50), 500));
    }
  }

  /** Resolves with the object when a condition has the wanted status and reason, for the present spec. */
  condition(kind: string, name: string, wanted: { type: string; status?: string; reason?: string }): Promise<KubeJSON> {
    const { type, status, reason } = wanted;
    return this.until(`${kind} ${name} ${JSON.stringify(wanted)}`, async () => {
      const object = await this.get(kind, name);
      const found = conditionOf(object, type);
      const fits = found && (!status || found.status === status) && (!reason || found.reason === reason);
      return fits && object.status.observedGeneration === object.metadata.generation && object;
    });
  }

  ready(kind: string, name: string): Promise<KubeJSON> {
    return this.condition(kind, name, { type: "Ready", status: "True" });
  }

  /** Resolves with those objects that the operator manages, when all of them are as wanted. */
  async untilAll(
    what: string,
    objects: readonly KubeJSON[],
    isSo: (now: KubeJSON) => boolean,
    seconds?: number,
  ): Promise<KubeJSON[]> {
    const ours = objects.filter(isOurs);
    const wanted = new Set(ours.map(nameOf));
    const kinds = [...new Set(ours.map(({ kind }) => kind as string))];
    let missing: string[] = [];
    const answer = (now: readonly KubeJSON[]) => {
      const there = now.filter((object) => wanted.has(nameOf(object)) && isSo(object));
      const names = new Set(there.map(nameOf));
      missing = [...wanted].filter((name) => !names.has(name));
      return missing.length === 0 && there;
    };
    return this.untilObjects(what, kinds, answer, seconds).catch((error) => {
      throw new Error(`${missing.join(", ")} ${error.message}`);
    });
  }

  /**
   * Like `until`, for a question about all objects of some kinds. Lists are the authority, but a list is requested only
   * when watches show that the answer may be there: repeated lists would be most of the work of the API server.
   */
  async untilObjects<T>(
    what: string,
    kinds: readonly string[],
    answer: (objects: readonly KubeJSON[]) => T | undefined | false,
    seconds?: number,
  ): Promise<T> {
    await using watched = this.kube.watch(kinds);
    const ask = async () => {
      const { objects } = watched;
      return objects && answer(objects) && answer(await this.kube.list(...kinds));
    };
    // without `await`, the watches would end before it does
    return await this.until(what, ask, seconds);
  }

  allReady(objects: readonly KubeJSON[]): Promise<KubeJSON[]> {
    return this.untilAll("all are Ready", objects, isReady);
  }

  /** Requests a reconcile that reads the remotes again, and waits until it is done. */
  async reconcileNow(...objects: KubeJSON[]): Promise<KubeJSON[]> {
    const asked = String(++this.#reconcileRequests);
    const change = { [annotations.reconcileRequestedAt]: asked };
    await Promise.all(objects.map(({ kind, metadata }) => this.kube.annotate(kind, metadata.name, change)));
    return this.untilAll("all are reconciled", objects, ({ status }) => status.lastHandledReconcileAt === asked);
  }

  /** The requests to the service that were not GETs: those with an id in their path, or all. */
  changesSent(id = ""): LoggedRequest[] {
    return this.simulator.control.requests().filter(({ method, path }) => method !== "GET" && path.includes(id));
  }

  async gone(kind: string, name: string): Promise<void> {
    const object = () => (isKnown(kind) ? this.kube.get(kind, name).catch(() => "unknown") : this.get(kind, name));
    await this.until(`${kind} ${name} is gone`, async () => (await object()) === undefined);
  }

  /** Waits until there is a pause in requests to the service and in writes to Kubernetes. Resolves with the counts. */
  async quiet(milliseconds = 600): Promise<{ requests: number; writes: number }> {
    let before = { requests: -1, writes: -1 };
    for (;;) {
      const now = { requests: this.simulator.control.count(), writes: (await this.operator.clusterRequests()).writes };
      const isPause = now.requests === before.requests && now.writes === before.writes;
      // an API server with much else to do may take longer than the pause for one write
      if (isPause && !this.operator.writesUnderWay) return now;
      before = now;
      await sleep(milliseconds);
    }
  }

  /** Waits until there is a pause in requests to Kubernetes that write. Resolves with their number. */
  async quietCluster(milliseconds = 1500): Promise<{ writes: number }> {
    for (let before = -1; ; await sleep(milliseconds)) {
      const { writes } = await this.operator.clusterRequests();
      if (writes === before) return { writes };
      before = writes;
    }
  }

  /** The operator's last lines. */
  tail(lines = 50): string {
    return this.#operators.at(-1)?.lines.slice(-lines).join("\n") ?? "";
  }

  /** Removes the finalizers. Without an operator nobody else does, and the namespace would never be deleted. */
  async releaseAll(): Promise<void> {
    const objects = (await this.#kube?.custom().catch(() => [])) ?? [];
    const held = objects.filter(({ metadata }) => metadata.finalizers);
    const release = ({ kind, metadata }: KubeJSON) =>
      this.kube.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
    await Promise.all(held.map(release));
  }
}

const toYAML = (manifest: object | string): string => (typeof manifest === "string" ? manifest : stringify(manifest));

const endNow = (operator: TestOperator): Promise<unknown> =>
  operator instanceof OperatorProcess ? operator.stop("SIGKILL") : operator.stop();
