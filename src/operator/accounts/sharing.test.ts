import { describe, expect, it, vi } from "vitest";
import { AccountScene, OWN_KEY } from "../../../test/fakes/operator/account-scene.ts";
import type { Account } from "../../account/account.ts";
import { ipPolicies, tunnelSessions } from "../../gateway/resources/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";
import type { AccountObject } from "./account-objects.ts";

/** An object of a GatewayAccount; without a name, of the default. */
function objectOf(name?: string, status?: Status, metadata: Partial<ManagedObject["metadata"]> = {}): ManagedObject {
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: IPPolicy.kind,
    metadata: { name: `of-${name}`, namespace: "n", uid: `uid-${name}`, generation: 1, ...metadata },
    spec: name === undefined ? {} : { accountRef: { name } },
    ...(status && { status }),
  };
}

/** GatewayAccounts with these keys, which the service accepts. */
async function given(keys: Record<string, string>, env: Record<string, string> = {}): Promise<AccountScene> {
  const scene = await AccountScene.begin({ env });
  for (const [name, key] of Object.entries(keys)) {
    scene.accepted.add(key);
    scene.secret(name, { key });
    scene.account(name);
  }
  return scene;
}

/** The account of a GatewayAccount, after its key was read. */
async function accountOf(scene: AccountScene, name?: string): Promise<Account> {
  await scene.accounts.settle(objectOf(name));
  return scene.accounts.accountOf(objectOf(name));
}

const accountsOf = async (scene: AccountScene, ...names: string[]): Promise<Account[]> => {
  const all: Account[] = [];
  for (const name of names) all.push(await accountOf(scene, name));
  return all;
};

/** How many accounts these are. */
const count = (accounts: readonly Account[]): number => new Set(accounts).size;

async function rotate(scene: AccountScene, name: string, key: string): Promise<void> {
  scene.accepted.add(key);
  scene.secret(name, { key });
  await scene.accounts.checks.check(scene.latest(name) as AccountObject);
}

const probe = (account: Account) =>
  account.collection(ipPolicies).list.probe({ lane: "edit", signal: new AbortController().signal });

const list = (account: Account) => account.collection(ipPolicies).listed(0, { lane: "edit" });

