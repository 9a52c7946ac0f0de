import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { isNotFound } from "../../../src/runtime/connection/errors.ts";
import { isReady, type KubeJSON } from "../../../tools/shared/objects.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import type { SimulatorOptions } from "../../../tools/simulator/simulator.ts";
import { ClusterGate, Gate, type Guard, type ProxiedRequest, type Side, type Substitute } from "../../support/gate.ts";
import { managedKinds } from "../../support/kube.ts";
import type { OperatorProcess } from "../../support/operator-process.ts";
import { useWorld, type World } from "../../support/world.ts";
import { ForeignRemotes } from "./foreign-remotes.ts";
import { killedStepTypes } from "./killed.ts";
import {
  clusterStep,
  type Point,
  ServiceSteps,
  type Step,
  type StepName,
  type StepType,
  stepTypeOf,
  typeOf,
} from "./steps.ts";
import { type Case, manifestsOf } from "./subjects.ts";

interface Hold {
  readonly point: Point;
  readonly released: PromiseWithResolvers<void>;
  /** The request that is held, and since when. */
  reached?: Step & { readonly since: number; readonly passage: ProxiedRequest };
  /** Whether the request was let through. */
  arrived: boolean;
  /** The server behind the gate has answered it. */
  readonly carriedOut: PromiseWithResolvers<void>;
}

/** A short timeout: an interrupted create is settled 11 seconds after its intent was recorded. */
const SHORT_SECONDS = 6;

/**
 * No request may arrive later than this after it was sent: the timeout, and the sixth of it that the service may take
 * longer. What the operator waits beyond that is for clocks that differ.
 */
const LATEST_MS = 7_000;

export interface StageOptions {
  /** Variables of the operator. */
  env?: Readonly<Record<string, string>>;
  simulator?: SimulatorOptions;
  /** Set it when no create is interrupted: requests then have the usual timeout, as a busy machine needs. */
  patient?: true;
}

/** A world whose operator reaches the cluster and the service through gates, so that tests can stop it at any step. */
export function useStage({ simulator = {}, patient, env: more = {} }: StageOptions = {}): Stage {
  // Many objects have to reach their points at the same time.
  const unlimited = { REQUESTS_PER_MINUTE: "0", MAX_DELETES_PER_MINUTE: "0" };
  const env = { ...unlimited, ...(!patient && { REQUEST_TIMEOUT: `${SHORT_SECONDS}s` }), ...more };
  const world = useWorld({ process: true, startOperator: false, simulator, env });
  const stage = new Stage(world);
  beforeAll(() => stage.open());
  afterAll(() => stage.close());
  return stage;
}

export class Stage {
  readonly world: World<OperatorProcess>;
  #others: ForeignRemotes | undefined;
  #gates: readonly Gate[] = [];
  #via: Parameters<World["startOperator"]>[1] = {};
  #holds: readonly Hold[] = [];
  #late: Hold[] = [];
  #steps: (Step & { readonly time: number; readonly body: string })[] = [];
  /** The objects by name, as the last process left them. */
  #left = new Map<string, KubeJSON>();
  #nameless = new Set<string>();
  /** The types of all steps that the operators of this stage went through. */
  readonly #passed = new Set<StepType>();

  constructor(world: World<OperatorProcess>) {
    this.world = world;
  }

