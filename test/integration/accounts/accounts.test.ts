import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { Canaries, canary } from "../../support/canaries.ts";
import { command } from "../../support/command.ts";
import { Kube } from "../../support/kube.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** The operator's own account is that of the world; the other one has objects of two namespaces, by GatewayAccounts. */
const world = useWorld({ startOperator: false });

const canaries = new Canaries();
const keyOf = (what: string): string => {
  const key = canary(true);
  canaries.add(what, key);
  return key;
};
const keys = {
  right: keyOf("the right key"),
  next: keyOf("the next key"),
  wrong: keyOf("a wrong key"),
  asked: keyOf("a key of its own"),
};

let other: Simulator;
/** Another namespace that the operator watches. */
let second: Kube;
let doomed: Kube;

beforeAll(async () => {
  other = await startSimulator({ apiKey: keys.right });
  const names = [await world.cluster.freshNamespace("second"), await world.cluster.freshNamespace("doomed")];
  [second, doomed] = names.map((name) => new Kube(world.cluster.kubeconfig, name)) as [Kube, Kube];
  await world.startOperator({
    WATCH_NAMESPACES: [world.namespace, ...names].join(","),
    ALLOWED_GATEWAY_HOSTS: new URL(other.url).host,
  });
});

afterAll(async () => {
  await world.operator.stop();
  await other.stop();
  await Promise.all(
    [second, doomed].map(async (kube) => {
      for (const { kind, metadata } of [...(await kube.all()), ...(await kube.list("GatewayAccount"))])
        await kube.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
      for (const { metadata } of await kube.list("Secret"))
        await kube.patch("Secret", metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
      await kube.close();
    }),
  );
});

const account = (name: string, more: object = {}): KubeJSON =>
  manifest("GatewayAccount", name, {
    apiKeySecretRef: { name: `key-of-${name}`, key: "key" },
    baseURL: other.url,
    ...more,
  });
const keySecret = (name: string, key: string): KubeJSON => secret(`key-of-${name}`, { key });
const policy = (name: string, of: string, more: object = {}): KubeJSON =>
  manifest("IPPolicy", name, { description: name, accountRef: { name: of }, ...more });

const here = () => world.simulator.control;
const rowsOf = ({ control }: { control: Simulator["control"] }) =>
  control.objects("ip_policies").map((row) => row["description"]);
const writesTo = ({ control }: Simulator) => control.requests().filter(({ method }) => method !== "GET").length;

const says = (objects: KubeJSON[], type: string, reason: string) =>
  world.untilAll(`${type} ${reason}`, objects, (object) => conditionOf(object, type)?.reason === reason);

/** An object in an account that works. */
async function given(of: string, name = `in-${of}`): Promise<KubeJSON> {
  await world.kube.apply(keySecret(of, keys.right), account(of), policy(name, of));
  return world.ready("IPPolicy", name);
}

describe("an account that is not there yet", () => {
  // guards against making the remote in the operator's own account for want of a better one
  test("is waited for, and used as soon as it comes", async () => {
    await world.kube.apply(policy("early", "late"));
    await world.condition("IPPolicy", "early", { type: "Ready", reason: "AccountNotReady" });
    const before = here().count();
    await world.kube.apply(keySecret("late", keys.right), account("late"));
    await world.ready("IPPolicy", "early");
    expect(rowsOf(other)).toContain("early");
    expect(here().count()).toBe(before);
  });

  // guards against an object that stays stalled because nothing tells of a Secret
  test("for want of its Secret goes on when it comes", async () => {
    await world.kube.apply(account("keyless"), policy("locked", "keyless"));
    await world.condition("GatewayAccount", "keyless", { type: "Ready", reason: "SecretNotReady" });
    await world.condition("IPPolicy", "locked", { type: "Ready", reason: "AccountNotReady" });
    await world.kube.apply(keySecret("keyless", keys.right));
    await world.ready("IPPolicy", "locked");
    await world.condition("GatewayAccount", "keyless", { type: "Ready", status: "True" });
  });
});

describe("a key", () => {
  const refused = Array.from({ length: 10 }, (_, index) => policy(`refused-${index}`, "mistaken"));

  // guards against hammering a service, until it locks the account, with a key that it refuses
  test("that is wrong is told at the account and its objects, and tried a handful of times", async () => {
    const before = other.control.count();
    await world.kube.apply(keySecret("mistaken", keys.wrong), account("mistaken"), ...refused);
    const reported = await world.condition("GatewayAccount", "mistaken", { type: "Ready", reason: "Unauthorized" });
    expect(conditionOf(reported, "Ready")?.message).toContain("API key");
    await says(refused, "Ready", "Unauthorized");
    await sleep(2500);
    expect(other.control.count() - before).toBeLessThanOrEqual(5);
    await world.kube.apply(keySecret("mistaken", keys.right));
    await world.allReady(refused);
    await world.condition("GatewayAccount", "mistaken", { type: "Ready", status: "True" });
  });

  // guards against a restart for each rotation
  test("that is rotated is picked up while the operator runs", async () => {
    const object = await given("rotating");
    other.control.apiKeys.accept(keys.next);
    other.control.apiKeys.revoke(keys.right);
    await world.kube.apply(keySecret("rotating", keys.next), policy("rotated", "rotating"));
    await world.ready("IPPolicy", "rotated");
    other.control.apiKeys.accept(keys.right);
    // Those that still have the former key are one account, for which one of them asks.
    await world.kube.annotate("GatewayAccount", "late", { [annotations.reconcileRequestedAt]: "now" });
    await world.condition("GatewayAccount", "late", { type: "Ready", status: "True" });
    const [looked] = await world.reconcileNow(object);
    expect(isReady(looked)).toBe(true);
  });

  // guards against an account that shows its former key until the next look, minutes later
  test("is checked when the annotation asks for it", async () => {
    other.control.apiKeys.accept(keys.asked);
    await world.kube.apply(keySecret("asked", keys.asked), account("asked"));
    await world.ready("GatewayAccount", "asked");
    other.control.apiKeys.revoke(keys.asked);
    await world.kube.annotate("GatewayAccount", "asked", { [annotations.reconcileRequestedAt]: "now" });
    const { status } = await world.condition("GatewayAccount", "asked", { type: "Ready", reason: "Unauthorized" });
    expect(status.lastHandledReconcileAt).toBe("now");
  });
});

// guards against objects that reach an account which their namespace has no key of
test("two accounts of the same name in two namespaces stay apart", async () => {
  await given("shared-name", "ours");
  await second.apply(
    keySecret("shared-name", world.simulator.apiKey),
    account("shared-name", { baseURL: world.simulator.url }),
    policy("theirs", "shared-name"),
  );
  await world.until("theirs is Ready", async () => isReady((await second.get("IPPolicy", "theirs")) ?? {}));
  expect(rowsOf(other)).toContain("ours");
  expect(rowsOf(other)).not.toContain("theirs");
  expect(rowsOf(world.simulator)).toContain("theirs");
  expect(rowsOf(world.simulator)).not.toContain("ours");
});

describe("an address", () => {
  // guards against a namespace that makes the operator send requests wherever it likes
  test("that the operator does not allow is told, and gets nothing", async () => {
    const stranger = await startSimulator({ apiKey: keys.right });
    await world.kube.apply(
      keySecret("stranger", keys.right),
      account("stranger", { baseURL: stranger.url }),
      policy("strange", "stranger"),
    );
    for (const [kind, name] of [
      ["GatewayAccount", "stranger"],
      ["IPPolicy", "strange"],
    ] as const) {
      const reported = await world.condition(kind, name, { type: "Stalled", reason: "InvalidSpec" });
      expect(conditionOf(reported, "Ready")?.message).toContain(`Ask for ${new URL(stranger.url).host} to be added`);
    }
    for (const line of ["tree", "import --all", "plan", "orphans --delete --yes"]) {
      const which = ["-n", world.namespace, "--account", "stranger"];
      const { code, stderr } = await command(world, [...line.split(" "), ...which]);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("the operator has not allowed it") });
    }
    expect(stranger.control.count()).toBe(0);
    await stranger.stop();
  });

  // guards against a key that travels in the clear
  test("without TLS is refused at admission, but for loopback", async () => {
    const plain = account("plain", { baseURL: "http://gateway.example.com" });
    await expect(world.kube.create(plain)).rejects.toThrow(/https/);
    for (const host of ["127.0.0.1:1", "localhost", "[::1]:2"])
      await world.kube.create(account("plain", { baseURL: `http://${host}` }), { dryRun: true });
    for (const host of ["127.0.0.1.example.com", "localhost.example.com", "user@127.0.0.1"])
      await expect(world.kube.create(account("plain", { baseURL: `http://${host}` }))).rejects.toThrow();
  });
});

