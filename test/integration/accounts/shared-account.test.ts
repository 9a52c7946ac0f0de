import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { Kube } from "../../support/kube.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** The account of the world is that of the operator's own credentials. `other` is one that several namespaces have a key of. */
const world = useWorld({ startOperator: false });
const NEXT = "the-next-key-of-the-other-account";
const env: Record<string, string> = { RESYNC_INTERVAL: "2s" };
let other: Simulator;
let teams: Kube[];
let outsider: Kube;

beforeAll(async () => {
  other = await startSimulator();
  const names = await Promise.all(
    ["team-a", "team-b", "team-c", "outsider"].map((name) => world.cluster.freshNamespace(name)),
  );
  const kubes = names.map((name) => new Kube(world.cluster.kubeconfig, name));
  teams = kubes.slice(0, 3);
  outsider = kubes[3] as Kube;
  env["WATCH_NAMESPACES"] = [world.namespace, ...names].join(",");
  env["ALLOWED_GATEWAY_HOSTS"] = new URL(other.url).host;
  await world.startOperator(env);
});

afterAll(async () => {
  await world.operator.stop();
  await other.stop();
  for (const kube of [...teams, outsider, world.kube]) {
    for (const { kind, metadata } of [...(await kube.all()), ...(await kube.list("GatewayAccount", "Secret"))])
      await kube.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
    if (kube !== world.kube) await kube.close();
  }
});

const keySecret = (key: string): KubeJSON => secret("key", { key });
const account = (name = "default", baseURL = other.url): KubeJSON =>
  manifest("GatewayAccount", name, { apiKeySecretRef: { name: "key", key: "key" }, baseURL });
const policy = (name: string, spec: object = {}): KubeJSON =>
  manifest("IPPolicy", name, { description: name, deletionPolicy: "Delete", ...spec });

const isWell = (object: KubeJSON): boolean => isReady(object) && conditionOf(object, "Synced")?.status === "True";

const untilOf = (kube: Kube, kind: string, name: string, what: (object: KubeJSON) => boolean): Promise<KubeJSON> =>
  world.until(`${kind} ${name}`, async () => {
    const object = await kube.get(kind, name);
    return object !== undefined && what(object) && object;
  });
const well = (kube: Kube, kind: string, name: string): Promise<KubeJSON> => untilOf(kube, kind, name, isWell);

/** Requests for the first page of the IP policies: lists, and probes. */
const lists = (after: number, { control }: Simulator = other) =>
  control
    .requests({ method: "GET", after })
    .filter(({ path, query }) => path === "/ip_policies" && Object.keys(query).length === 0);
const lastSeq = ({ control }: Simulator): number => control.requests().at(-1)?.seq ?? 0;
const changesTo = ({ control }: Simulator, after: number) =>
  control.requests({ after }).filter(({ method }) => method !== "GET");

