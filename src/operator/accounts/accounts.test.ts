import { describe, expect, it } from "vitest";
import type { Account } from "../../account/account.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import { AccountScene, OWN_KEY } from "./testing/account-scene.ts";

function object(accountRef?: string, status?: Status, more: Partial<ManagedObject["metadata"]> = {}): ManagedObject {
  return {
    ...{ apiVersion: "tunnelgateway.dev/v1", kind: IPPolicy.kind },
    metadata: { name: "office", namespace: "n", uid: "u", generation: 1, resourceVersion: "1", ...more },
    spec: accountRef === undefined ? {} : { accountRef: { name: accountRef } },
    ...(status && { status }),
  };
}

const ask = (account: Account) =>
  account.collection(ipPolicies).probe({ lane: "edit", signal: new AbortController().signal });

/** A scene with an account whose key the service takes. */
async function given(name = "a"): Promise<AccountScene> {
  const scene = await AccountScene.begin();
  scene.accepted.add("right");
  scene.secret(name, { key: "right" });
  scene.account(name);
  return scene;
}

describe("the account of an object", () => {
  it("is the operator's own where nothing names another", async () => {
    const scene = await given("other");
    expect(scene.accounts.accountOf(object())).toBe(scene.accounts.own);
    await ask(scene.accounts.own);
    expect(scene.keysSent).toEqual([OWN_KEY]);
  });

  it("is the one called default where its namespace has one", async () => {
    const scene = await given("default");
    await ask(scene.accounts.accountOf(object()));
    expect(scene.keysSent).toEqual(["right"]);
    expect(scene.accounts.accountOf(object(undefined, undefined, { namespace: "elsewhere" }))).toBe(scene.accounts.own);
  });

  it("is the one that it names, the same at each look", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    expect(account).not.toBe(scene.accounts.own);
    expect(scene.accounts.accountOf(object("a"))).toBe(account);
    expect(scene.accounts.all).toEqual([scene.accounts.own, account]);
  });

  it("is waited for where it is missing", async () => {
    const scene = await AccountScene.begin();
    expect(() => scene.accounts.accountOf(object("a"))).toThrow(
      expect.objectContaining({
        name: "Waiting",
        reason: "AccountNotReady",
        message: expect.stringMatching(/^Create GatewayAccount "a"/),
      }),
    );
  });

  it.each([
    ["another", "b", "a", /set accountRef: \{name: a\}.*accountRef is another account now/],
    ["the default", undefined, "a", /set accountRef: \{name: a\}.*its default is another account now/],
    ["an account for the first time", "a", undefined, /remove accountRef and the GatewayAccount named default/],
  ])("stays that of its remote when the spec comes to mean %s", async (_, names, recorded, words) => {
    const scene = await given();
    const status = { id: "ipp_1", ...(recorded && { account: recorded }) };
    expect(() => scene.accounts.accountOf(object(names, status))).toThrow(
      expect.objectContaining({ name: "Blocked", reason: "AccountMismatch", message: expect.stringMatching(words) }),
    );
    const leaving = object(names, status, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(scene.accounts.accountOf(leaving)).toBe(
      recorded ? scene.accounts.accountOf(object("a")) : scene.accounts.own,
    );
  });

  it("is another once its GatewayAccount is, and the old one's requests end", async () => {
    const scene = await given();
    const before = scene.accounts.accountOf(object("a"));
    scene.deleteAccount("a");
    scene.account("a");
    expect(scene.accounts.accountOf(object("a"))).not.toBe(before);
    await expect(ask(before)).rejects.toThrow();
    expect(scene.keysSent).toEqual([]);
  });
});

describe("an account that is being deleted", () => {
  it("is for those alone that have something in it, or may have", async () => {
    const scene = await given();
    await scene.look("a");
    scene.deleteAccount("a");
    expect(() => scene.accounts.accountOf(object("a"))).toThrow(
      expect.objectContaining({
        name: "Waiting",
        reason: "AccountNotReady",
        message: expect.stringMatching(/^Name another account: .*"a" is being deleted/),
      }),
    );
    const intent = "2026-01-01T00:00:00.000Z/2026-01-01T00:00:00.000Z";
    const theirs = [
      object("a", { id: "ipp_1", account: "a" }),
      object("a", undefined, { annotations: { [annotations.createIntent]: intent } }),
      object("a", undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ];
    for (const one of theirs) expect(scene.accounts.all).toContain(scene.accounts.accountOf(one));
  });
});

describe("the key of an account", () => {
  it("is read once for all requests of half a minute", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    await ask(account);
    scene.secret("a", { key: "next" });
    await scene.clock.advance(29_000);
    await ask(account);
    expect(scene.secretReads).toEqual(["n/a"]);
    scene.accepted.add("next");
    await scene.clock.advance(1000);
    await ask(account);
    expect(scene.keysSent).toEqual(["right", "right", "next"]);
  });

  it("is read again at once when the service refuses it", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    await ask(account);
    scene.accepted.delete("right");
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    await expect(ask(account)).rejects.toMatchObject({ status: 401 });
    await scene.clock.advance(2000);
    await ask(account);
    expect(scene.keysSent).toEqual(["right", "right", "next"]);
    expect(scene.clock.now()).toBeLessThan(30_000);
  });

  it("is read for each request while it may be one of another account", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    await ask(account);
    account.lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 5, total: 5 });
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    await ask(account);
    expect(scene.keysSent).toEqual(["right", "next"]);
  });

  it("is read again at once when the account is looked at", async () => {
    const scene = await given();
    await ask(scene.accounts.accountOf(object("a")));
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    await scene.look("a");
    await ask(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["right", "next", "next"]);
  });

  it("that was being read while it changed is not held", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforeSecret = () => promise;
    const slow = ask(account);
    await scene.clock.advance(1);
    scene.beforeSecret = () => {};
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    scene.accounts.invalidateKey("n/a");
    resolve();
    await slow;
    await ask(account);
    expect(scene.keysSent).toEqual(["right", "next"]);
  });

  it("goes with its account, also while it is being read", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforeSecret = () => promise;
    const slow = ask(account).catch(() => {});
    await scene.clock.advance(1);
    scene.deleteAccount("a");
    scene.accounts.remove("n/a");
    scene.beforeSecret = () => {};
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    scene.account("a");
    resolve();
    await slow;
    for (let times = 0; times < 2; times += 1) await ask(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["next", "next"]);
  });

  it.each([
    ["its Secret is missing", () => {}],
    ["its entry is empty", (scene: AccountScene) => scene.secret("a", { key: "" })],
  ])("is said to be missing where %s, and nothing is sent", async (_, prepare) => {
    const scene = await AccountScene.begin();
    scene.account("a");
    prepare(scene);
    await expect(ask(scene.accounts.accountOf(object("a")))).rejects.toMatchObject({
      kind: "unsent",
      code: "no_api_key",
    });
    expect(scene.seen).toEqual([]);
  });
});
