import { describe, expect, it } from "vitest";
import { AccountScene, type SceneOptions } from "../../../test/fakes/operator/account-scene.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { FINALIZER } from "../../schema/contract.ts";
import type { AccountObject } from "./account-objects.ts";

/** An account whose key the service accepts, after its first reconcile. */
async function settled(name = "a", options: SceneOptions = {}): Promise<AccountScene> {
  const scene = await AccountScene.begin(options);
  scene.accepted.add("right");
  scene.secret(name, { key: "right" });
  scene.account(name);
  await scene.reconcile(name);
  expect(scene.summary(name)).toEqual(["Ready True Available"]);
  return scene;
}

describe("a key", () => {
  it.each([
    ["there is no Secret", undefined, 'Create Secret "a" in this namespace: spec.apiKeySecretRef refers to it'],
    ["its Secret lacks the entry", { other: "x" }, 'Add key "key" to Secret "a": spec.apiKeySecretRef refers to it'],
    ["its entry is empty", { key: "" }, 'Add key "key" to Secret "a": spec.apiKeySecretRef refers to it'],
  ])("is waited for when %s, without a request to the service", async (_, data, message) => {
    const scene = await AccountScene.begin();
    if (data) scene.secret("a", data);
    scene.account("a");
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 5 });
    expect(scene.summary("a")).toEqual(["Ready False SecretNotReady", "Reconciling True SecretNotReady"]);
    expect(scene.condition("a", "Ready")?.message).toBe(message);
    expect(scene.seen).toEqual([]);
  });

  it("is not read between resyncs when Secrets are watched", async () => {
    const scene = await AccountScene.begin({ secretsWatched: true });
    scene.account("a");
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 300 });
  });

  it("that the service accepts makes the account ready, and account and Secret get the finalizer", async () => {
    const scene = await settled();
    expect(scene.keysSent).toEqual(["right"]);
    expect(scene.latest("a")?.metadata.finalizers).toEqual([FINALIZER]);
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    expect(scene.latest("a")?.status).toMatchObject({
      baseURL: scene.serviceURL,
      secretName: "a",
      observedGeneration: 1,
    });
  });

  it("whose account has an annotation that nobody understands works, and the account says so", async () => {
    const scene = await settled();
    scene.server.storage.update("tunnelgateway.dev/v1/gatewayaccounts", "n/a", (now) => ({
      ...now,
      metadata: { ...now.metadata, annotations: { "tunnelgateway.dev/paused": "true" } },
    }));
    await scene.reconcile("a");
    expect(scene.condition("a", "Ready")?.status).toBe("True");
    expect(scene.condition("a", "AnnotationsValid")?.message).toBe(
      "Remove the annotation tunnelgateway.dev/paused: it has no effect on a GatewayAccount",
    );
  });

  it("stays accepted during a pause that the service asks for, and the account says until when", async () => {
    const scene = await settled();
    const { account } = await scene.accounts.checks.check(scene.latest("a") as AccountObject);
    account.turns.budget.pauseAfter429(120);
    const result = await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available", "Reconciling True RateLimited"]);
    expect(scene.condition("a", "Reconciling")?.message).toMatch(/^Waiting until .*Z, no action is needed/);
    expect(result).toEqual({ requeueAfterSeconds: expect.closeTo(121, 0) });
    expect(scene.accounts.figures.accounts.find(({ name }) => name === "n/a")?.pausedUntil).toBeDefined();
    await scene.clock.advance(121_000);
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it("that still works costs one request per resync, and no write", async () => {
    const scene = await settled();
    const writes = scene.writes.length;
    await scene.clock.advance(300_000);
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.keysSent).toEqual(["right", "right"]);
    expect(scene.writes.length).toBe(writes);
  });

  it("that has no permission for the probe makes the account ready as well", async () => {
    const scene = await AccountScene.begin();
    scene.forbidden.add("narrow");
    scene.secret("a", { key: "narrow" });
    scene.account("a");
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it("that the service refuses is reported, and a new key is tried at the next reconcile", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "wrong" });
    scene.account("a");
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 60 });
    expect(scene.summary("a")).toEqual(["Ready False Unauthorized", "Stalled True Unauthorized"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Check the API key/);
    scene.accepted.add("right");
    scene.secret("a", { key: "right" });
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
    expect(scene.keysSent).toEqual(["wrong", "wrong", "right"]);
  });

  it("that was rotated is used from the next reconcile on", async () => {
    const scene = await settled();
    scene.accepted.add("next");
    scene.accepted.delete("right");
    scene.secret("a", { key: "next" });
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
    expect(scene.keysSent).toEqual(["right", "next"]);
  });

  it("reports that it may belong to another account, until a person clears that", async () => {
    const scene = await settled();
    const { account } = await scene.accounts.checks.check(scene.latest("a") as AccountObject);
    const { lossGuard } = account;
    lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 7, total: 60 });
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready False AccountMismatch", "Stalled True AccountMismatch"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(
      /^Check the API key: 7 of 60 remotes are not in its account\. .* on this GatewayAccount$/,
    );
    lossGuard.clear(ipPolicies);
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it("is checked in the background while the service hangs, and the next reconcile gets the answer", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "right" });
    scene.account("a");
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    scene.accepted.add("right");
    scene.beforeList = () => answered;
    scene.broken = true;
    const running = scene.reconcile("a");
    while (scene.seen.length === 0) await scene.clock.advance(0);
    await scene.clock.advance(1000);
    const result = await running;
    if (!("when" in result)) throw new TypeError("it was not postponed");
    resolve();
    await result.when.catch(() => undefined);
    scene.broken = false;
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 60 });
    expect(scene.summary("a")).toEqual(["Ready False ServiceUnavailable", "Reconciling True ServiceUnavailable"]);
    expect(scene.seen).toHaveLength(1);
    await scene.reconcile("a");
    expect(scene.seen).toHaveLength(2);
  });

  it("works again when a person confirms its missing remotes on the GatewayAccount", async () => {
    const scene = await settled();
    const { lossGuard } = (await scene.accounts.checks.check(scene.latest("a") as AccountObject)).account;
    lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 7, total: 60 });
    await scene.reconcile("a");
    expect(lossGuard.isConfirmed("n/a")).toBe(false);
    scene.annotate("a", "1");
    await scene.reconcile("a");
    expect(lossGuard.isConfirmed("n/a")).toBe(true);
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it.each<[string, (scene: AccountScene) => void, string]>([
    ["the service accepts the key", () => {}, "Available"],
    ["the service refuses the key", ({ accepted }) => accepted.clear(), "Unauthorized"],
  ])("that a person asks for is checked, and the answer is shown when %s", async (_, happen, reason) => {
    const scene = await settled();
    happen(scene);
    scene.annotate("a", "1");
    await scene.reconcile("a");
    expect(scene.condition("a", "Ready")?.reason).toBe(reason);
    expect(scene.latest("a")?.status).toMatchObject({ lastHandledReconcileAt: "1" });
  });

  it.each<[string, (scene: AccountScene) => void, (scene: AccountScene) => void]>([
    [
      "the service is away",
      (scene) => Object.assign(scene, { broken: true }),
      (scene) => Object.assign(scene, { broken: false }),
    ],
    ["the Secret has no key", (scene) => scene.secret("a", {}), (scene) => scene.secret("a", { key: "right" })],
  ])(
    "that a person asks for while %s is checked after that, and only then the answer is shown",
    async (_, happen, mend) => {
      const scene = await settled();
      happen(scene);
      scene.annotate("a", "1");
      for (let attempt = 1; attempt <= 3; attempt++) {
        await scene.reconcile("a");
        expect(scene.condition("a", "Ready")?.status).toBe("False");
        expect(scene.latest("a")?.status).not.toHaveProperty("lastHandledReconcileAt");
        await scene.clock.advance(10_000);
      }
      mend(scene);
      await scene.clock.advance(60_000);
      await scene.reconcile("a");
      expect(scene.summary("a")).toEqual(["Ready True Available"]);
      expect(scene.latest("a")?.status).toMatchObject({ lastHandledReconcileAt: "1" });
    },
  );

  it("that a person asks for while the service hangs gets the answer to that check, not the one before", async () => {
    const scene = await settled();
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    scene.beforeList = () => answered;
    scene.broken = true;
    scene.annotate("a", "1");
    const running = scene.reconcile("a");
    while (scene.seen.length === 1) await scene.clock.advance(0);
    await scene.clock.advance(1000);
    const result = await running;
    if (!("when" in result)) throw new TypeError("it was not postponed");
    expect(scene.latest("a")?.status).not.toHaveProperty("lastHandledReconcileAt");
    resolve();
    await result.when.catch(() => undefined);
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready False ServiceUnavailable", "Reconciling True ServiceUnavailable"]);
    expect(scene.latest("a")?.status).not.toHaveProperty("lastHandledReconcileAt");
  });

  it("cannot be checked during an outage, which is reported and retried", async () => {
    const scene = await settled();
    scene.broken = true;
    await scene.clock.advance(300_000);
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 60 });
    expect(scene.summary("a")).toEqual(["Ready False ServiceUnavailable", "Reconciling True ServiceUnavailable"]);
  });

  it("is not checked before the time that the service gives, unless a person asks", async () => {
    const scene = await settled();
    scene.broken = true;
    scene.refusalHeaders = { "retry-after": "300" };
    await scene.clock.advance(300_000);
    const { breaker } = (await scene.accounts.checks.check(scene.latest("a") as AccountObject)).account;
    for (let failures = 0; failures < 5; failures += 1) await scene.reconcile("a");
    await breaker.ready().catch(() => undefined);
    const { length } = scene.seen;
    for (let minute = 0; minute < 4; minute += 1) {
      await scene.clock.advance(60_000);
      await scene.reconcile("a");
    }
    expect(scene.seen).toHaveLength(length);
    scene.annotate("a", "now");
    await scene.reconcile("a");
    expect(scene.seen).toHaveLength(length + 1);
  });

  it("appears neither in the status nor in the log", async () => {
    const scene = await settled();
    scene.accepted.clear();
    await scene.clock.advance(300_000);
    await scene.reconcile("a");
    expect(scene.summary("a")).toContain("Stalled True Unauthorized");
    expect(JSON.stringify([scene.latest("a"), scene.log.lines])).not.toContain("right");
  });
});