  async open(): Promise<void> {
    const { cluster, simulator } = this.world;
    const [kube, service] = [await ClusterGate.beforeCluster(cluster.kubeconfig), await Gate.before(simulator.url)];
    const steps = new ServiceSteps(simulator);
    this.#others = new ForeignRemotes(simulator);
    kube.guard = this.#guard(clusterStep, async () => ({ raw: "" }));
    service.guard = this.#guard(
      (passage) => steps.of(passage),
      () => never,
    );
    this.#gates = [kube, service];
    this.#via = { kubeconfig: kube.kubeconfig, gateway: { url: service.url, apiKey: simulator.apiKey } };
  }

  async close(): Promise<void> {
    expect([...this.#nameless], "Requests that no test can kill at: name them in steps.ts").toEqual([]);
    const spared = [...this.#passed].filter((sort) => !killedStepTypes.has(sort));
    expect(spared, "Steps at which no test kills: add a story to killed.ts").toEqual([]);
    await Promise.all(this.#gates.map((gate) => gate.close()));
  }

  get others(): ForeignRemotes {
    if (!this.#others) throw new Error("The stage is not open yet");
    return this.#others;
  }

  start = (more: Readonly<Record<string, string>> = {}): Promise<OperatorProcess> =>
    this.world.startOperator(more, this.#via);

  /** Lets the operator reach all these points, each for another object, and kills it there. */
  async killAt(points: readonly Point[], begin: () => Promise<unknown> = () => this.start()): Promise<void> {
    const holds = points.map(
      (point): Hold => ({
        point,
        arrived: false,
        released: Promise.withResolvers(),
        carriedOut: Promise.withResolvers(),
      }),
    );
    const missing = () => holds.filter(({ reached }) => !reached).map(({ point }) => point);
    this.#holds = holds;
    this.#steps = [];
    await begin();
    const isEverywhere = async () => missing().length === 0;
    const everywhere = this.world.until("the operator is everywhere", isEverywhere);
    await everywhere.catch((cause) => {
      throw new Error(`The operator never came to ${JSON.stringify(missing())}`, { cause });
    });
    await this.world.operator.stop("SIGKILL");
    // The gate still has to read what the killed process wrote last, which must not count as written by the next
    // process. A late timer fires before sockets are read, so this takes several turns.
    for (let turn = 0; turn < 10; turn += 1) await sleep(10);
    this.#holds = [];
    for (const hold of holds.filter(({ point }) => point.at === "late")) {
      this.#late.push(hold);
      const at = (hold.reached?.since ?? 0) + LATEST_MS;
      setTimeout(() => arrive(hold), Math.max(at - Date.now(), 0));
    }
    this.#steps = [];
  }

  /** Starts the next process. Late requests of earlier processes arrive while it works on the same object. */
  async restart(): Promise<void> {
    this.#left = await this.objects();
    // On a busy machine, the gate may have read a repeated write of the killed process only now.
    this.#steps = [];
    await this.start();
    const isAtWork = ({ point: { of }, reached, arrived }: Hold) =>
      arrived ||
      !this.#left.has(of) ||
      this.stepsOf(of).length > 0 ||
      this.#steps.some((step) => step.of === reached?.soughtIn);
    await this.world.until("the next process is at work", async () => this.#late.every(isAtWork));
    await sleep(100);
    for (const hold of this.#late) arrive(hold);
  }

  /** The steps of the operator for this object since it was last killed, in order. */
  stepsOf = (name: string): StepName[] => this.#steps.filter(({ of }) => of === name).map(({ step }) => step);

  /**
   * Like `stepsOf`, without attempts to create that were given up because recording the intent took longer than two
   * seconds, as it may on a busy machine.
   */
  stepsInTime(name: string): StepName[] {
    const steps = this.#steps.filter(({ of }) => of === name);
    const isGivenUp = (index: number) => {
      const { step, body = "" } = steps[index] ?? {};
      // The message stays in later statuses until another replaces it.
      const isAfterIntent = steps[index - 1]?.step === "intent";
      return isAfterIntent && step === "status" && writtenStatus(body).includes("recording the create took longer");
    };
    return steps.filter((_, index) => !isGivenUp(index) && !isGivenUp(index + 1)).map(({ step }) => step);
  }

  /** How many times the service created a remote for this object. */
  createsOf(name: string): number {
    const made = this.world.simulator.control.requests({ method: "POST", status: 201 });
    return made.filter(({ body }) => isAbout(body as Members, name)).length;
  }

  async apply(cases: readonly Case[], spec: (one: Case) => Members): Promise<void> {
    await this.world.kube.apply(...cases.flatMap((one) => manifestsOf(one, spec(one))));
  }

  /** All objects of our kinds, by name. */
  async objects(): Promise<Map<string, KubeJSON>> {
    return byName(await this.world.kube.all());
  }

  async allReady(cases: readonly { name: string }[]): Promise<Map<string, KubeJSON>> {
    let objects = new Map<string, KubeJSON>();
    const answer = (now: readonly KubeJSON[]) => {
      objects = byName(now);
      return cases.every(({ name }) => isReady(objects.get(name))) && objects;
    };
    const ready = this.world.untilObjects("all are ready", managedKinds, answer);
    return ready.catch((cause) => {
      const unready = cases.map(({ name }) => objects.get(name)).filter((object) => !isReady(object));
      throw new Error(
        JSON.stringify(
          unready.map((object) => object?.status),
          null,
          1,
        ),
        { cause },
      );
    });
  }

  /** Creates the objects, beside remotes of others with the same values. */
  async create(cases: readonly Case[]): Promise<void> {
    for (const { subject, name } of cases) {
      this.others.add(subject.collection, subject.lookalike(name));
      for (const given of subject.given?.(name) ?? []) this.others.share(given);
    }
    await this.apply(cases, ({ subject, name }) => subject.spec(name));
  }

  /** Deletes all objects through the running operator. */
  async clear(): Promise<void> {
    const { kube } = this.world;
    const remove = ({ kind, metadata }: KubeJSON) =>
      kube.delete(kind, metadata.name).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    await Promise.all((await kube.custom()).map(remove));
    await this.allGone();
    await this.world.operator.stop();
    this.others.clear();
    this.world.simulator.control.clearRequests();
  }

  /** The remotes of an object in the account. */
  remotesOf({ subject: { collection, remotes }, name }: Case): Members[] {
    if (remotes) return remotes(this.world.simulator.control, name);
    return this.others.except(collection).filter(({ description }) => description === name);
  }

  async allGone(): Promise<void> {
    const isGone = (objects: readonly KubeJSON[]) => objects.length === 0;
    await this.world.untilObjects("all are gone", managedKinds, isGone);
  }

  #isDue({ of, after }: Point): boolean {
    return after === undefined || this.stepsOf(of).includes(after);
  }

  /**
   * `strand`: how a caller ends that must not get any further. The API server accepts a limited number of connections.
   */
  #guard(stepOf: (passage: ProxiedRequest) => Step | undefined, strand: () => Promise<Substitute>): Guard {
    const named = (passage: ProxiedRequest) => {
      try {
        return stepOf(passage);
      } catch (error) {
        this.#nameless.add((error as Error).message);
        return undefined;
      }
    };
    return async (passage, side) => {
      const step = named(passage);
      if (!step) return undefined;
      await (side === "before" ? this.#arrives(step, passage) : this.#wasCarriedOut(passage));
      // The caller of a held request gives up in the end. Reads of modules pass, because deletions of other objects
      // need them.
      const isHeld = this.#holds.some(({ reached }) => reached?.of === step.of);
      if (side === "before" && isHeld && stepTypeOf(step.step) !== "GET module") return strand();
      const hold = this.#holds.find(({ point, reached }) => !reached && isAt(point, step, side) && this.#isDue(point));
      if (!hold) return undefined;
      hold.reached = { ...step, since: Date.now(), passage };
      if (hold.point.at !== "late") return strand();
      await hold.released.promise;
      return undefined;
    };
  }

  /** Avoids a race when a write of a Secret is late: the next process has to read the Secret after it. */
  async #arrives(step: Step, { body }: ProxiedRequest): Promise<void> {
    this.#passed.add(stepTypeOf(step.step));
    this.#steps.push({ ...step, body, time: Date.now() });
    if (step.step !== "secret") return;
    const late = this.#late.find(({ point }) => point.of === step.of && point.step === "write secret");
    await late?.carriedOut.promise;
  }

  #wasCarriedOut(passage: ProxiedRequest): void {
    this.#late.find(({ reached }) => reached?.passage === passage)?.carriedOut.resolve();
  }
}

/** The status in a JSON patch, without the values that the patch tests. */
const writtenStatus = (patch: string): string =>
  JSON.stringify((JSON.parse(patch) as { op: string }[]).find(({ op }) => op === "add") ?? "");

const byName = (objects: readonly KubeJSON[]): Map<string, KubeJSON> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

const isAbout = ({ description, type }: Members, name: string): boolean =>
  description === name || type === typeOf(name);

const never = new Promise<never>(() => {});

function arrive(hold: Hold): void {
  hold.arrived = true;
  hold.released.resolve();
}

const isAt = (point: Point, { of, step }: Step, side: Side): boolean =>
  point.of === of && point.step === step && (point.at === "after") === (side === "after");
