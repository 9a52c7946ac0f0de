import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../../kinds/api-key.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("an API key whose Secret was lost", () => {
  beforeEach(() => {
    scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
  });

  const token = () => scene.cluster.secretNow("ci")?.data["token"];

  it("is replaced, and the old one is deleted", async () => {
    const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
    expect(token()).toBe("token of ak_1");
    scene.cluster.removeSecret("ci");
    await scene.settle(object, 4);
    expect(token()).toBe("token of ak_2");
    expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: "ak_2" }]);
  });

  it("is not created when its Secret cannot be written", async () => {
    scene.cluster.beforeWrite = (write) => {
      if (write === "tryWriteSecret") throw new Retry("Forbidden", "not allowed");
    };
    const object = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci" });
    await scene.settle(object, 3);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.reason(object)).toBe("Forbidden: not allowed");
  });

  it("is not replaced when it was adopted, since the operator never had its token", async () => {
    const { id } = scene.gateway.seed(APIKey.resource, {});
    const object = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci", adopt: { id } });
    await scene.settle(object, 4);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id }]);
    expect(scene.cluster.secretNow("ci")).toBeUndefined();
  });

  it.each<[string, () => Promise<{ id: string; from?: string }>]>([
    ["was there before", async () => ({ id: scene.gateway.seed(APIKey.resource, {}).id })],
    [
      "another object has handed over",
      async () => {
        const object = await scene.given(APIKey, "old", { tokenSecretName: "old" });
        scene.cluster.annotateByHand(object, annotations.releaseTo, "team-a/ci");
        return { id: scene.idOf(object), from: "team-a/old" };
      },
    ],
  ])("is not replaced when it %s, also when the spec no longer says so", async (_, given) => {
    const adopt = await given();
    const object = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci", adopt });
    await scene.settle(object, 3);
    scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci" });
    await scene.settle(object, 4);
    scene.restart();
    await scene.settle(object, 4);
    expect(scene.reason(object)).toMatch(/^Available: /);
    expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: adopt.id }]);
  });

  it("is not replaced when an earlier object of its name left an intent, and the spec no longer says that it was adopted", async () => {
    const { id } = scene.gateway.seed(APIKey.resource, {});
    const object = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci", adopt: { id } });
    scene.cluster.annotateByHand(object, annotations.createIntent, "2026-01-01T00:00:00.000Z");
    await scene.settle(object, 4);
    scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci" });
    await scene.settle(object, 4);
    expect(scene.reason(object)).toMatch(/^Available: /);
    expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id }]);
  });

  it("is deleted also when the Secret of the new key could not be written", async () => {
    const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
    scene.cluster.removeSecret("ci");
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeSecret") throw new Retry("Forbidden", "not now");
    };
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "ak_2", retiring: ["ak_1"] });
    scene.cluster.beforeWrite = () => {};
    await scene.settle(object, 6);
    expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: scene.idOf(object) }]);
    expect(token()).toBe(`token of ${scene.idOf(object)}`);
  });

  it.each(["swallow", "loseAnswer"] as const)(
    "is replaced by one key when its status is lost as well, and stays, since nobody knows who has it (%s)",
    async (mishap) => {
      const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
      const lost = scene.idOf(object);
      scene.cluster.removeSecret("ci");
      scene.gateway[mishap]("create");
      await scene.reconcile(object);
      scene.cluster.loseStatus(object);
      scene.restart();
      await scene.settle(object, 12);
      expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: lost }, { id: scene.idOf(object) }]);
      expect(token()).toBe(`token of ${scene.idOf(object)}`);
    },
  );

  describe("of which the service shows no token", () => {
    const showsNone = () => {
      scene.gateway.normalise = ({ token: _, ...remote }) => remote;
    };

    it("says so, is created less and less often, and leaves no key behind", async () => {
      showsNone();
      const object = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci" });
      await scene.settle(object, 12);
      expect(scene.reason(object)).toMatch(
        /^UnexpectedResponse: .*POST \/api_keys: ak_\d+ was created, but the answer has no token that can be read/,
      );
      expect(scene.gateway.remotesOf(APIKey.resource).length).toBeLessThanOrEqual(2);
      const creates = () => scene.gateway.everyCall.filter(({ verb }) => verb === "create").length;
      const before = creates();
      const began = scene.clock.now();
      // each delay is random, up to five minutes
      await scene.settle(object, 60);
      expect(creates()).toBeGreaterThan(before);
      expect((scene.clock.now() - began) / (creates() - before)).toBeGreaterThan(30_000);
      expect(Object.keys(scene.cluster.now(object).status?.tokenDigests ?? {}).length).toBeLessThanOrEqual(2);
    });

    it("leaves the key that it replaces, of which the Secret has the token, until there is another one", async () => {
      const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci", ownerId: "usr_1" });
      const before = scene.idOf(object);
      const shows = scene.gateway.normalise;
      showsNone();
      scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci", ownerId: "usr_2" });
      await scene.settle(object, 12);
      expect(token()).toBe(`token of ${before}`);
      expect(scene.gateway.remote(APIKey.resource, before)).toBeDefined();
      expect(scene.gateway.remotesOf(APIKey.resource).length).toBeLessThanOrEqual(3);
      scene.gateway.normalise = shows;
      await scene.settle(object, 12);
      expect(token()).toBe(`token of ${scene.idOf(object)}`);
      expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: scene.idOf(object), owner_id: "usr_2" }]);
    });

    it("does not count as one that nobody has, unless its mark says that this create made it", async () => {
      scene.gateway.normalise = ({ token: _, metadata: __, ...remote }) => remote;
      const object = await scene.apply(APIKey, "ci", { tokenSecretName: "ci" });
      expect(scene.reason(object)).toMatch(/^UnexpectedResponse/);
      expect(scene.cluster.now(object).status?.tokenDigests).toBeUndefined();
    });

    it.each([false, true])("has one as soon as the service shows it (in a new process: %s)", async (isNew) => {
      showsNone();
      const object = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "ci" });
      await scene.settle(object, 3);
      scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
      if (isNew) scene.restart();
      await scene.settle(object, 12);
      expect(scene.reason(object)).toMatch(/^Available: /);
      expect(token()).toBe(`token of ${scene.idOf(object)}`);
      expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: scene.idOf(object) }]);
    });
  });
});
