import { describe, expect, it } from "vitest";
import { AccountScene, OWN_KEY } from "../../../test/fakes/operator/account-scene.ts";
import type { Account } from "../../account/account.ts";
import { ipPolicies, reservedDomains } from "../../gateway/resources/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { intentOf } from "../../objects/intent.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";
import type { AccountObject } from "./account-objects.ts";

function object(accountRef?: string, status?: Status, more: Partial<ManagedObject["metadata"]> = {}): ManagedObject {
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: IPPolicy.kind,
    metadata: { name: "office", namespace: "n", uid: "u", generation: 1, resourceVersion: "1", ...more },
    spec: accountRef === undefined ? {} : { accountRef: { name: accountRef } },
    ...(status && { status }),
  };
}

const probe = (account: Account) =>
  account.collection(ipPolicies).list.probe({ lane: "edit", signal: new AbortController().signal });

/** A scene with an account whose key the service accepts. */
async function given(name = "a"): Promise<AccountScene> {
  const scene = await AccountScene.begin();
  scene.accepted.add("right");
  scene.secret(name, { key: "right" });
  scene.account(name);
  return scene;
}

it("there are at most the operator's own account and one for each GatewayAccount", async () => {
  const scene = await AccountScene.begin();
  expect(scene.accounts.most).toBe(1);
  scene.account("a");
  scene.account("b");
  expect(scene.accounts.most).toBe(3);
});

describe("the account of an object", () => {
  it("is the operator's own by default", async () => {
    const scene = await given("other");
    expect(scene.accounts.accountOf(object())).toBe(scene.accounts.own);
    await probe(scene.accounts.own);
    expect(scene.keysSent).toEqual([OWN_KEY]);
  });

  it("is the GatewayAccount named default, if its namespace has one", async () => {
    const scene = await given("default");
    await probe(scene.accounts.accountOf(object()));
    expect(scene.keysSent).toEqual(["right"]);
    expect(scene.accounts.accountOf(object(undefined, undefined, { namespace: "elsewhere" }))).toBe(scene.accounts.own);
  });

  it("is known of all objects of a namespace that is read later, before any of them is reconciled", async () => {
    const scene = await given();
    await scene.accounts.readKeysIn("n");
    expect(scene.secretReads).toEqual([]);
    await scene.accounts.settle(object("a"));
    scene.secret("b", { key: "right" });
    scene.account("b");
    scene.secretReads.length = 0;
    await scene.accounts.readKeysIn("elsewhere");
    expect(scene.secretReads).toEqual([]);
    await scene.accounts.readKeysIn("n");
    expect(scene.secretReads).toContain("n/b");
    expect(scene.accounts.ofObjects.isSameAccount(object("a"), object("b"))).toBe(true);
  });

  it("is the GatewayAccount that it names, the same each time", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    expect(account).not.toBe(scene.accounts.own);
    expect(scene.accounts.accountOf(object("a"))).toBe(account);
    expect(scene.accounts.all).toEqual([scene.accounts.own, account]);
  });

  it("is waited for when its GatewayAccount is missing", async () => {
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
    [
      "another",
      "b",
      "a",
      /set accountRef: \{name: a\}.*recreate this object in the other account: accountRef has changed$/,
    ],
    ["the default", undefined, "a", /set accountRef: \{name: a\}.*its default has changed$/],
    ["an account for the first time", "a", undefined, /remove accountRef, where no GatewayAccount is named default/],
  ])("stays that of its remote when the spec changes to %s", async (_, names, recorded, words) => {
    const scene = await given();
    const status = { id: "ipp_1", ...(recorded && { account: recorded }) };
    await scene.accounts.settle(object(names, status));
    expect(() => scene.accounts.accountOf(object(names, status))).toThrow(
      expect.objectContaining({ name: "Blocked", reason: "AccountMismatch", message: expect.stringMatching(words) }),
    );
    const leaving = object(names, status, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(scene.accounts.accountOf(leaving)).toBe(
      recorded ? scene.accounts.accountOf(object("a")) : scene.accounts.own,
    );
  });

  it("is another one after its GatewayAccount was recreated, and requests of the old one are aborted", async () => {
    const scene = await given();
    const before = scene.accounts.accountOf(object("a"));
    scene.deleteAccount("a");
    scene.account("a");
    expect(scene.accounts.accountOf(object("a"))).not.toBe(before);
    await expect(probe(before)).rejects.toThrow();
    expect(scene.keysSent).toEqual([]);
  });
});

