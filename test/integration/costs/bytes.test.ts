import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { imageEnvironment, imageFlags } from "../../../tools/bench/image.ts";
import { subjects } from "../../../tools/bench/objects.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

// What an object costs in bytes of the heap: a slow or busy machine does not change them, unlike CPU time. What a create
// allocates has to be filled and collected, so much of its CPU time goes with it.

const preload = join(import.meta.dirname, "../../support/preload/heap.ts");

/** So many objects come first: what is made once, such as compiled code, is no cost of an object. */
const FIRST = 300;
const MEASURED = 400;

/** What was measured when this was last looked at, for an object. Lower them when they have fallen. */
const ALLOCATED = 339_000;
const USED = 7_900;
/** The part by which one run differs from the next, and no more. */
const TOLERANCE = 1.1;

const world = useWorld({ startOperator: false, process: true });

interface Weight {
  /** Bytes that are in use after a collection. */
  readonly used: number;
  /** Bytes allocated since the process began. */
  readonly allocated: number;
}

async function weigh(name: string): Promise<Weight> {
  world.operator.send({ weigh: name });
  return JSON.parse(await world.operator.said(`{"weighed":"${name}"`));
}

async function create(objects: readonly KubeJSON[]): Promise<void> {
  await Promise.all(objects.map((object) => world.kube.create(object)));
  await world.allReady(objects);
}

const each = (before: number, after: number): number => Math.round((after - before) / MEASURED);

let cost: Weight;

beforeAll(async () => {
  await world.startOperator(
    // debug lines are not written in the image either
    { ...(await imageEnvironment()), LOG_LEVEL: "info" },
    // V8 would drop megabytes of compiled code that was not used for a few collections, which no object has taken
    { nodeFlags: [...(await imageFlags()), "--no-flush-bytecode", "--import", preload] },
  );
  const objects = subjects(FIRST + MEASURED, world.namespace).map(({ object }) => object);
  await create(objects.slice(0, FIRST));
  await world.quiet();
  const before = await weigh("before");
  await create(objects.slice(FIRST));
  // asking whether all is quiet allocates too
  const { allocated } = await weigh("created");
  await world.quiet();
  const { used } = await weigh("at rest");
  cost = { allocated: each(before.allocated, allocated), used: each(before.used, used) };
});

test("a create allocates no more than it did", () => {
  expect(cost.allocated).toBeGreaterThan(ALLOCATED / 2);
  expect(cost.allocated).toBeLessThan(ALLOCATED * TOLERANCE);
});

test("an object at rest takes no more memory than it did", () => {
  expect(cost.used).toBeGreaterThan(USED / 2);
  expect(cost.used).toBeLessThan(USED * TOLERANCE);
});