describe("an object that has a remote", () => {
  // guards against a second remote in the new account, and a lost one in the old
  test("stays with its account when accountRef changes, and is deleted there", async () => {
    const { status } = await given("first");
    const { apiKey, url: baseURL } = world.simulator;
    await world.kube.apply(keySecret("elsewhere", apiKey), account("elsewhere", { baseURL }));
    await world.ready("GatewayAccount", "elsewhere");
    const before = { here: here().count(), other: writesTo(other) };
    await world.kube.patch("IPPolicy", "in-first", { spec: { accountRef: { name: "elsewhere" } } });
    const reported = await world.condition("IPPolicy", "in-first", { type: "Ready", reason: "AccountMismatch" });
    expect(conditionOf(reported, "Ready")?.message).toContain("accountRef: {name: first}");
    await world.kube.patch("IPPolicy", "in-first", { spec: { accountRef: null } });
    await world.condition("IPPolicy", "in-first", { type: "Ready", reason: "AccountMismatch" });
    expect({ here: here().count(), other: writesTo(other) }).toEqual(before);
    await world.kube.delete("IPPolicy", "in-first");
    await world.gone("IPPolicy", "in-first");
    expect(other.control.get(status.id)).toBeNull();
  });

  // guards against a namespace whose objects all move, and are made twice, because somebody adds an account
  test("does not move to an account named default that comes later, but new ones go there", async () => {
    const kind = "IPPolicy";
    const settled = manifest(kind, "settled", { description: "settled" });
    await second.apply(settled);
    const object = await world.until("it is Ready", async () => {
      const now = await second.get(kind, "settled");
      return isReady(now ?? {}) && now;
    });
    await second.apply(keySecret("default", keys.right), account("default"));
    await second.apply(manifest(kind, "new", { description: "new" }));
    await world.until("the new one is Ready", async () => isReady((await second.get(kind, "new")) ?? {}));
    expect(rowsOf(other)).toContain("new");
    const reported = await world.until("it is told", async () => {
      const now = await second.get(kind, "settled");
      return conditionOf(now, "Synced")?.reason === "AccountMismatch" && now;
    });
    expect(conditionOf(reported, "Ready")?.status).toBe("True");
    expect(rowsOf(other)).not.toContain("settled");
    expect(here().get(object.status.id)).not.toBeNull();
    await second.delete(kind, "settled");
    await world.until("it is gone", async () => (await second.get(kind, "settled")) === undefined);
    expect(here().get(object.status.id)).toBeNull();
  });
});