describe("GatewayAccounts of three namespaces with one key", () => {
  beforeAll(async () => {
    for (const [index, kube] of teams.entries())
      await kube.apply(keySecret(other.apiKey), account(), policy(`of-${index}`));
    for (const [index, kube] of teams.entries()) await well(kube, "IPPolicy", `of-${index}`);
  });

  // guards against a budget that fifty namespaces use up with the same lists
  test("cost one list in each interval, and no more than a probe now and then", async () => {
    const [after, began] = [lastSeq(other), Date.now()];
    await world.until("four resyncs", async () => lists(after).length >= 4);
    const intervals = Math.ceil((Date.now() - began) / 1800);
    expect(other.control.requests({ after })).toHaveLength(lists(after).length);
    // three lists and three probes, were they three accounts
    expect(lists(after).length).toBeLessThan(2 * intervals);
  });

  test("cost one list and one probe at a start", async () => {
    await world.operator.stop();
    const after = lastSeq(other);
    await world.startOperator({ ...env, RESYNC_INTERVAL: "1h" });
    await world.until("it is listed", async () => lists(after).length > 0);
    await world.quiet(1000);
    const sent = other.control.requests({ after }).map(({ method, path }) => `${method} ${path}`);
    expect(sent.length).toBeLessThanOrEqual(2);
    expect(new Set(sent)).toEqual(new Set(["GET /ip_policies"]));
    await world.restartOperator(env);
  });

  // guards against two objects that correct each other for ever, each in a namespace that does not see the other
  test("have one holder of each remote, and who comes later is told who it is", async () => {
    const [first, second] = teams as [Kube, Kube];
    const { status } = await well(first, "IPPolicy", "of-0");
    await second.apply(policy("taker", { adopt: { id: status.id }, description: "taken" }));
    const reported = await untilOf(
      second,
      "IPPolicy",
      "taker",
      (object) => conditionOf(object, "Ready")?.reason === "OwnershipConflict",
    );
    expect(conditionOf(reported, "Ready")?.message).toContain(`IPPolicy ${first.namespace}/of-0`);
    expect(other.control.get(status.id)).toMatchObject({ description: "of-0" });
    await second.delete("IPPolicy", "taker");
    await world.until("it is gone", async () => (await second.get("IPPolicy", "taker")) === undefined);
    expect(other.control.get(status.id)).not.toBeNull();
  });

  // guards against a policy that goes while an edge of another namespace is about to have it
  test("see who uses a remote, also in another namespace", async () => {
    const [first, second] = teams as [Kube, Kube];
    await first.apply(policy("used"));
    const { status } = await well(first, "IPPolicy", "used");
    const after = lastSeq(other);
    await second.apply(
      manifest("TCPEdge", "user", {
        hostports: ["1.tcp.example.org:20001"],
        ipRestriction: { ipPolicyRefs: [{ id: status.id }] },
      }),
    );
    await well(second, "TCPEdge", "user");
    await first.delete("IPPolicy", "used");
    const waiting = await untilOf(
      first,
      "IPPolicy",
      "used",
      (object) => conditionOf(object, "Ready")?.reason === "InUse",
    );
    expect(conditionOf(waiting, "Ready")?.message).toContain(second.namespace);
    expect(changesTo(other, after).filter(({ method }) => method === "DELETE")).toEqual([]);
    await second.delete("TCPEdge", "user");
    await world.until("it goes", async () => (await first.get("IPPolicy", "used")) === undefined);
  });

  test("are rotated one after the other, without a write and without a word", async () => {
    other.control.apiKeys.accept(NEXT);
    const after = lastSeq(other);
    for (const [index, kube] of teams.entries()) {
      await kube.apply(keySecret(NEXT));
      await kube.annotate("GatewayAccount", "default", { "tunnelgateway.dev/reconcile-requested-at": `${index}` });
      await kube.patch("IPPolicy", `of-${index}`, { spec: { description: `rotated-${index}` } });
      await world.until("it was sent", async () =>
        other.control.objects("ip_policies").some((row) => row["description"] === `rotated-${index}`),
      );
      await well(kube, "IPPolicy", `of-${index}`);
    }
    other.control.apiKeys.revoke(other.apiKey);
    await sleep(2500);
    const began = lastSeq(other);
    await world.until("it is listed", async () => lists(began).length >= 2);
    for (const [index, kube] of teams.entries()) {
      await well(kube, "IPPolicy", `of-${index}`);
      await accountWell(kube);
    }
    expect(changesTo(other, after).map(({ method }) => method)).toEqual(["PATCH", "PATCH", "PATCH"]);
    expect(other.control.requests({ after, status: 401 })).toEqual([]);
  });

  // guards against a namespace that stops all others of its account by a wrong key or by none
  test("go on when one of them gets a key that is wrong, or none", async () => {
    const [first, second, third] = teams as [Kube, Kube, Kube];
    await first.apply(keySecret("a-key-that-is-wrong"));
    await first.annotate("GatewayAccount", "default", { "tunnelgateway.dev/reconcile-requested-at": "wrong" });
    await untilOf(
      first,
      "GatewayAccount",
      "default",
      (object) => conditionOf(object, "Ready")?.reason === "Unauthorized",
    );
    await second.apply(secret("key", { key: "" }));
    await second.annotate("GatewayAccount", "default", { "tunnelgateway.dev/reconcile-requested-at": "none" });
    await untilOf(
      second,
      "GatewayAccount",
      "default",
      (object) => conditionOf(object, "Ready")?.reason === "SecretNotReady",
    );
    await third.patch("IPPolicy", "of-2", { spec: { description: "goes on" } });
    await world.until("it was sent", async () =>
      other.control.objects("ip_policies").some((row) => row["description"] === "goes on"),
    );
    await accountWell(third);
    for (const kube of [first, second]) {
      await kube.apply(keySecret(NEXT));
      await kube.annotate("GatewayAccount", "default", { "tunnelgateway.dev/reconcile-requested-at": "right" });
      await accountWell(kube);
    }
    await well(first, "IPPolicy", "of-0");
  });
});

