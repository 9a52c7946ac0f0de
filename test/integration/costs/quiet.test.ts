import { beforeAll, expect, test } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { listOf } from "../../../src/schema/define.ts";
import { foreignRows, manifestOf, minimalSpecs, requiredObjects, sampleObjects } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const PAGE = 10;
const world = useWorld({ simulator: { pageSize: PAGE }, env: { RESYNC_INTERVAL: "1s" } });

/** Kinds whose remotes are seen in lists. */
const listed = kinds.filter((kind) => listOf(kind) !== undefined);

/** At least a hundred, as many of each kind. */
const each = Math.ceil(100 / listed.length);

const many = listed.flatMap(({ kind, naturalKey, output }) =>
  Array.from({ length: each }, (_, index) => {
    const name = `one-of-many-${index}`;
    const own = {
      ...(naturalKey && { [naturalKey]: `${name}.${kind.toLowerCase()}.example.org` }),
      ...(output && { [output.field]: `${name}-${kind.toLowerCase()}` }),
    };
    return manifestOf({ kind, name, spec: { ...minimalSpecs[kind], ...own } });
  }),
);

const collections = [...new Set(listed.map((kind) => listOf(kind)?.path ?? ""))];

const isFirstPage = ({ query }: { query: object }): boolean => Object.keys(query).length === 0;

/** The pages that were read of a collection, without the last ones of a list that had begun before. */
function pagesOf(path: string, after: number) {
  const asked = world.simulator.control.requests({ method: "GET", after }).filter((request) => request.path === path);
  const first = asked.findIndex(isFirstPage);
  return first < 0 ? [] : asked.slice(first);
}

/** How often each collection was listed from its first page. */
const lists = (after: number): number[] => collections.map((path) => pagesOf(path, after).filter(isFirstPage).length);

const lastSeq = (): number => world.simulator.control.requests().at(-1)?.seq ?? 0;

/** Each collection is listed so often from now on; then what else was asked of the service. */
async function afterResyncs(times: number, after: number): Promise<string[]> {
  const enough = async () => lists(after).every((count) => count >= times);
  await world.until(`${times} lists of everything`, enough);
  const others = world.simulator.control.requests({ after }).filter(({ method, path }) => {
    return method !== "GET" || !collections.includes(path);
  });
  return others.map(({ method, path }) => `${method} ${path}`);
}

beforeAll(async () => {
  for (const { collection, row } of foreignRows) world.simulator.control.insert(collection, row);
  const isRead = ({ kind }: { kind: string }) => kinds.some((one) => one.kind === kind && !listed.includes(one));
  const objects = [...requiredObjects, ...sampleObjects.filter((object) => !isRead(object)), ...many];
  await world.kube.apply(...objects);
  await world.allReady(objects);
});

test("settled objects cost the pages of a list at each resync, and no write", async () => {
  // wait for what was under way when the last object became Ready: events are written after the status
  await afterResyncs(2, lastSeq());
  const { writes } = await world.quietCluster();
  const after = lastSeq();
  expect(await afterResyncs(3, after)).toEqual([]);
  expect((await world.operator.clusterRequests()).writes).toBe(writes);
  const pages = collections.map((path) => Math.ceil(world.simulator.control.objects(path.slice(1)).length / PAGE));
  const turns = lists(after);
  const read = collections.flatMap((path) => pagesOf(path, after)).length;
  const most = turns.reduce((sum, count, index) => sum + count * (pages[index] ?? 0), 0);
  expect(read).toBeLessThanOrEqual(most);
});

test("a restart costs the pages of a list, and no write", async () => {
  await world.operator.stop();
  const after = lastSeq();
  await world.startOperator();
  expect(await afterResyncs(2, after)).toEqual([]);
  expect((await world.operator.clusterRequests()).writes).toBe(0);
});
