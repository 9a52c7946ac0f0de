import { beforeEach, describe, expect, it } from "vitest";
import { AccountScene, OWN_KEY } from "../../../test/fakes/operator/account-scene.ts";
import type { Account } from "../../account/account.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { FINALIZER, STATE_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { MOST_RECORDS } from "./key-records.ts";

// What one process knows of an API key, the next one knows too: there, everything that is recorded is gone by hand.

const SECRET = `operator/${STATE_SECRET}`;

let scene: AccountScene;

beforeEach(async () => {
  scene = await AccountScene.begin();
  await setKey("a", "one");
  scene.account("a");
  scene.account("b");
});

async function setKey(name: string, key: string): Promise<void> {
  scene.accepted.add(key);
  scene.secret(name, { key });
}

const objectOf = (name: string): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: IPPolicy.kind,
  spec: { accountRef: { name } },
  metadata: { name: "office", namespace: "n", uid: "u", generation: 1 },
});

/** The account of GatewayAccount `name` or, if it is empty, that of the operator, after its key was read. */
async function accountOf(name: string): Promise<Account> {
  if (name === "") {
    await scene.accounts.readOwnKey();
    return scene.accounts.own;
  }
  await scene.accounts.settle(objectOf(name));
  return scene.accounts.accountOf(objectOf(name));
}

function keyIs(name: string, key: string): void {
  scene.accepted.add(key);
  if (name === "") scene.ownKey = key;
  else scene.secret(name, { key });
}

const recorded = (name: string, ...ids: string[]) => scene.recordedBy.set(name, ids);

/** The objects of these credentials get ids under this key, and then a process of another time begins. */
async function given(name: string, key: string): Promise<void> {
  keyIs(name, key);
  recorded(name);
  await (await accountOf(name)).keyProof.ensureRecorded();
  recorded(name, "ipp_1");
  await scene.restart();
}

const request = { lane: "edit" as const, signal: new AbortController().signal };
const change = async (name: string) => (await accountOf(name)).collection(ipPolicies).update("ipp_9", {}, request);
const digests = (name: string): unknown =>
  name === ""
    ? JSON.parse(
        scene.server.storage.get("v1/secrets", SECRET)?.metadata.annotations?.[secretAnnotations.keyDigests] ?? "{}",
      ).default
    : scene.latest(name)?.status?.keyDigests;
const mismatch = expect.objectContaining({ name: "Blocked", reason: "AccountMismatch" });