describe("credentials with one base URL and one key", () => {
  it("are one account, also the operator's own and a key with white space around it", async () => {
    const scene = await given({ a: "one", b: " one\n", c: OWN_KEY, d: "two" });
    const [a, b, c, d] = await accountsOf(scene, "a", "b", "c", "d");
    expect(a).toBe(b);
    expect(c).toBe(scene.accounts.own);
    expect(count([a, c, d] as Account[])).toBe(3);
    expect(new Set(scene.accounts.all)).toEqual(new Set([a, c, d]));
  });

  it("are two accounts when the base URLs differ, but not when one URL is only written differently", async () => {
    const scene = await given({ a: "one", b: "one", c: "one" });
    scene.account("b", { baseURL: `${scene.serviceURL}/` });
    scene.account("c", { baseURL: `${scene.serviceURL}/eu` });
    const [a, b, c] = await accountsOf(scene, "a", "b", "c");
    expect(a).toBe(b);
    expect(c).not.toBe(a);
  });

  it("share one list, which proves the key for each of them", async () => {
    const scene = await given({ a: "one", b: "one", c: "one" });
    for (const name of ["a", "b", "c"]) scene.recordedBy.set(name, [`ipp_${name}`]);
    scene.shown.set("one", ["ipp_a", "ipp_b", "ipp_c"]);
    const objects = ["a", "b", "c"].map((name) => objectOf(name));
    await Promise.all(objects.map((object) => scene.accounts.settle(object)));
    const accounts = objects.map((object) => scene.accounts.accountOf(object));
    await Promise.all(accounts.map(list));
    expect(count(accounts)).toBe(1);
    expect(scene.seen.map(({ url }) => url)).toEqual(["/ip_policies"]);
  });

  it("share one request budget", async () => {
    const scene = await given({ a: "one", b: "one", c: "two" }, { REQUESTS_PER_MINUTE: "5" });
    const [a, b, c] = (await accountsOf(scene, "a", "b", "c")) as [Account, Account, Account];
    await probe(a);
    const second = probe(b);
    await probe(c);
    expect(scene.keysSent).toEqual(["one", "two"]);
    await scene.clock.advance(12_000);
    await second;
    expect(scene.keysSent).toEqual(["one", "two", "one"]);
  });

  it("share one mass-loss guard, whose problem each GatewayAccount reports", async () => {
    const scene = await given({ a: "one", b: "one", c: "two" });
    const [a] = (await accountsOf(scene, "a", "b", "c")) as [Account];
    a.lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 7, total: 60 });
    expect(scene.availabilityChanges).toEqual([[["a", "b"], false]]);
    for (const name of ["a", "b", "c"]) await scene.reconcile(name);
    expect(["a", "b", "c"].map((name) => scene.condition(name, "Ready")?.reason)).toEqual([
      "AccountMismatch",
      "AccountMismatch",
      "Available",
    ]);
  });

  it("need no proof again when credentials join whose key is proved", async () => {
    const scene = await given({ a: OWN_KEY });
    scene.recordedBy.set("a", ["ipp_a"]);
    scene.shown.set(OWN_KEY, ["ipp_a"]);
    const account = await accountOf(scene, "a");
    expect(account).toBe(scene.accounts.own);
    await list(account);
    await account.keyProof.ensure();
    expect(scene.seen).toHaveLength(1);
  });

  it("are probed once for all", async () => {
    const scene = await given({ a: "one", b: "one", c: "one" });
    for (const name of ["a", "b", "c"]) await scene.reconcile(name);
    for (const name of ["a", "b", "c"]) expect(scene.summary(name)).toEqual(["Ready True Available"]);
    expect(scene.keysSent).toEqual(["one"]);
    await scene.clock.advance(300_000);
    for (const name of ["a", "b", "c"]) await scene.reconcile(name);
    expect(scene.keysSent).toEqual(["one", "one"]);
  });

  it("that the service refuses send one probe at a time", async () => {
    const scene = await given({ a: "one", b: "one", c: "one" });
    await accountsOf(scene, "a", "b", "c");
    scene.accepted.delete("one");
    for (const name of ["a", "b", "c"]) await scene.reconcile(name);
    for (const name of ["a", "b", "c"]) expect(scene.summary(name)).toContain("Stalled True Unauthorized");
    // one request, and another one by which it is certain that the key is refused
    expect(scene.keysSent).toEqual(["one", "one"]);
  });

  it("have the name of the first of them in metrics and logs", async () => {
    const scene = await given({ c: "one", b: "one", d: OWN_KEY });
    const [c] = await accountsOf(scene, "c", "b", "d");
    expect(scene.accounts.labelOf(c as Account)).toBe("n/b");
    expect(scene.accounts.labelOf(scene.accounts.own)).toBe("");
  });

  it("continue without the one whose Secret is gone", async () => {
    const scene = await given({ a: "one", b: "one" });
    const [shared] = await accountsOf(scene, "a", "b");
    scene.secret("a", { other: "x" });
    await scene.accounts.checks.check(scene.latest("a") as AccountObject);
    await probe(shared as Account);
    const [a, b] = await accountsOf(scene, "a", "b");
    expect(b).toBe(shared);
    expect(a).not.toBe(shared);
    await expect(probe(a as Account)).rejects.toMatchObject({ kind: "unsent", code: "no_api_key" });
    expect(scene.keysSent).toEqual(["one"]);
  });

  it("continue when one GatewayAccount is deleted, and end with the last", async () => {
    const scene = await given({ a: "one", b: "one" });
    const [shared] = await accountsOf(scene, "a", "b");
    scene.deleteAccount("a");
    scene.accounts.checks.remove("n/a");
    await probe(shared as Account);
    expect(scene.keysSent).toEqual(["one"]);
    scene.deleteAccount("b");
    scene.accounts.checks.remove("n/b");
    await expect(probe(shared as Account)).rejects.toBeInstanceOf(Outdated);
  });

  it("send nothing more to the account that one of them had until now", async () => {
    const scene = await given({ a: "one", b: "two" });
    const [a, before] = await accountsOf(scene, "a", "b");
    await rotate(scene, "b", "one");
    expect(await accountOf(scene, "b")).toBe(a);
    await expect(probe(before as Account)).rejects.toBeInstanceOf(Outdated);
  });
});