describe("a key with characters that cannot be sent", () => {
  it.each(["two\nlines", "two words", "ключ"])("is told as such: %j", async (key) => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key });
    scene.account("a");
    await scene.reconcile("a");
    const { message = "" } = scene.condition("a", "Ready") ?? {};
    expect(message).toMatch(/^Correct key "key" of Secret "a": as an API key, it has characters that cannot be sent/);
    expect(message).not.toContain(key);
    expect(scene.seen).toEqual([]);
  });
});

describe("a base URL", () => {
  it("gets no request when the operator does not allow its host", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "right" });
    scene.account("a", { baseURL: "https://elsewhere.example" });
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.summary("a")).toEqual(["Ready False InvalidSpec", "Stalled True InvalidSpec"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Ask for elsewhere\.example to be added/);
    expect(scene.secretReads).toEqual([]);
  });

  it("stands in the status while it is allowed, and no longer: commands send the key there", async () => {
    const scene = await settled();
    expect(scene.latest("a")?.status).toMatchObject({ baseURL: scene.serviceURL });
    scene.account("a", { baseURL: "https://elsewhere.example" });
    await scene.reconcile("a");
    expect(scene.latest("a")?.status).not.toHaveProperty("baseURL");
  });

  it("is allowed however its host is written", async () => {
    const scene = await AccountScene.begin({ env: { ALLOWED_GATEWAY_HOSTS: "API.Example:443" } });
    for (const baseURL of ["https://api.example", "https://API.example:443/v1"])
      expect(() => scene.accounts.checks.assertAllowed(scene.account("a", { baseURL }))).not.toThrow();
    expect(() =>
      scene.accounts.checks.assertAllowed(scene.account("a", { baseURL: "https://api.example:8443" })),
    ).toThrow();
  });

  // the CRD accepts all of them
  it.each([
    "https://[",
    "https://a b.example",
    "https://api.example:99999",
    "https://api.example?x=1",
    "https://api.example#x",
  ])("%s, which is invalid, is reported", async (baseURL) => {
    const scene = await AccountScene.begin({ env: { ALLOWED_GATEWAY_HOSTS: "api.example" } });
    scene.secret("a", { key: "right" });
    scene.account("a", { baseURL });
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready False InvalidSpec", "Stalled True InvalidSpec"]);
    expect(scene.condition("a", "Ready")?.message).toMatch(/^Correct spec\.baseURL: /);
  });

  it("that was changed is used from the next reconcile on", async () => {
    const scene = await settled();
    scene.account("a", { baseURL: `${scene.serviceURL}/prefix` });
    await scene.reconcile("a");
    expect(scene.latest("a")?.status).toMatchObject({ baseURL: `${scene.serviceURL}/prefix` });
    expect(scene.seen.map(({ url }) => url)).toEqual(["/ip_policies", "/prefix/ip_policies"]);
  });
});

