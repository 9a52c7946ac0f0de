import { describe, expect, it } from "vitest";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { FINALIZER } from "../../schema/contract.ts";
import type { AccountObject } from "./accounts.ts";
import { AccountScene, type SceneOptions } from "./testing/account-scene.ts";

/** An account whose key the service takes, and that has been looked at. */
async function settled(name = "a", options: SceneOptions = {}): Promise<AccountScene> {
  const scene = await AccountScene.begin(options);
  scene.accepted.add("right");
  scene.secret(name, { key: "right" });
  scene.account(name);
  await scene.look(name);
  expect(scene.summary(name)).toEqual(["Ready True Available"]);
  return scene;
}

describe("a key", () => {
  it.each([
    ["there is no Secret", undefined, 'Create Secret "a" in this namespace: spec.apiKeySecretRef refers to it'],
    ["its Secret lacks the entry", { other: "x" }, 'Add key "key" to Secret "a": spec.apiKeySecretRef refers to it'],
    ["its entry is empty", { key: "" }, 'Add key "key" to Secret "a": spec.apiKeySecretRef refers to it'],
  ])("is waited for where %s, and the service is not asked", async (_, data, message) => {
    const scene = await AccountScene.begin();
    if (data) scene.secret("a", data);
    scene.account("a");
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 5 });
    expect(scene.summary("a")).toEqual(["Ready False SecretNotReady", "Reconciling True SecretNotReady"]);
    expect(scene.condition("a", "Ready")?.message).toBe(message);
    expect(scene.seen).toEqual([]);
  });

  it("is not asked for between resyncs where a watch tells of Secrets", async () => {
    const scene = await AccountScene.begin({ secretsWatched: true });
    scene.account("a");
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 300 });
  });

  it("that the service takes makes the account ready, and is held on to with its Secret", async () => {
    const scene = await settled();
    expect(scene.keysSent).toEqual(["right"]);
    expect(scene.now("a")?.metadata.finalizers).toEqual([FINALIZER]);
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    expect(scene.now("a")?.status).toMatchObject({ baseURL: scene.serviceURL, secretName: "a", observedGeneration: 1 });
  });

  it("that goes on working costs one request at each resync, and no write", async () => {
    const scene = await settled();
    const writes = scene.writes.length;
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.keysSent).toEqual(["right", "right"]);
    expect(scene.writes.length).toBe(writes);
  });

  it("that may not list what the operator asks for is good all the same", async () => {
    const scene = await AccountScene.begin();
    scene.forbidden.add("narrow");
    scene.secret("a", { key: "narrow" });
    scene.account("a");
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it("that the service refuses is told, and one in its place is tried at the next look", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "wrong" });
    scene.account("a");
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 60 });
    expect(scene.summary("a")).toEqual(["Ready False Unauthorized", "Stalled True Unauthorized"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Check the API key/);
    scene.accepted.add("right");
    scene.secret("a", { key: "right" });
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
    expect(scene.keysSent).toEqual(["wrong", "right"]);
  });

  it("that is rotated is used from the next look on", async () => {
    const scene = await settled();
    scene.accepted.add("next");
    scene.accepted.delete("right");
    scene.secret("a", { key: "next" });
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
    expect(scene.keysSent).toEqual(["right", "next"]);
  });

  it("that may be one of another account is told until that is cleared", async () => {
    const scene = await settled();
    const { lossGuard } = scene.accounts.ofGatewayAccount(scene.now("a") as AccountObject);
    lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 7, total: 60 });
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready False AccountMismatch", "Stalled True AccountMismatch"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Check the API key.*: 7 of 60 under \/ip_policies /);
    lossGuard.clear(ipPolicies);
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it("cannot be judged during an outage, which is told and looked at again", async () => {
    const scene = await settled();
    scene.broken = true;
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 60 });
    expect(scene.summary("a")).toEqual(["Ready False ServiceUnavailable", "Reconciling True ServiceUnavailable"]);
  });

  it("is in no status and no line of the log", async () => {
    const scene = await settled();
    scene.accepted.clear();
    await scene.look("a");
    expect(scene.summary("a")).toContain("Stalled True Unauthorized");
    expect(JSON.stringify([scene.now("a"), scene.log.lines])).not.toContain("right");
  });
});

describe("a base URL", () => {
  it("of a host that the operator does not allow gets nothing", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "right" });
    scene.account("a", { baseURL: "https://elsewhere.example" });
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.summary("a")).toEqual(["Ready False InvalidSpec", "Stalled True InvalidSpec"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Ask for elsewhere\.example to be added/);
    expect(scene.secretReads).toEqual([]);
  });

  // all of them pass the rules of the CRD
  it.each([
    "https://[",
    "https://a b.example",
    "https://api.example:99999",
    "https://api.example?x=1",
    "https://api.example#x",
  ])("%s, which is none, is refused in words", async (baseURL) => {
    const scene = await AccountScene.begin({ env: { ALLOWED_GATEWAY_HOSTS: "api.example" } });
    scene.secret("a", { key: "right" });
    scene.account("a", { baseURL });
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready False InvalidSpec", "Stalled True InvalidSpec"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Correct spec\.baseURL: /);
  });

  it("that becomes another is used at the next look", async () => {
    const scene = await settled();
    scene.account("a", { baseURL: `${scene.serviceURL}/prefix` });
    await scene.look("a");
    expect(scene.now("a")?.status).toMatchObject({ baseURL: `${scene.serviceURL}/prefix` });
    expect(scene.seen.map(({ url }) => url)).toEqual(["/ip_policies", "/prefix/ip_policies"]);
  });
});

