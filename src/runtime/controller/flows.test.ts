import { describe, expect, it } from "vitest";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Queue } from "./queue.ts";

/** The flow of a key is its first letter. */
function taken(keys: readonly string[], workers: number) {
  const queue = new Queue({ clock: new VirtualClock(), flowOf: ([flow]) => flow });
  for (const key of keys) queue.add(key);
  const running: string[] = [];
  const work = async () => {
    const item = await queue.take();
    if (item) running.push(item.key);
  };
  for (let worker = 0; worker < workers; worker += 1) void work();
  const end = (key: string) => {
    running.splice(running.indexOf(key), 1);
    queue.done(key);
    void work();
  };
  return { queue, running, end };
}

const many = (flow: string, count: number) => Array.from({ length: count }, (_, index) => `${flow}${index}`);
const countOf = (flow: string, keys: readonly string[]) => keys.filter((key) => key.startsWith(flow)).length;

describe("keys of several flows", () => {
  it("are taken by turns, and those of one flow in their order", async () => {
    const { running } = taken(["a0", "a1", "a2", "b0", "b1", "c0"], 12);
    await settle();
    expect(running).toEqual(["a0", "b0", "c0", "a1", "b1", "a2"]);
  });

  it("leave a worker for every other flow", async () => {
    const { queue, running } = taken(many("a", 100), 64);
    await settle();
    expect(running).toHaveLength(32);
    for (const key of [...many("b", 100), ...many("c", 100), ...many("d", 100)]) queue.add(key);
    await settle();
    expect(["a", "b", "c", "d"].map((flow) => countOf(flow, running))).toEqual([32, 16, 8, 4]);
    queue.add("e0");
    await settle();
    expect(running).toContain("e0");
  });

  it("go on when a key of their flow has ended", async () => {
    const { running, end } = taken(many("a", 5), 4);
    await settle();
    expect(running).toEqual(["a0", "a1"]);
    end("a1");
    await settle();
    expect(running).toEqual(["a0", "a2"]);
  });

  it("need no second worker", async () => {
    const { running, end } = taken(["a0", "b0", "a1"], 1);
    for (const key of ["a0", "b0", "a1"]) {
      await settle();
      expect(running).toEqual([key]);
      end(key);
    }
  });

  it("are counted, dropped and raised like others", async () => {
    const { queue, running } = taken([], 0);
    for (const key of ["a0", "a1", "b0"]) queue.add(key);
    queue.add("a1", { priority: 5 });
    queue.drop("b0");
    expect([...queue.depth()]).toEqual([
      [5, 1],
      [0, 1],
    ]);
    expect((await queue.take())?.key).toBe("a1");
    expect(running).toEqual([]);
  });
});

it("keys without a flow use all workers", async () => {
  const queue = new Queue({ clock: new VirtualClock() });
  for (const key of many("a", 4)) queue.add(key);
  const items = await Promise.all([queue.take(), queue.take(), queue.take(), queue.take()]);
  expect(items.map((item) => item?.key)).toEqual(many("a", 4));
});