describe.each([
  ["a GatewayAccount", "a"],
  ["the operator's own credentials", ""],
])("of %s", (_, name) => {
  it("3.4: a proved key needs no proof in the next process, even if all ids are gone", async () => {
    await given(name, "one");
    const { keyProof } = await accountOf(name);
    await keyProof.ensure();
    expect(keyProof.isProved).toBe(true);
  });

  it("a key that was not proved needs an id that answers, even if only one is recorded", async () => {
    await given(name, "one");
    keyIs(name, "two");
    await expect((await accountOf(name)).keyProof.ensure()).rejects.toEqual(mismatch);
    await expect(change(name)).rejects.toEqual(mismatch);
    expect(digests(name)).toHaveLength(1);
    scene.shown.set("two", ["ipp_1"]);
    await scene.restart();
    await change(name);
    expect(digests(name)).toHaveLength(2);
  });

  it("a rotated key and the previous one are both known in the next process", async () => {
    await given(name, "one");
    scene.shown.set("two", ["ipp_1"]);
    keyIs(name, "two");
    await change(name);
    scene.shown.clear();
    for (const key of ["one", "two"]) {
      keyIs(name, key);
      await scene.restart();
      await change(name);
    }
  });

  it("former keys no longer count once an account without ids has another key", async () => {
    await given(name, "one");
    recorded(name);
    keyIs(name, "two");
    await change(name);
    recorded(name, "ipp_2");
    keyIs(name, "one");
    await scene.restart();
    await expect(change(name)).rejects.toEqual(mismatch);
    expect(digests(name)).toHaveLength(1);
  });

  it("no change is sent before the key is recorded, and one is sent right after", async () => {
    keyIs(name, "one");
    recorded(name, "ipp_1");
    scene.shown.set("one", ["ipp_1"]);
    scene.failing = ({ method }) => (method === "PATCH" ? { status: 500 } : undefined);
    await expect(change(name)).rejects.toThrow("Waiting for the Kubernetes API");
    expect(scene.seen.filter(({ method }) => method === "PATCH")).toEqual([]);
    scene.failing = () => undefined;
    await change(name);
    expect(digests(name)).toHaveLength(1);
  });

  describe("where only modules of routes are recorded", () => {
    const id = "edghts_1/edghtsrt_1";
    const modulesRead = () => scene.seen.filter(({ url }) => url.endsWith("/oidc")).length;

    beforeEach(async () => {
      await given(name, "one");
      recorded(name, id);
      await scene.restart();
    });

    it("the key that was proved before is known, although the route is gone", async () => {
      await change(name);
      expect(modulesRead()).toBe(0);
    });

    it("another one changes nothing until the service shows a module under it", async () => {
      keyIs(name, "two");
      await expect(change(name)).rejects.toEqual(mismatch);
      expect([modulesRead(), digests(name)]).toEqual([1, [expect.any(String)]]);
      scene.shown.set("two", [id]);
      await scene.restart();
      await change(name);
      expect(modulesRead()).toBe(2);
      expect(digests(name)).toHaveLength(2);
    });
  });

  describe("while objects that may have ids cannot be read", () => {
    const way = 'Let the operator read namespace "b"';

    it("3.6: the first key of all is taken, since one is recorded before the first change", async () => {
      keyIs(name, "one");
      recorded(name);
      scene.unread = way;
      await change(name);
      expect(digests(name)).toHaveLength(1);
    });

    it("a key that was proved before is known", async () => {
      await given(name, "one");
      recorded(name);
      scene.unread = way;
      await change(name);
    });

    it("another one is not, nor does it end what is known of the one before", async () => {
      await given(name, "one");
      recorded(name);
      scene.unread = way;
      keyIs(name, "two");
      const { keyProof } = await accountOf(name);
      await expect(change(name)).rejects.toThrow(`${way}: the API key is a new one`);
      expect([keyProof.isTrusted, digests(name)]).toEqual([false, [expect.any(String)]]);
      keyIs(name, "one");
      await scene.restart();
      await change(name);
    });

    it("another one is proved when they can be read, or counts as the first if they have nothing", async () => {
      await given(name, "one");
      recorded(name);
      scene.unread = way;
      keyIs(name, "two");
      await expect(change(name)).rejects.toEqual(mismatch);
      scene.unread = undefined;
      await change(name);
      const { keyProof } = await accountOf(name);
      expect(keyProof.problem).toBeUndefined();
    });
  });

  it("a recorded key is not written again", async () => {
    await given(name, "one");
    scene.shown.set("one", ["ipp_1"]);
    const before = scene.writes.length;
    for (let count = 0; count < 3; count += 1) await change(name);
    expect(scene.writes).toHaveLength(before);
  });

  it("without its secret, or with records that cannot be read, a key has to be proved again", async () => {
    await given(name, "one");
    if (name === "") {
      scene.server.storage.update("v1/secrets", SECRET, (now) => ({
        ...now,
        metadata: { ...now.metadata, annotations: { [secretAnnotations.keyDigests]: "[rubbish" } },
      }));
    } else scene.signWithAnotherSecret();
    await expect(change(name)).rejects.toEqual(mismatch);
  });

  it("only a limited number of keys is remembered", async () => {
    await given(name, "key-0");
    for (let count = 1; count <= MOST_RECORDS + 2; count += 1) {
      scene.shown.set(`key-${count}`, ["ipp_1"]);
      keyIs(name, `key-${count}`);
      await scene.restart();
      await change(name);
    }
    expect(digests(name)).toHaveLength(MOST_RECORDS);
  });
});

it("after a person's confirmation, only the new key is known", async () => {
  await given("a", "one");
  keyIs("a", "two");
  for (let count = 0; count < 2; count += 1) await scene.reconcile("a");
  expect(scene.condition("a", "Ready")?.reason).toBe("AccountMismatch");
  scene.annotate("a", "now");
  await scene.reconcile("a");
  await change("a");
  await scene.restart();
  await change("a");
  keyIs("a", "one");
  await scene.restart();
  await expect(change("a")).rejects.toEqual(mismatch);
});

