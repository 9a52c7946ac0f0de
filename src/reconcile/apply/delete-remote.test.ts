import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import type { Failure } from "../../gateway/errors.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("a 404 for each of several deletions, while the account shows no other remote of their kind", () => {
  async function deleting(count: number): Promise<ManagedObject[]> {
    const objects: ManagedObject[] = [];
    for (let index = 0; index < count; index += 1) objects.push(await scene.given(IPPolicy, `policy-${index}`));
    await scene.resync(IPPolicy);
    await scene.clock.advance(1);
    for (const object of objects) scene.cluster.delete(object);
    return objects;
  }

  /** As if somebody had deleted them, or the key belonged to another account. */
  function loseRemotes(): void {
    for (const { id } of scene.gateway.remotesOf(IPPolicy.resource)) scene.gateway.drop(IPPolicy.resource, id);
  }

  async function reconcileEach(objects: readonly ManagedObject[]): Promise<void> {
    for (const object of objects) await scene.reconcile(object);
  }

  const left = (objects: readonly ManagedObject[]): ManagedObject[] =>
    objects.filter((object) => scene.cluster.exists(object));

  it("does not count for five that this process has listed", async () => {
    const objects = await deleting(5);
    loseRemotes();
    await reconcileEach(objects);
    expect(left(objects)).toHaveLength(5);
    for (const object of objects) expect(scene.reason(object)).toMatch(/^AccountMismatch: .* 5 of 5 remotes/);
  });

  it("counts as a deletion for four, which a person may have deleted", async () => {
    const objects = await deleting(4);
    loseRemotes();
    await reconcileEach(objects);
    expect(left(objects)).toEqual([]);
  });

  it.each<Failure["kind"]>(["unknown", "failed", "unreadable"])(
    "counts for five of which an earlier DELETE may have been carried out, as it was %s",
    async (kind) => {
      const objects = await deleting(5);
      for (const object of objects) {
        scene.gateway.loseAnswer("delete", { kind });
        await scene.reconcile(object);
        expect(scene.cluster.exists(object)).toBe(true);
        // until the circuit breaker is closed again
        await scene.clock.advance(120_000);
      }
      await reconcileEach(objects);
      expect(left(objects)).toEqual([]);
    },
  );

  it("does not count for five of which an earlier DELETE was refused", async () => {
    const objects = await deleting(5);
    for (const object of objects) {
      scene.gateway.refuse("delete", 409);
      await scene.reconcile(object);
    }
    await scene.clock.advance(60_000);
    loseRemotes();
    await reconcileEach(objects);
    expect(left(objects)).toHaveLength(5);
    for (const object of objects) expect(scene.reason(object)).toMatch(/^AccountMismatch: /);
  });
});
