import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/runtime/object.ts";
import { collections, types } from "../bench/objects.ts";
import { Stage, type StageSettings } from "../bench/stage.ts";
import { conditionOf, isReady } from "../shared/objects.ts";
import { randomFrom } from "../shared/random.ts";
import { RandomWorkload } from "./random-workload.ts";
import { type Sample, sampleOf } from "./sample.ts";
import type { Rest } from "./verdict.ts";

const SAMPLE_MS = 5_000;

/** Short, so that drift is found soon and there are some resyncs at rest. */
const RESYNC_SECONDS = 20;

const REST_SECONDS = 3 * RESYNC_SECONDS;

/** The longest delay after repeated failures is five minutes, so the operator may need more than that. */
const AGREEMENT_SECONDS = 400;

export interface SoakOptions {
  cluster: StageSettings["cluster"];
  operator: string;
  minutes: number;
  objects: number;
  seed: number;
  tell: (line: string) => void;
}

export interface SoakResult {
  /** Samples during the random workload. */
  samples: Sample[];
  /** Samples at rest. */
  atRest: Sample[];
  rest: Rest;
}

export async function soak({ cluster, operator, minutes, objects, seed, tell }: SoakOptions): Promise<SoakResult> {
  await using stage = await Stage.open({ cluster, operator: { main: operator }, latencyMs: 5 });
  const subjects = await stage.createSubjects(objects);
  const allReady = stage.watcher.until(subjects, isReady);
  await stage.startOperator({ RESYNC_INTERVAL: `${RESYNC_SECONDS}s`, REQUEST_TIMEOUT: "3s" });
  await allReady;
  tell(`${objects} objects are Ready; random changes and faults for ${minutes} minutes, with --seed ${seed}`);

  const workload = new RandomWorkload(stage, subjects, randomFrom(seed));
  const samples = await samplesDuring(stage, () => workload.run(minutes * 60_000));
  await workload.restore();
  const differing = await differencesAfterWaiting(stage, objects, tell);
  await stage.quiet();
  tell(`At rest for ${REST_SECONDS} seconds`);
  const { writes } = await stage.operator.clusterRequests();
  await stage.service.control.clearRequests();
  const atRest = await samplesDuring(stage, () => sleep(REST_SECONDS * 1000));
  return {
    samples,
    atRest,
    rest: {
      seconds: REST_SECONDS,
      differing,
      writes: (await stage.operator.clusterRequests()).writes - writes,
      others: await otherRequests(stage, tell),
    },
  };
}

/** Samples of the operator while something is done. */
async function samplesDuring(stage: Stage, doing: () => Promise<unknown>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const [since, over] = [Date.now(), new AbortController()];
  const watching = (async () => {
    while (!over.signal.aborted) {
      samples.push(await sampleOf(stage.operator, since));
      await sleep(SAMPLE_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  await doing().finally(() => over.abort());
  await watching;
  return samples;
}

/** The number of requests other than lists. */
async function otherRequests({ service }: Stage, tell: SoakOptions["tell"]): Promise<number> {
  const lists = Object.values(collections);
  const all = await service.control.requests({});
  const others = all.filter(({ method, path }) => method !== "GET" || !lists.includes(path));
  for (const { method, path, body } of others) tell(`${method} ${path} ${JSON.stringify(body ?? "")}`);
  return others.length;
}

/** Waits until objects and account agree. Resolves with the number of differences when it takes too long, else with 0. */
async function differencesAfterWaiting(stage: Stage, objects: number, tell: (line: string) => void): Promise<number> {
  const end = Date.now() + AGREEMENT_SECONDS * 1000;
  for (;;) {
    const differing = await differences(stage, objects);
    if (differing.length === 0) return 0;
    if (Date.now() > end) {
      tell(differing.slice(0, 10).join("\n"));
      return differing.length;
    }
    await sleep(1000);
  }
}

type SoakObject = KubeObject & {
  spec: { description?: string };
  status?: { id?: string };
};

const isSynced = (object: SoakObject): boolean => conditionOf(object, "Synced")?.status === "True";

async function differences({ client, service, namespace }: Stage, objects: number): Promise<string[]> {
  const lists = await Promise.all(
    types.map(async (type) => (await client.listAll<SoakObject>(type, { namespace })).items),
  );
  const names = Object.values(collections).map((path) => path.slice(1));
  const rows = (await Promise.all(names.map((name) => service.control.objects(name)))).flat();
  const all = lists.flat();
  const wanted = new Map<unknown, SoakObject>(all.map((object) => [object.status?.id, object]));
  return [
    ...(all.length === objects ? [] : [`${all.length} objects instead of ${objects}`]),
    ...all.filter((object) => !isReady(object) || !isSynced(object)).map((object) => JSON.stringify(object)),
    ...rows
      .filter(({ id, description }) => wanted.get(id)?.spec.description !== description)
      .map((row) => `not as anybody wants it: ${JSON.stringify(row)}`),
  ];
}