it("a key that is exchanged before it is written is not recorded: the next one may be confirmed already", async () => {
  const scene = await AccountScene.begin();
  scene.account("a");
  const uid = scene.latest("a")?.metadata.uid ?? "";
  const holder = { key: "n/a", uid, record: "former" };
  const adding = scene.keyRecords.add(holder, "former", { alone: false });
  holder.record = "present";
  await adding;
  await scene.keyRecords.add(holder, "present", { alone: true });
  expect(scene.latest("a")?.status?.keyDigests).toEqual(["present"]);
});

it("two GatewayAccounts with one key have different digests, which do not contain the key", async () => {
  keyIs("b", "one");
  for (const name of ["a", "b"]) {
    recorded(name);
    await change(name);
  }
  const all = JSON.stringify([digests("a"), digests("b")]);
  expect(digests("a")).not.toEqual(digests("b"));
  expect(all).toMatch(/^\[\["[\w-]{22}"\],\["[\w-]{22}"\]\]$/);
});

it("a key that others have recorded is unknown to a GatewayAccount whose remotes are elsewhere", async () => {
  await given("a", "one");
  scene.shown.set("one", ["ipp_1"]);
  keyIs("b", "one");
  recorded("b", "ipp_of_b");
  await change("a");
  await expect(change("b")).rejects.toEqual(mismatch);
  await scene.restart();
  await change("a");
  await expect(change("b")).rejects.toEqual(mismatch);
  expect(digests("b")).toBeUndefined();
});

describe("the GatewayAccount and its Secret", () => {
  const finalizers = () => [scene.latest("a")?.metadata.finalizers, scene.finalizersOfSecret("a")];

  // guards against a Secret that a person deletes between the first change and the first check of the key
  it("have the finalizer before the first change is sent, although the key was not checked yet", async () => {
    recorded("a");
    scene.failing = ({ method, path }) =>
      method === "PATCH" && path.includes("/secrets/") ? { status: 500 } : undefined;
    await expect(change("a")).rejects.toThrow("Waiting for the Kubernetes API");
    expect(scene.seen.filter(({ method }) => method === "PATCH")).toEqual([]);
    scene.failing = () => undefined;
    await change("a");
    expect(finalizers()).toEqual([[FINALIZER], [FINALIZER]]);
    scene.deleteAccount("a");
    await scene.reconcile("a");
    expect(finalizers()).toEqual([undefined, []]);
  });

  it("do not stop changes where the operator may not write Secrets", async () => {
    recorded("a");
    scene.failing = ({ method, path }) =>
      method === "PATCH" && path.includes("/secrets/") ? { status: 403 } : undefined;
    await change("a");
    expect(finalizers()).toEqual([[FINALIZER], []]);
    await scene.reconcile("a");
    expect(scene.condition("a", "Ready")?.reason).toBe("Forbidden");
  });

  it("get no second write from a check of the key at the same time", async () => {
    recorded("a");
    await Promise.all([change("a"), scene.reconcile("a")]);
    const finalized = scene.writes.filter((write) => !write.endsWith("/status"));
    expect(finalized.map((write) => write.split("/").at(-2))).toEqual(["gatewayaccounts", "secrets"]);
  });
});

it("a GatewayAccount that joins a shared account records the key before its next change", async () => {
  await given("a", "one");
  scene.shown.set("one", ["ipp_1"]);
  await change("a");
  keyIs("b", "one");
  recorded("b");
  expect(await accountOf("b")).toBe(await accountOf("a"));
  await change("b");
  expect(digests("b")).toHaveLength(1);
});

it("without the Secret of the operator, changes continue", async () => {
  scene.server.storage.delete("v1/secrets", SECRET);
  recorded("");
  keyIs("", OWN_KEY);
  await change("");
  expect(scene.seen.filter(({ method }) => method === "PATCH")).toHaveLength(1);
});

it("nothing is written to a GatewayAccount of another installation, and its key is proved at each start", async () => {
  scene.isOurs = false;
  keyIs("a", "one");
  recorded("a", "ipp_1");
  scene.shown.set("one", ["ipp_1"]);
  await change("a");
  await scene.restart();
  await change("a");
  expect(digests("a")).toBeUndefined();
  expect(scene.writes).toEqual([]);
});
