import { beforeEach, describe, expect, it } from "vitest";
import { DEADLINE_MS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { SSHCredential } from "../../../kinds/ssh-credential.ts";
import { TunnelGroupBackend } from "../../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../../objects/object.ts";

const DAY_MS = 86_400_000;
const labels = { app: "db" };
const metadata = "opaque";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const ids = () => scene.gateway.remotesOf(TunnelGroupBackend.resource).map(({ id }) => id);

describe("a create that would have left an owner mark", () => {
  it("did not make an equal remote without one that somebody else has made meanwhile", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(TunnelGroupBackend, "one", { labels });
    const theirs = scene.gateway.seed(TunnelGroupBackend.resource, { labels });
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.idOf(object)).not.toBe(theirs.id);
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toEqual([theirs]);
  });

  describe("is found by it, although the spec has come to leave no room for one,", () => {
    let object: ManagedObject;

    beforeEach(async () => {
      scene.gateway.loseAnswer("create");
      object = await scene.apply(TunnelGroupBackend, "one", { labels });
      scene.cluster.apply(TunnelGroupBackend, "one", { labels, metadata });
    });

    it("and not sent again", async () => {
      const before = ids();
      await scene.settle(object);
      expect(before).toEqual([scene.idOf(object)]);
      expect(ids()).toEqual(before);
    });

    it("and what it made goes with the object", async () => {
      await scene.deleteAndSettle(object);
      expect(scene.cluster.exists(object)).toBe(false);
      expect(ids()).toEqual([]);
    });
  });
});

it("a create did not make a remote with another value in a field that never changes", async () => {
  scene.gateway.swallow("create");
  const object = await scene.apply(SSHCredential, "one", { metadata, publicKey: "ssh-ed25519 AAAAone" });
  const theirs = scene.gateway.seed(SSHCredential.resource, { metadata, public_key: "ssh-ed25519 AAAAtwo" });
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(scene.idOf(object)).not.toBe(theirs.id);
});

it("a remote that a later create made than the backup of its object knows is left when the object is deleted at once", async () => {
  const object = await scene.given(IPPolicy, "office");
  const { status: _, ...backup } = object;
  scene.gateway.drop(IPPolicy.resource, scene.idOf(object));
  await scene.clock.advance(DAY_MS);
  await scene.resync(IPPolicy, object);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  scene.cluster.restore(backup);
  scene.restart();
  await scene.clock.advance(2 * DEADLINE_MS);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
});