describe("an account that is deleted", () => {
  it("stays, with its Secret, while objects need it", async () => {
    const scene = await settled();
    scene.dependents.set("n/a", 2);
    scene.deleteAccount("a");
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 10 });
    expect(scene.summary("a")).toEqual(["Ready False InUse", "Reconciling True InUse"]);
    expect(scene.condition("a", "Ready")?.message).toContain("the 2 objects that use this account");
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.dependents.clear();
    expect(await scene.reconcile("a")).toEqual({});
    expect(scene.latest("a")).toBeUndefined();
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });

  it("stays while there may be objects that cannot be read", async () => {
    const scene = await settled();
    scene.unreadableKinds = ["TCPEdge"];
    scene.deleteAccount("a");
    expect(await scene.reconcile("a")).toEqual({ requeueAfterSeconds: 10 });
    expect(scene.condition("a", "Ready")?.message).toContain("list and watch all TCPEdge objects");
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.unreadableKinds = [];
    expect(await scene.reconcile("a")).toEqual({});
    expect(scene.latest("a")).toBeUndefined();
  });

  it("is deleted although its Secret does not exist", async () => {
    const scene = await AccountScene.begin();
    scene.account("a");
    await scene.reconcile("a");
    expect(scene.latest("a")?.metadata.finalizers).toEqual([FINALIZER]);
    scene.deleteAccount("a");
    await scene.reconcile("a");
    expect(scene.latest("a")).toBeUndefined();
  });

  it("keeps the finalizer on its Secret when another account has the same Secret", async () => {
    const scene = await settled();
    scene.account("b", { apiKeySecretRef: { name: "a", key: "key" } });
    await scene.reconcile("b");
    scene.deleteAccount("a");
    await scene.reconcile("a");
    expect(scene.latest("a")).toBeUndefined();
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.deleteAccount("b");
    await scene.reconcile("b");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });

  it("removes the finalizer from its Secret when all accounts that have it are deleted at the same time", async () => {
    const scene = await settled();
    scene.account("b", { apiKeySecretRef: { name: "a", key: "key" } });
    await scene.reconcile("b");
    scene.deleteAccount("a");
    scene.deleteAccount("b");
    await Promise.all([scene.reconcile("a"), scene.reconcile("b")]);
    // the one whose write to the Secret came second is reconciled again
    for (const name of ["a", "b"]) await scene.reconcile(name);
    expect([scene.latest("a"), scene.latest("b"), scene.finalizersOfSecret("a")]).toEqual([undefined, undefined, []]);
  });
});