describe("an object with a create whose outcome is not known", () => {
  const creating = (accountRef: string | undefined, account: string) => {
    const intent = `2026-01-01T00:00:00.000Z account=${account}`;
    return object(accountRef, undefined, { annotations: { [annotations.createIntent]: intent } });
  };

  it.each([
    ["another", "b", "a", "b"],
    ["the default", undefined, "a", "default"],
    ["an account for the first time", "a", "", "a"],
  ])("belongs to the account of the create when the spec changes to %s", async (_, names, intended, specified) => {
    const scene = await given();
    scene.account("default");
    const one = creating(names, intended);
    expect(scene.accounts.ofObjects.nameOf(one)).toBe(intended);
    const account = scene.accounts.accountOf(one);
    expect(account).toBe(intended ? scene.accounts.accountOf(object("a")) : scene.accounts.own);
    scene.memory.of(one).recordFutileCreate(intentOf(one)?.create ?? "");
    expect(scene.accounts.ofObjects.nameOf(one)).toBe(specified);
  });

  it("2.12: belongs to the account that its spec names when there is no account of that name", async () => {
    const scene = await given();
    expect(scene.accounts.ofObjects.nameOf(creating("a", "gone"))).toBe("a");
  });
});

describe("the first key of a process that shows none of the recorded ids", () => {
  const ids = (count: number) =>
    new Map([[ipPolicies, new Set(Array.from({ length: count }, (_, index) => `i${index}`))]]);

  it.each([1, 4, 5, 99])("proves nothing, however few ids are recorded: %i", async (count) => {
    const scene = await AccountScene.begin();
    scene.recorded = ids(count);
    const { keyProof } = scene.accounts.own;
    await expect(keyProof.ensure()).rejects.toThrow(/^Check the API key: .* GATEWAY_ACCOUNT_CONFIRMED=true$/);
    expect(keyProof.isProved).toBe(false);
  });

  it("is accepted when a person has confirmed it, and replaces the former keys", async () => {
    const scene = await AccountScene.begin({ env: { GATEWAY_ACCOUNT_CONFIRMED: "true" } });
    scene.recorded = ids(99);
    await scene.accounts.own.keyProof.ensureRecorded();
    expect(scene.accounts.own.keyProof.isProved).toBe(true);
  });

  it("is never accepted when another base URL was used before", async () => {
    const scene = await given();
    await probe(scene.accounts.accountOf(object("a")));
    scene.account("a", { baseURL: `${scene.serviceURL}/another` });
    scene.recorded = ids(1);
    const { keyProof } = scene.accounts.accountOf(object("a"));
    await expect(keyProof.ensure()).rejects.toThrow(/^Check the API key: .* on GatewayAccount "a"$/);
  });
});