describe("an account that is deleted", () => {
  it("stays, with its Secret, while objects need it", async () => {
    const scene = await settled();
    scene.dependents.set("n/a", 2);
    scene.deleteAccount("a");
    expect(await scene.look("a")).toEqual({ requeueAfterSeconds: 10 });
    expect(scene.summary("a")).toEqual(["Ready False InUse", "Reconciling True InUse"]);
    expect(scene.condition("a", "Ready")?.message).toContain("the 2 objects that need this account");
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.dependents.clear();
    expect(await scene.look("a")).toEqual({});
    expect(scene.now("a")).toBeUndefined();
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });

  it("goes although its Secret is gone, or never was", async () => {
    const scene = await AccountScene.begin();
    scene.account("a");
    await scene.look("a");
    expect(scene.now("a")?.metadata.finalizers).toEqual([FINALIZER]);
    scene.deleteAccount("a");
    await scene.look("a");
    expect(scene.now("a")).toBeUndefined();
  });

  it("leaves its Secret to another account that has the same one", async () => {
    const scene = await settled();
    scene.account("b", { apiKeySecretRef: { name: "a", key: "key" } });
    await scene.look("b");
    scene.deleteAccount("a");
    await scene.look("a");
    expect(scene.now("a")).toBeUndefined();
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.deleteAccount("b");
    await scene.look("b");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });

  it("leaves its Secret free when all that have it go at the same time", async () => {
    const scene = await settled();
    scene.account("b", { apiKeySecretRef: { name: "a", key: "key" } });
    await scene.look("b");
    scene.deleteAccount("a");
    scene.deleteAccount("b");
    await Promise.all([scene.look("a"), scene.look("b")]);
    // whose write to the Secret came second looks again
    for (const name of ["a", "b"]) await scene.look(name);
    expect([scene.now("a"), scene.now("b"), scene.finalizersOfSecret("a")]).toEqual([undefined, undefined, []]);
  });
});

describe("an account that names another Secret", () => {
  const other = { apiKeySecretRef: { name: "other", key: "key" } };

  it("lets the one before go", async () => {
    const scene = await settled();
    scene.secret("other", { key: "right" });
    scene.account("a", other);
    await scene.look("a");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
    expect(scene.finalizersOfSecret("other")).toEqual([FINALIZER]);
    expect(scene.now("a")?.status?.secretName).toBe("other");
  });

  it("lets the one before go although the other comes later", async () => {
    const scene = await settled();
    scene.account("a", other);
    await scene.look("a");
    expect(scene.summary("a")).toContain("Ready False SecretNotReady");
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.secret("other", { key: "right" });
    await scene.look("a");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
    expect(scene.finalizersOfSecret("other")).toEqual([FINALIZER]);
  });

  it("lets the one before go with itself, where the other never comes", async () => {
    const scene = await settled();
    scene.account("a", other);
    await scene.look("a");
    scene.deleteAccount("a");
    await scene.look("a");
    expect(scene.now("a")).toBeUndefined();
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });

  it("lets go of all of them, wherever the process ends on the way", async () => {
    for (let writes = 0; ; writes += 1) {
      const scene = await settled();
      scene.secret("other", { key: "right" });
      scene.account("a", other);
      scene.diesAfter(writes);
      const died = await scene.look("a").then(
        () => scene.hasDied,
        () => true,
      );
      scene.diesAfter(Number.POSITIVE_INFINITY);
      scene.secret("third", { key: "right" });
      scene.account("a", { apiKeySecretRef: { name: "third", key: "key" } });
      await scene.look("a");
      expect([scene.finalizersOfSecret("a"), scene.finalizersOfSecret("other")]).toEqual([[], []]);
      expect(scene.finalizersOfSecret("third")).toEqual([FINALIZER]);
      if (!died) break;
    }
  });
});

describe("a write of the operator that comes too late", () => {
  it.each([
    ["since somebody wrote first", { status: 409 }],
    ["since the object has changed", { status: 422 }],
  ])("%s is made at the next look, and no fault of the program", async (_, fault) => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "own-key" });
    scene.account("a");
    scene.failing = ({ method }) => (method === "PATCH" ? fault : undefined);
    expect(await scene.look("a")).toEqual({ stale: true });
    scene.failing = () => undefined;
    await scene.look("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
    scene.deleteAccount("a");
    scene.failing = ({ method }) => (method === "PATCH" ? fault : undefined);
    expect(await scene.look("a")).toEqual({ stale: true });
    scene.failing = () => undefined;
    await scene.look("a");
    expect(scene.now("a")).toBeUndefined();
  });

  it("since the account is gone is no fault either", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "own-key" });
    scene.account("a");
    scene.failing = ({ method }) => (method === "PATCH" ? { status: 404 } : undefined);
    await scene.look("a");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });
});