describe("an account that names another Secret", () => {
  const other = { apiKeySecretRef: { name: "other", key: "key" } };

  it("removes the finalizer of the Secret before", async () => {
    const scene = await settled();
    scene.secret("other", { key: "right" });
    scene.account("a", other);
    await scene.reconcile("a");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
    expect(scene.finalizersOfSecret("other")).toEqual([FINALIZER]);
    expect(scene.latest("a")?.status?.secretName).toBe("other");
  });

  it("removes the finalizer of the Secret before once the other one exists", async () => {
    const scene = await settled();
    scene.account("a", other);
    await scene.reconcile("a");
    expect(scene.summary("a")).toContain("Ready False SecretNotReady");
    expect(scene.finalizersOfSecret("a")).toEqual([FINALIZER]);
    scene.secret("other", { key: "right" });
    await scene.reconcile("a");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
    expect(scene.finalizersOfSecret("other")).toEqual([FINALIZER]);
  });

  it("removes the finalizer of the Secret before when it is deleted, although the other one never existed", async () => {
    const scene = await settled();
    scene.account("a", other);
    await scene.reconcile("a");
    scene.deleteAccount("a");
    await scene.reconcile("a");
    expect(scene.latest("a")).toBeUndefined();
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });

  it("removes the finalizers of all earlier Secrets, after whichever write the process was killed", async () => {
    for (let writes = 0; ; writes += 1) {
      const scene = await settled();
      scene.secret("other", { key: "right" });
      scene.account("a", other);
      scene.killAfter(writes);
      const killed = await scene.reconcile("a").then(
        () => scene.wasKilled,
        () => true,
      );
      scene.killAfter(Number.POSITIVE_INFINITY);
      scene.secret("third", { key: "right" });
      scene.account("a", { apiKeySecretRef: { name: "third", key: "key" } });
      await scene.reconcile("a");
      expect([scene.finalizersOfSecret("a"), scene.finalizersOfSecret("other")]).toEqual([[], []]);
      expect(scene.finalizersOfSecret("third")).toEqual([FINALIZER]);
      if (!killed) break;
    }
  });
});