describe("a GatewayAccount that is deleted", () => {
  // guards against remotes that nobody can delete any more, because their key went first
  test("waits with its Secret for the objects that need it", async () => {
    const { status } = await given("leaving");
    await world.kube.delete("GatewayAccount", "leaving");
    await world.kube.delete("Secret", "key-of-leaving");
    const waiting = await world.condition("GatewayAccount", "leaving", { type: "Ready", reason: "InUse" });
    expect(conditionOf(waiting, "Ready")?.message).toContain(
      "Waiting until the object that uses this account is deleted",
    );
    expect(await world.kube.get("Secret", "key-of-leaving")).toMatchObject({ data: {} });
    await world.kube.delete("IPPolicy", "in-leaving");
    await world.gone("IPPolicy", "in-leaving");
    await world.gone("GatewayAccount", "leaving");
    await world.gone("Secret", "key-of-leaving");
    expect(other.control.get(status.id)).toBeNull();
  });

  // guards against an account that nobody uses and that never goes
  test("goes at once where nothing needs it, and its Secret stays and can be deleted", async () => {
    await world.kube.apply(keySecret("unused", keys.right), account("unused"));
    await world.condition("GatewayAccount", "unused", { type: "Ready", status: "True" });
    await world.kube.delete("GatewayAccount", "unused");
    await world.gone("GatewayAccount", "unused");
    expect((await world.kube.get("Secret", "key-of-unused"))?.metadata.finalizers ?? []).toEqual([]);
  });

  // guards against a namespace that hangs for ever, or leaves remotes, since everything in it goes at the same time
  test("with its whole namespace leaves nothing in the account", async () => {
    const { namespace } = doomed;
    const mine = Array.from({ length: 20 }, (_, index) => `doomed-${index}`);
    const objects = mine.map((name) => policy(name, "default"));
    await doomed.apply(keySecret("default", keys.right), account("default"), ...objects);
    await world.until(
      "all are Ready",
      async () => (await doomed.list("IPPolicy")).filter(isReady).length === mine.length,
    );
    expect(rowsOf(other)).toEqual(expect.arrayContaining(mine));
    await world.cluster.kubectlRun(["delete", "namespace", namespace, "--wait=false"]);
    const left = async () => [
      ...(await doomed.all()),
      ...(await doomed.list("GatewayAccount")),
      ...(await doomed.list("Secret")),
    ];
    await world.until("nothing is left", async () => (await left()).length === 0);
    expect(rowsOf(other).filter((name) => mine.includes(String(name)))).toEqual([]);
  });
});

// guards against keys in what people paste into tickets
test("no key is in the log, a status or an event", async () => {
  const seen = async (kube: Kube) => [
    ...(await kube.all()),
    ...(await kube.list("GatewayAccount")),
    ...(await kube.list("Event")),
  ];
  const texts = [world.operator.lines, await seen(world.kube), await seen(second)];
  expect(texts.every((list) => list.length > 0)).toBe(true);
  expect(canaries.in(JSON.stringify(texts))).toEqual([]);
});