describe("a key that is rotated", () => {
  it("is another account, also for the only GatewayAccount, and sends nothing more to the former one", async () => {
    const scene = await given({ a: "one" });
    const before = await accountOf(scene, "a");
    await probe(before);
    await rotate(scene, "a", "next");
    const after = await accountOf(scene, "a");
    expect([after === before, scene.accounts.all]).toEqual([false, [scene.accounts.own, after]]);
    await expect(probe(before)).rejects.toThrow(Outdated);
    await probe(after);
    expect([scene.keysSent, scene.changedKeys]).toEqual([["one", "next"], ["a"]]);
  });

  it("3.9: sends no command that waited for its turn or for its key", async () => {
    const scene = await given({ a: "one" });
    const before = (await accountOf(scene, "a")).collection(tunnelSessions);
    await before.admit({ lane: "edit", signal: new AbortController().signal });
    await rotate(scene, "a", "next");
    await expect(before.command("restart", "ts_1", new AbortController().signal)).rejects.toThrow(Outdated);
    expect(scene.seen.filter(({ method }) => method === "POST")).toEqual([]);
  });

  it("3.10: begins with a budget, a limit of deletions and a pause of its own", async () => {
    const scene = await given({ a: "one" });
    const before = await accountOf(scene, "a");
    before.turns.budget.pauseAfter429(60);
    await rotate(scene, "a", "next");
    const after = await accountOf(scene, "a");
    expect([before.turns.budget.isPaused, after.turns.budget.isPaused]).toEqual([true, false]);
    expect(after.deleteLimiter).not.toBe(before.deleteLimiter);
  });

  it("3.12: goes on where it was when it is exchanged and put back, and no answer of another key counts", async () => {
    const scene = await given({ a: "one" });
    scene.recordedBy.set("a", ["ipp_a"]);
    scene.shown.set("one", ["ipp_a"]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = await accountOf(scene, "a");
    scene.beforeList = () => promise;
    const late = expect(list(before)).rejects.toThrow(Outdated);
    await scene.clock.advance(1);
    await rotate(scene, "a", "next");
    await rotate(scene, "a", "one");
    scene.beforeList = () => {};
    resolve();
    await late;
    const after = await accountOf(scene, "a");
    expect([after === before, after.collection(ipPolicies).cached("ipp_a")]).toEqual([false, undefined]);
    await list(after);
    expect(after.collection(ipPolicies).cached("ipp_a")).toBeDefined();
  });

  it("is proved at once when it comes back, since it was proved before", async () => {
    const scene = await given({ a: "one" });
    scene.recordedBy.set("a", ["ipp_a"]);
    scene.shown.set("one", ["ipp_a"]);
    await (await accountOf(scene, "a")).keyProof.ensure();
    await rotate(scene, "a", "next");
    await expect((await accountOf(scene, "a")).keyProof.ensure()).rejects.toMatchObject({ reason: "AccountMismatch" });
    await rotate(scene, "a", "one");
    const { keyProof } = await accountOf(scene, "a");
    const { length } = scene.seen;
    await keyProof.ensure();
    expect([keyProof.isProved, scene.seen.length]).toEqual([true, length]);
  });

  it("moves one of several GatewayAccounts alone, until all have rotated", async () => {
    const scene = await given({ a: "one", b: "one", c: "one" });
    const ids = ["a", "b", "c"].map((name) => `ipp_${name}`);
    for (const name of ["a", "b", "c"]) scene.recordedBy.set(name, [`ipp_${name}`]);
    for (const key of ["one", "next"]) scene.shown.set(key, ids);
    const [before] = await accountsOf(scene, "a", "b", "c");
    await rotate(scene, "a", "next");
    expect(await accountsOf(scene, "b", "c")).toEqual([before, before]);
    const moved = await accountOf(scene, "a");
    expect(moved).not.toBe(before);
    await rotate(scene, "b", "next");
    await rotate(scene, "c", "next");
    expect(count(await accountsOf(scene, "a", "b", "c"))).toBe(1);
    expect(scene.accounts.all).toHaveLength(2);
    expect(scene.changedKeys).toEqual(["a", "b", "c"]);
  });

  it("leaves GatewayAccounts with the former key in their account when it is the operator's own", async () => {
    const scene = await given({ a: OWN_KEY, b: OWN_KEY });
    expect(await accountsOf(scene, "a", "b")).toEqual([scene.accounts.own, scene.accounts.own]);
    scene.ownKey = "next";
    scene.accepted.add("next");
    await scene.accounts.readOwnKey();
    await probe(scene.accounts.own);
    const [a, b] = await accountsOf(scene, "a", "b");
    expect(a).toBe(b);
    expect(a).not.toBe(scene.accounts.own);
    await probe(a as Account);
    expect(scene.keysSent).toEqual(["next", OWN_KEY]);
  });

  it("is read again after it was gone: the operator's own", async () => {
    const scene = await given({ a: OWN_KEY });
    await accountOf(scene, "a");
    scene.ownKey = "";
    await scene.accounts.readOwnKey();
    await expect(probe(scene.accounts.own)).rejects.toMatchObject({ code: "no_api_key" });
    const alone = await accountOf(scene, "a");
    await probe(alone);
    expect(scene.keysSent).toEqual([OWN_KEY]);
    scene.ownKey = OWN_KEY;
    await scene.accounts.readOwnKey();
    expect(await accountOf(scene, "a")).toBe(scene.accounts.own);
  });
});

describe("a GatewayAccount whose key leads to another account than that of its remotes", () => {
  const mismatch = expect.objectContaining({ name: "Blocked", reason: "AccountMismatch" });
  /** Of `wrong`, five remotes are recorded: so many are not deleted by hand. */
  async function mixed(): Promise<AccountScene> {
    const scene = await given({ wrong: "one", right: "one" });
    scene.recordedBy.set("right", ["ipp_r"]);
    scene.recordedBy.set(
      "wrong",
      Array.from({ length: 5 }, (_, index) => `ipp_w${index}`),
    );
    scene.shown.set("one", ["ipp_r"]);
    return scene;
  }

  it.each([
    ["first", ["wrong", "right"]],
    ["last", ["right", "wrong"]],
  ])("keeps an account of its own and stops no other, when it comes %s", async (_, order) => {
    const scene = await mixed();
    await accountsOf(scene, ...order);
    const [wrong, right] = await accountsOf(scene, "wrong", "right");
    expect(wrong).not.toBe(right);
    await expect((wrong as Account).keyProof.ensure()).rejects.toEqual(mismatch);
    await (right as Account).keyProof.ensure();
    expect((right as Account).keyProof.problem).toBeUndefined();
  });

  it("joins the others when a person confirms the account", async () => {
    const scene = await mixed();
    const [wrong] = await accountsOf(scene, "wrong", "right");
    const { keyProof } = wrong as Account;
    await keyProof.ensure().catch(() => undefined);
    keyProof.confirm(undefined);
    keyProof.confirm("now");
    expect(count(await accountsOf(scene, "wrong", "right"))).toBe(1);
  });

  it("3.5: is not recognised by the former key after that confirmation", async () => {
    const scene = await mixed();
    scene.recordedBy.set("right", []);
    scene.shown.set("former", ["ipp_w1"]);
    await rotate(scene, "wrong", "former");
    await (await accountOf(scene, "wrong")).keyProof.ensure();
    await rotate(scene, "wrong", "one");
    const { keyProof } = await accountOf(scene, "wrong");
    await keyProof.ensure().catch(() => undefined);
    keyProof.confirm(undefined);
    keyProof.confirm("now");
    await rotate(scene, "wrong", "former");
    expect((await accountOf(scene, "wrong")).keyProof.isProved).toBe(false);
  });
});

describe("an editor of another namespace", () => {
  it("who changes a key back and forth leaves nothing behind, and affects no other namespace", async () => {
    const scene = await given({ a: "one", b: "one" });
    scene.recordedBy.set("a", ["ipp_a"]);
    scene.shown.set("one", ["ipp_a"]);
    const shared = await accountOf(scene, "a");
    await list(shared);
    for (let times = 0; times < 10; times += 1)
      for (const key of ["guess", "one"]) {
        scene.secret("b", { key });
        await scene.accounts.checks.check(scene.latest("b") as AccountObject);
      }
    expect(await accountsOf(scene, "a", "b")).toEqual([shared, shared]);
    expect(scene.accounts.all).toEqual([scene.accounts.own, shared]);
    expect(scene.seen).toHaveLength(1);
  });

  it("who has the key and a base URL that throttles slows down no other namespace", async () => {
    const scene = await given({ a: "one", b: "one" });
    scene.account("b", { baseURL: `${scene.serviceURL}/slow` });
    const [a, b] = (await accountsOf(scene, "a", "b")) as [Account, Account];
    scene.broken = true;
    for (let times = 0; times < 5; times += 1) await probe(b).catch(() => undefined);
    await b.breaker.ready().catch(() => undefined);
    scene.broken = false;
    expect(b.breaker.problem).toBeDefined();
    await probe(a);
  });

  it("who annotates a GatewayAccount confirms nothing for others that share its account", async () => {
    const scene = await given({ a: "one", b: "one" });
    const shared = await accountOf(scene, "a");
    expect(await accountOf(scene, "b")).toBe(shared);
    // A backup is restored whose statuses name remotes of another account.
    scene.recordedBy.set(
      "a",
      Array.from({ length: 5 }, (_, index) => `ipp_${index}`),
    );
    await expect(shared.keyProof.ensure()).rejects.toMatchObject({ reason: "AccountMismatch" });
    for (const asked of ["1", "2"]) {
      scene.annotate("b", asked);
      await scene.reconcile("b");
    }
    expect(scene.summary("b")).toEqual(["Ready True Available"]);
    expect(await accountOf(scene, "b")).not.toBe(shared);
    await expect(shared.keyProof.ensure()).rejects.toMatchObject({ reason: "AccountMismatch" });
  });
});

describe("while the service does not answer", () => {
  it("only one request is sent for credentials with the same key, and later they share one account", async () => {
    const scene = await given({ a: "one", b: "one" });
    scene.recordedBy.set("a", ["ipp_a"]);
    scene.recordedBy.set("b", ["ipp_b"]);
    scene.shown.set("one", ["ipp_a", "ipp_b"]);
    const a = await accountOf(scene, "a");
    scene.broken = true;
    await expect(scene.accounts.settle(objectOf("b"))).rejects.toMatchObject({ status: 503 });
    expect(() => scene.accounts.accountOf(objectOf("b"))).toThrow(expect.objectContaining({ status: 503 }));
    expect(scene.seen).toHaveLength(1);
    scene.broken = false;
    expect(await accountOf(scene, "b")).toBe(a);
  });
});

describe("while the service refuses the key", () => {
  it("all GatewayAccounts with the key are notified, also those that wait to share the account", async () => {
    const scene = await given({ a: "one", b: "one", c: "two" });
    scene.recordedBy.set("a", ["ipp_a"]);
    scene.recordedBy.set("b", ["ipp_b"]);
    scene.shown.set("one", ["ipp_a", "ipp_b"]);
    scene.accepted.delete("one");
    await accountsOf(scene, "a", "c");
    await expect(accountOf(scene, "b")).rejects.toMatchObject({ status: 401 });
    await vi.waitFor(() => expect(scene.availabilityChanges).toHaveLength(1));
    await scene.reconcile("b");
    const refused = scene.seen.length;
    await scene.reconcile("b");
    expect(scene.seen).toHaveLength(refused);
    scene.accepted.add("one");
    const a = await accountOf(scene, "a");
    expect(a.breaker.isProbeDue).toBe(false);
    scene.annotate("b", "now");
    await scene.reconcile("b");
    expect(a.breaker.isProbeDue).toBe(true);
    await a.probe("retry", new AbortController().signal);
    await scene.reconcile("b");
    expect(scene.summary("b")).toEqual(["Ready True Available"]);
    expect(scene.availabilityChanges).toEqual([
      [["a", "b"], false],
      [["a", "b"], true],
    ]);
    expect(count(await accountsOf(scene, "a", "b"))).toBe(1);
  });
});

describe("an object with a remote, whose spec comes to name a GatewayAccount", () => {
  const made = (account?: string): Status => ({ id: "ipp_1", observedGeneration: 1, ...(account && { account }) });

  it("of the same account continues unchanged", async () => {
    const scene = await given({ default: OWN_KEY, a: "one", b: "one" });
    for (const [object, recorded] of [
      [objectOf(undefined, made()), ""],
      [objectOf("b", made("a")), "a"],
    ] as const) {
      await scene.accounts.settle(object);
      expect(scene.accounts.ofObjects.nameOf(object)).toBe(recorded);
      expect(scene.accounts.accountOf(object)).toBe(await accountOf(scene, recorded === "" ? undefined : recorded));
    }
  });

  it("of another service belongs to another account, whatever the key", async () => {
    const scene = await given({ a: "one", b: "one" });
    scene.account("b", { baseURL: `${scene.serviceURL}/elsewhere` });
    const object = objectOf("b", made("a"));
    await scene.accounts.settle(object);
    expect(() => scene.accounts.accountOf(object)).toThrow(expect.objectContaining({ reason: "AccountMismatch" }));
  });

  it("of the same account records it at the next edit, or when the former GatewayAccount is being deleted", async () => {
    const scene = await given({ a: "one", b: "one" });
    const object = objectOf("b", made("a"));
    await scene.accounts.settle(object);
    expect(scene.accounts.ofObjects.nameOf({ ...object, metadata: { ...object.metadata, generation: 2 } })).toBe("b");
    await scene.reconcile("a");
    scene.deleteAccount("a");
    expect(scene.accounts.ofObjects.nameOf(object)).toBe("b");
    expect(scene.accounts.ofObjects.recordedNameOf(object)).toBe("a");
  });

  it("stays in its account while both keys are rotated one after the other", async () => {
    const scene = await given({ a: "one", b: "one" });
    scene.recordedBy.set("a", ["ipp_1"]);
    for (const key of ["one", "next"]) scene.shown.set(key, ["ipp_1"]);
    const object = objectOf("b", made("a"));
    await scene.accounts.settle(object);
    await list(scene.accounts.accountOf(object));
    await rotate(scene, "a", "next");
    await scene.accounts.settle(object);
    expect(() => scene.accounts.accountOf(object)).not.toThrow();
    await rotate(scene, "b", "next");
    await scene.accounts.settle(object);
    expect(() => scene.accounts.accountOf(object)).not.toThrow();
  });

  it.each([
    [undefined, "", "default", 'Set the API key of GatewayAccount "default"'],
    ["a", "a", "", "Set the API key of the operator"],
  ])("without a key waits for the key: recorded %s", async (recorded, _, specified, words) => {
    const scene = await given({ a: "one" });
    if (specified === "default") scene.account("default");
    else scene.ownKey = "";
    const object = objectOf(undefined, made(recorded));
    await scene.accounts.settle(object);
    expect(() => scene.accounts.accountOf(object)).toThrow(
      expect.objectContaining({ name: "Waiting", message: expect.stringContaining(words) }),
    );
    const leaving = { ...object, metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(scene.accounts.accountOf(leaving)).toBe(recorded ? await accountOf(scene, recorded) : scene.accounts.own);
  });

  it("of the same account continues a create whose outcome is unknown", async () => {
    const scene = await given({ default: OWN_KEY });
    const intent = "2026-01-01T00:00:00.000Z/2026-01-01T00:00:00.000Z account=";
    const object = objectOf(undefined, undefined, { annotations: { [annotations.createIntent]: intent } });
    await scene.accounts.settle(object);
    expect(scene.accounts.ofObjects.nameOf(object)).toBe("default");
    expect(scene.accounts.accountOf(object)).toBe(scene.accounts.own);
  });
});

describe("objects of several GatewayAccounts", () => {
  it("belong to one account if the keys are equal, whatever else differs", async () => {
    const scene = await given({ a: "one", b: "one", c: "two" });
    scene.recordedBy.set("b", ["ipp_b"]);
    scene.broken = true;
    await scene.accounts.settle(objectOf("a"));
    const together = (one?: string, other?: string) =>
      scene.accounts.ofObjects.isSameAccount(objectOf(one), objectOf(other));
    expect([together("a", "b"), together("a", "c"), together("a"), together("gone", "a")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(scene.accounts.ofObjects.isSameInventory(objectOf("a"), objectOf("b"))).toBe(false);
  });
});

describe("a change made by the former account", () => {
  const rows = (account: Account) => account.collection(ipPolicies);
  const change = (account: Account) =>
    rows(account).update("ipp_a", { description: "changed" }, { lane: "edit", signal: new AbortController().signal });

  /** Three that shared an account, of which two have got another key. */
  async function divided(): Promise<{ scene: AccountScene; before: Account; after: Account }> {
    const scene = await given({ a: "one", b: "one", c: "one" });
    for (const name of ["a", "b"]) scene.recordedBy.set(name, [`ipp_${name}`]);
    scene.recordedBy.set("c", []);
    for (const key of ["one", "next"]) scene.shown.set(key, ["ipp_a", "ipp_b"]);
    const [before] = (await accountsOf(scene, "a", "b", "c")) as [Account];
    await list(before);
    await rotate(scene, "a", "next");
    const after = await accountOf(scene, "a");
    expect(after).not.toBe(before);
    return { scene, before, after };
  }

  it("is known to the new account, although its list is older", async () => {
    const { before, after } = await divided();
    await list(after);
    await change(before);
    expect(rows(after).cached("ipp_a")).toMatchObject({ description: "changed" });
    expect(rows(after).cached("ipp_b")).not.toMatchObject({ description: "changed" });
  });

  it("does not make a remote missing in the new account that was created after its list", async () => {
    const { before, after } = await divided();
    await list(after);
    await rows(before).update("ipp_new", {}, { lane: "edit", signal: new AbortController().signal });
    expect(rows(after).isMissing("ipp_new")).toBe(false);
    expect(rows(after).isMissing("ipp_other")).toBe(true);
  });

  it("makes the list of the new account out of date if it was under way", async () => {
    const { scene, before, after } = await divided();
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.beforeList = () => promise;
    const listing = list(after);
    await scene.clock.advance(1);
    await change(before);
    resolve();
    await listing;
    await list(after);
    expect(scene.seen.filter(({ method }) => method === "GET")).toHaveLength(3);
  });

  it("makes the list of an account out of date when others join it", async () => {
    const { scene, before, after } = await divided();
    await rotate(scene, "c", "next");
    expect(await accountOf(scene, "c")).toBe(after);
    await scene.clock.advance(1000);
    await change(before);
    await rotate(scene, "b", "next");
    expect(await accountOf(scene, "b")).toBe(after);
    const { length } = scene.seen;
    await list(after);
    expect(scene.seen).toHaveLength(length + 1);
  });
});