describe("a write of the operator that fails", () => {
  it.each([
    ["because somebody wrote first", { status: 409 }],
    ["because the object has changed", { status: 422 }],
  ])("%s is repeated at the next reconcile, and is no error", async (_, fault) => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "own-key" });
    scene.account("a");
    scene.failing = ({ method }) => (method === "PATCH" ? fault : undefined);
    expect(await scene.reconcile("a")).toEqual({ stale: true });
    scene.failing = () => undefined;
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
    scene.deleteAccount("a");
    scene.failing = ({ method }) => (method === "PATCH" ? fault : undefined);
    expect(await scene.reconcile("a")).toEqual({ stale: true });
    scene.failing = () => undefined;
    await scene.reconcile("a");
    expect(scene.latest("a")).toBeUndefined();
  });

  it("because the account is gone is no error", async () => {
    const scene = await AccountScene.begin();
    scene.secret("a", { key: "own-key" });
    scene.account("a");
    scene.failing = ({ method }) => (method === "PATCH" ? { status: 404 } : undefined);
    await scene.reconcile("a");
    expect(scene.finalizersOfSecret("a")).toEqual([]);
  });
});

describe("a certificate that is served and has no object", () => {
  const certificate = (until: string) => ({ kind: "TLSCertificate", id: "cert_1", until: Date.parse(until) });

  it("is reported by a condition, which is written once", async () => {
    const scene = await settled();
    scene.loneCertificate = certificate("2999-01-01T00:00:00Z");
    await scene.reconcile("a");
    expect(scene.condition("a", "CertificateReady")).toMatchObject({
      status: "True",
      reason: "Available",
      message:
        "Of the certificates that are served and have no object, TLSCertificate cert_1 ends first, at 2999-01-01T00:00:00Z",
    });
    const writes = scene.writes.length;
    await scene.reconcile("a");
    // As after a restart, when no list was read yet.
    scene.loneCertificate = "unknown";
    await scene.reconcile("a");
    expect(scene.writes.length).toBe(writes);
    scene.loneCertificate = "none";
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available"]);
  });

  it("is reported when it has expired, and the account stays ready", async () => {
    const scene = await settled();
    scene.loneCertificate = certificate("2001-01-01T00:00:00Z");
    await scene.reconcile("a");
    expect(scene.summary("a")).toEqual(["Ready True Available", "CertificateReady False CertificateExpired"]);
    expect(scene.condition("a", "CertificateReady")?.message).toBe(
      "Replace TLSCertificate cert_1, which has no object and is served: the certificate ended at 2001-01-01T00:00:00Z",
    );
  });

  it("is reported as before while the key is refused", async () => {
    const scene = await settled();
    scene.loneCertificate = certificate("2999-01-01T00:00:00Z");
    await scene.reconcile("a");
    scene.accepted.delete("right");
    await scene.clock.advance(300_000);
    await scene.reconcile("a");
    expect(scene.summary("a")).toContain("Ready False Unauthorized");
    expect(scene.summary("a")).toContain("CertificateReady True Available");
  });
});