describe("an account that is being deleted", () => {
  it("is used only for objects that have a remote in it, or may have one", async () => {
    const scene = await given();
    await scene.reconcile("a");
    scene.deleteAccount("a");
    expect(() => scene.accounts.accountOf(object("a"))).toThrow(
      expect.objectContaining({
        name: "Waiting",
        reason: "AccountNotReady",
        message: expect.stringMatching(/^Name another account: .*"a" is being deleted/),
      }),
    );
    const intent = "2026-01-01T00:00:00.000Z";
    const owners = [
      object("a", { id: "ipp_1", account: "a" }),
      object("a", undefined, { annotations: { [annotations.createIntent]: intent } }),
      object("a", undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ];
    for (const one of owners) expect(scene.accounts.all).toContain(scene.accounts.accountOf(one));
  });
});

describe("the key of an account", () => {
  it("is read once in 30 seconds", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    await probe(account);
    scene.secret("a", { key: "next" });
    await scene.clock.advance(29_000);
    await probe(account);
    expect(scene.secretReads).toEqual(["n/a"]);
    scene.accepted.add("next");
    await scene.clock.advance(1000);
    await expect(probe(account)).rejects.toThrow(Outdated);
    await probe(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["right", "right", "next"]);
  });

  it("is read again at once when the service refuses it", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    await probe(account);
    scene.accepted.delete("right");
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    await expect(probe(account)).rejects.toMatchObject({ status: 401 });
    await scene.clock.advance(2000);
    await expect(probe(account)).rejects.toThrow(Outdated);
    await probe(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["right", "right", "right", "next"]);
    expect(scene.clock.now()).toBeLessThan(30_000);
  });

  it("is read for each request while a mass loss is suspected", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    await probe(account);
    account.lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 5, total: 5 });
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    await expect(probe(account)).rejects.toThrow(Outdated);
    await probe(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["right", "next"]);
  });

  it("is read again when the account is reconciled", async () => {
    const scene = await given();
    await probe(scene.accounts.accountOf(object("a")));
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    await scene.reconcile("a");
    await probe(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["right", "next", "next"]);
  });

  it("that changed while it was being read is not cached", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforeSecret = () => promise;
    const slow = probe(account);
    await scene.clock.advance(1);
    scene.beforeSecret = () => {};
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    const checked = scene.accounts.checks.check(scene.latest("a") as AccountObject);
    resolve();
    await Promise.allSettled([slow, checked]);
    await probe(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["next", "next"]);
  });

  it("is not used for a recreated account, even if it was being read", async () => {
    const scene = await given();
    const account = scene.accounts.accountOf(object("a"));
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforeSecret = () => promise;
    const slow = probe(account).catch(() => {});
    await scene.clock.advance(1);
    scene.deleteAccount("a");
    scene.accounts.checks.remove("n/a");
    scene.beforeSecret = () => {};
    scene.accepted.add("next");
    scene.secret("a", { key: "next" });
    scene.account("a");
    resolve();
    await slow;
    for (let times = 0; times < 2; times += 1) await probe(scene.accounts.accountOf(object("a")));
    expect(scene.keysSent).toEqual(["next", "next"]);
  });

  it.each([
    ["its Secret is missing", () => {}],
    ["its entry is empty", (scene: AccountScene) => scene.secret("a", { key: "" })],
  ])("is reported missing when %s, and nothing is sent", async (_, prepare) => {
    const scene = await AccountScene.begin();
    scene.account("a");
    prepare(scene);
    await expect(probe(scene.accounts.accountOf(object("a")))).rejects.toMatchObject({
      kind: "unsent",
      code: "no_api_key",
    });
    expect(scene.seen).toEqual([]);
  });
});

describe("isAccountOrphaned", () => {
  const setOrphan = (scene: AccountScene) =>
    scene.server.storage.update("tunnelgateway.dev/v1/gatewayaccounts", "n/a", (now) => ({
      ...now,
      metadata: { ...now.metadata, annotations: { [annotations.orphan]: "true" } },
    }));
  /** The key of one route alone may be refused for want of a permission. */
  const askBoth = async ({ accounts }: AccountScene) => {
    const account = accounts.accountOf(object("a"));
    const request = { lane: "edit", signal: new AbortController().signal } as const;
    for (const resource of [ipPolicies, reservedDomains])
      await account
        .collection(resource)
        .list.probe(request)
        .catch(() => {});
  };
  const isAccountOrphaned = (scene: AccountScene) =>
    scene.accounts.ofObjects.isAccountOrphaned(object("a", { id: "ipp_1", account: "a" }));

  it.each<[string, boolean, (scene: AccountScene) => void]>([
    ["not before its key has shown that it does not work", false, () => {}],
    ["when the service refuses its key", true, (scene) => scene.accepted.delete("right")],
    ["when its Secret has no key", true, (scene) => scene.secret("a", { other: "key" })],
  ])("is, with the annotation, %s: %s", async (_, expected, prepare) => {
    const scene = await given();
    setOrphan(scene);
    prepare(scene);
    await askBoth(scene);
    expect(isAccountOrphaned(scene)).toBe(expected);
  });

  it("is false without the annotation, although the key does not work", async () => {
    const scene = await given();
    scene.accepted.delete("right");
    await askBoth(scene);
    expect(isAccountOrphaned(scene)).toBe(false);
  });

  it("is false for objects of the operator's own credentials", async () => {
    const scene = await given();
    setOrphan(scene);
    scene.accepted.delete("right");
    await askBoth(scene);
    expect(scene.accounts.ofObjects.isAccountOrphaned(object(undefined, { id: "ipp_1" }))).toBe(false);
  });
});
