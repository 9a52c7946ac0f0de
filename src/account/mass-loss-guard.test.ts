import { beforeEach, describe, expect, it } from "vitest";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Row } from "../reconcile/testing/fake-gateway.ts";
import { Scene } from "../reconcile/testing/scene.ts";
import { annotations } from "../schema/contract.ts";

let scene: Scene;
let taken: Row[];

beforeEach(() => {
  scene = new Scene();
  taken = [];
});

async function given(count: number): Promise<ManagedObject[]> {
  const objects: ManagedObject[] = [];
  for (let index = 0; index < count; index += 1) objects.push(await scene.given(IPPolicy, `policy-${index}`));
  await scene.resync(IPPolicy);
  await scene.clock.advance(1);
  return objects;
}

/** From now on the key is one of another account, or somebody has deleted this much. */
function lose(count = Number.POSITIVE_INFINITY): void {
  taken = scene.gateway.rowsOf(IPPolicy.remote).slice(0, count);
  for (const { id } of taken) scene.gateway.drop(IPPolicy.remote, id);
}

function giveBack(): void {
  for (const row of taken) scene.gateway.put(IPPolicy.remote, row);
}

const rows = () => scene.gateway.rowsOf(IPPolicy.remote);

const syncedOf = (object: ManagedObject) => scene.condition(object, "Synced");

const ask = (object: ManagedObject, value: string) =>
  scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, value);

async function remove(object: ManagedObject): Promise<void> {
  scene.cluster.delete(object);
  await scene.look(object);
}

describe("remotes that are missing", () => {
  it.each([
    { of: 60, missing: 60, made: false, why: "it is another account" },
    { of: 5, missing: 5, made: false, why: "five are many" },
    { of: 60, missing: 7, made: false, why: "more than a tenth" },
    { of: 4, missing: 4, made: true, why: "few may well have been deleted" },
    { of: 60, missing: 6, made: true, why: "no more than a tenth" },
  ])("$missing of $of: made again: $made, since $why", async ({ of, missing, made }) => {
    const objects = await given(of);
    lose(missing);
    await scene.resync(IPPolicy);
    for (const object of objects) await scene.look(object);
    expect(rows()).toHaveLength(made ? of : of - missing);
    expect(syncedOf(objects[0] as ManagedObject)?.reason).toBe(made ? "Available" : "AccountMismatch");
    for (const object of objects) expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("are noticed by an edit, before anybody lists", async () => {
    const [object] = await given(10);
    lose();
    scene.cluster.apply(IPPolicy, "policy-0", { description: "edited" });
    await scene.settle(object as ManagedObject, 4);
    expect(scene.gateway.taken()).not.toContain("create");
    expect(syncedOf(object as ManagedObject)?.reason).toBe("AccountMismatch");
  });

  it("are noticed by a look that was asked for, before anybody lists", async () => {
    const [object] = await given(10);
    lose();
    ask(object as ManagedObject, "1");
    await scene.settle(object as ManagedObject, 4);
    expect(rows()).toEqual([]);
    expect(syncedOf(object as ManagedObject)?.reason).toBe("AccountMismatch");
  });

  it("are made again once a person who was told confirms it, on the objects that are meant", async () => {
    const objects = await given(10);
    const [first, second] = objects as [ManagedObject, ManagedObject];
    lose();
    await scene.resync(IPPolicy);
    ask(first, "before it was told");
    for (const object of objects) await scene.look(object);
    await scene.look(first);
    expect(rows()).toEqual([]);

    ask(first, "after it was told");
    scene.gateway.refuse("create", 403);
    await scene.look(first);
    await scene.look(first);
    await scene.look(second);
    expect(rows().map(({ id }) => id)).toEqual([scene.idOf(first)]);
    expect(syncedOf(first)?.reason).toBe("Available");
  });

  it.each([
    ["the operator's own", ""],
    ["another", "production"],
  ])("keep new ones from being made in an account that has none of them: %s", async (_, name) => {
    scene.accountName = name;
    const [object] = await given(10);
    lose();
    await scene.resync(IPPolicy);
    await scene.look(object as ManagedObject);
    const fresh = scene.cluster.apply(IPPolicy, "fresh");
    await scene.look(fresh);
    expect(scene.reason(fresh)).toMatch(/^AccountMismatch: /);
    expect(rows()).toEqual([]);
    giveBack();
    await scene.resync(IPPolicy);
    await scene.look(fresh);
    expect(scene.condition(fresh, "Ready")?.status).toBe("True");
  });
});

describe("a suspected account", () => {
  const account = () => scene.contextFor(scene.cluster.apply(IPPolicy, "any")).account;
  const recheckMissing = () => account().recheckMissing(new AbortController().signal);

  it("is asked for one remote now and then, and listed once when it is back", async () => {
    const objects = await given(10);
    lose();
    await scene.resync(IPPolicy);
    for (const object of objects) await scene.look(object);
    scene.gateway.taken();
    for (let second = 0; second < 60; second += 1) {
      await scene.clock.advance(1000);
      await recheckMissing();
    }
    // after 2, 4, 8, 16 and 20 seconds
    expect(scene.gateway.taken()).toHaveLength(5);
    giveBack();
    await scene.clock.advance(20_000);
    await recheckMissing();
    await scene.clock.advance(20_000);
    await recheckMissing();
    expect(scene.gateway.taken().map((call) => call.split(" ")[0])).toEqual(["get", "list"]);
    for (const object of objects) await scene.look(object);
    expect(scene.gateway.taken()).toEqual([]);
    for (const object of objects) expect(syncedOf(object)?.reason).toBe("Available");
  });
});

describe("a deletion that finds nothing", () => {
  it("does not count while the others are missing too, and is done in the right account", async () => {
    const objects = await given(10);
    const [object] = objects as [ManagedObject];
    lose();
    await remove(object);
    expect(scene.cluster.exists(object)).toBe(true);
    expect(scene.reason(object)).toMatch(/^AccountMismatch: /);
    giveBack();
    await scene.resync(IPPolicy);
    await scene.look(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(rows()).toHaveLength(9);
  });

  it("does not count either when all objects are being deleted", async () => {
    const objects = await given(10);
    lose();
    for (const object of objects) await remove(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toHaveLength(10);
  });

  it("counts where the account has others", async () => {
    const objects = await given(10);
    lose(4);
    for (const object of objects.slice(0, 4)) await remove(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toHaveLength(6);
  });

  it("counts where answers to deletions were lost", async () => {
    const objects = await given(10);
    for (const object of objects) {
      scene.gateway.loseAnswer("delete");
      await remove(object);
      // a service that does not answer is given a rest
      await scene.clock.advance(120_000);
    }
    for (const object of objects) await scene.look(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toEqual([]);
  });

  it("counts where a process was killed that had as many under way as it may have", async () => {
    const objects = await given(32);
    for (const object of objects) scene.cluster.delete(object);
    lose();
    scene.restart();
    for (const object of objects) await scene.look(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toEqual([]);
  });

  it("does not count after a restart either, where more is missing than a process can have had under way", async () => {
    const objects = await given(40);
    for (const object of objects) scene.cluster.delete(object);
    lose();
    scene.restart();
    for (const object of objects) await scene.look(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toHaveLength(40);
  });
});