const accountWell = (kube: Kube) => untilOf(kube, "GatewayAccount", "default", isReady);

describe("a GatewayAccount named default that comes later", () => {
  const own = () => world.simulator;

  beforeAll(async () => {
    await outsider.apply(policy("settled"));
    await well(outsider, "IPPolicy", "settled");
  });

  // guards against objects that are stopped by a key that is the one they have always had
  test("with the operator's own key changes nothing", async () => {
    const before = await outsider.get("IPPolicy", "settled");
    const after = lastSeq(own());
    await outsider.apply(keySecret(own().apiKey), account("default", own().url));
    await accountWell(outsider);
    await outsider.apply(policy("new"));
    await well(outsider, "IPPolicy", "new");
    await world.until("it is listed", async () => lists(after, own()).length >= 2);
    const now = await outsider.get("IPPolicy", "settled");
    expect(now?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    expect(changesTo(own(), after).map(({ method }) => method)).toEqual(["POST"]);
    // It goes on being read: a change in the account is seen and corrected.
    own().control.patch(before?.status.id, { description: "somebody's" });
    await world.until(
      "it is corrected",
      async () => own().control.get(before?.status.id)?.["description"] === "settled",
    );
  });

  test("is the account of the object after its next edit, and then the other one may go", async () => {
    await outsider.patch("IPPolicy", "settled", { spec: { description: "edited" } });
    const edited = await untilOf(outsider, "IPPolicy", "settled", (object) => object.status.account === "default");
    expect(isWell(edited)).toBe(true);
    await outsider.apply(account("second", own().url));
    await outsider.patch("IPPolicy", "settled", { spec: { accountRef: { name: "second" } } });
    await untilOf(outsider, "IPPolicy", "settled", (object) => object.status.account === "second");
    await outsider.patch("IPPolicy", "settled", { spec: { accountRef: null } });
    await untilOf(outsider, "IPPolicy", "settled", (object) => object.status.account === "default");
    await outsider.delete("GatewayAccount", "second");
    await world.until("it goes", async () => (await outsider.get("GatewayAccount", "second")) === undefined);
    await well(outsider, "IPPolicy", "settled");
  });

  // guards against Ready objects that nobody tells, and that nobody reads any more
  test("and then gets a key of another account tells the objects at once, and makes nothing there", async () => {
    const { kube } = world;
    await kube.apply(policy("before"));
    await well(kube, "IPPolicy", "before");
    await kube.apply(keySecret(own().apiKey), account("default", own().url));
    await accountWell(kube);
    expect(isWell((await kube.get("IPPolicy", "before")) as KubeJSON)).toBe(true);
    const after = lastSeq(other);
    await kube.apply(keySecret(NEXT), account("default", other.url));
    const reported = await untilOf(
      kube,
      "IPPolicy",
      "before",
      (object) => conditionOf(object, "Synced")?.status === "False",
    );
    expect(conditionOf(reported, "Synced")?.reason).toBe("AccountMismatch");
    expect(isReady(reported)).toBe(true);
    expect(changesTo(other, after)).toEqual([]);
    await kube.apply(keySecret(own().apiKey), account("default", own().url));
    await well(kube, "IPPolicy", "before");
  });
});
