import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/schema/contract.ts";
import { parseLabelSelector, selects } from "../../../src/schema/label-selector.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import type { TestOperator } from "../../support/operator-process.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** Two installations divide the objects of one namespace and one account by labels. Each has a signing key of its own. */
const world = useWorld({ startOperator: false });
const control = () => world.simulator.control;
const env = { CLUSTER_ID: "divided", REQUEST_TIMEOUT: "2s", ALLOWED_GATEWAY_HOSTS: "" };
/** The own namespaces of both. */
let namespaces: string[];
let east: TestOperator;
let west: TestOperator;

beforeAll(async () => {
  env.ALLOWED_GATEWAY_HOSTS = new URL(world.simulator.url).host;
  namespaces = await Promise.all(["east", "west"].map((name) => world.cluster.freshNamespace(name)));
  east = await world.startOperator({ ...env, WATCH_SELECTOR: "part=east", POD_NAMESPACE: `${namespaces[0]}` });
  west = await world.startOperator({ ...env, WATCH_SELECTOR: "part in (west)", POD_NAMESPACE: `${namespaces[1]}` });
});
afterAll(async () => {
  for (const { kind, metadata } of await world.kube.list("GatewayAccount", "Secret"))
    await world.kube.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
});

function of(part: string, object: KubeJSON): KubeJSON {
  return { ...object, metadata: { ...object.metadata, labels: { part } } };
}
const policy = (name: string, spec: object = {}) => manifest("IPPolicy", name, { description: name, ...spec });
const pass = (kind: string, name: string, part: string | null) =>
  world.kube.patch(kind, name, { metadata: { labels: { part } } });
const counted = (operator: TestOperator, kind: string) => operator.metric("tunnelgateway_resources", { kind });

test("each looks after the objects with its labels, and nobody after others", async () => {
  await world.kube.apply(of("east", policy("e")), of("west", policy("w")), policy("nobodys"));
  await Promise.all([world.ready("IPPolicy", "e"), world.ready("IPPolicy", "w")]);
  expect([await counted(east, "IPPolicy"), await counted(west, "IPPolicy")]).toEqual([1, 1]);
  expect(control().objects("ip_policies")).toHaveLength(2);
  const { status, metadata } = (await world.kube.get("IPPolicy", "nobodys")) as KubeJSON;
  expect([status.observedGeneration, metadata.finalizers]).toEqual([-1, undefined]);
});

test("an object of one refers to an object of the other, which is not deleted before", async () => {
  const edge = manifest("TCPEdge", "db", { ipRestriction: { ipPolicyRefs: [{ name: "w" }] } });
  await world.kube.apply(of("east", edge));
  await world.ready("TCPEdge", "db");
  await world.kube.delete("IPPolicy", "w");
  const reported = await world.condition("IPPolicy", "w", { type: "Ready", reason: "InUse" });
  expect(conditionOf(reported, "Ready")?.message).toContain("TCPEdge");
  await world.kube.delete("TCPEdge", "db");
  await Promise.all([world.gone("TCPEdge", "db"), world.gone("IPPolicy", "w")]);
});

test("an object that is given other labels keeps its remote, and the other installation changes it from then on", async () => {
  const { status } = (await world.kube.get("IPPolicy", "e")) as KubeJSON;
  const before = world.changesSent().length;
  await pass("IPPolicy", "e", "west");
  await east.said("belongs to this installation no more");
  await world.reconcileNow((await world.kube.get("IPPolicy", "e")) as KubeJSON);
  expect([await counted(east, "IPPolicy"), await counted(west, "IPPolicy")]).toEqual([0, 1]);
  expect(world.changesSent()).toHaveLength(before);
  await world.kube.patch("IPPolicy", "e", { spec: { description: "edited" } });
  await world.until("it is changed", async () => control().get(status.id)?.["description"] === "edited");
  expect(world.changesSent()).toHaveLength(before + 1);
});

test("an object that nobody has keeps remote and finalizer when it is deleted, until somebody has it", async () => {
  const { status } = (await world.kube.get("IPPolicy", "e")) as KubeJSON;
  await pass("IPPolicy", "e", null);
  await world.kube.delete("IPPolicy", "e");
  await world.kube.apply(of("east", policy("afterwards")), of("west", policy("after-that")));
  await Promise.all([world.ready("IPPolicy", "afterwards"), world.ready("IPPolicy", "after-that")]);
  expect(((await world.kube.get("IPPolicy", "e")) as KubeJSON).metadata.finalizers).toEqual([FINALIZER]);
  expect(control().get(status.id)).not.toBeNull();
  await pass("IPPolicy", "e", "east");
  await world.gone("IPPolicy", "e");
  expect(control().get(status.id)).toBeNull();
});

// Guards against a second remote.
test("a create that is under way when the labels change makes one remote", async () => {
  const path = "/reserved_addrs";
  control().fault({ method: "POST", path, action: { hang: "after" } });
  await world.kube.apply(of("east", manifest("ReservedAddress", "passed", { region: "eu" })));
  const made = await world.until("it is made", async () => control().objects("reserved_addrs")[0]);
  await pass("ReservedAddress", "passed", "west");
  const { status } = await world.ready("ReservedAddress", "passed");
  expect(status.id).toBe(made["id"]);
  expect(world.changesSent().filter((request) => request.path === path)).toHaveLength(1);
});

describe("a GatewayAccount", () => {
  const account = (name: string) => manifest("GatewayAccount", name, { apiKeySecretRef: { name: "key", key: "key" } });

  test("is used by both, and told and protected by the installation that has it", async () => {
    const apiKey = "the-key-of-the-account";
    control().apiKeys.accept(apiKey);
    await world.kube.apply(secret("key", { key: apiKey }), of("east", account("shared")), account("nobodys"));
    const accountRef = { name: "shared" };
    await world.kube.apply(
      of("west", policy("by-west", { accountRef })),
      of("east", policy("by-east", { accountRef })),
    );
    await Promise.all([world.ready("IPPolicy", "by-west"), world.ready("IPPolicy", "by-east")]);
    const reported = await world.until("it is Ready", async () => {
      const object = await world.kube.get("GatewayAccount", "shared");
      return object && isReady(object) && object;
    });
    expect(reported.metadata.finalizers).toEqual([FINALIZER]);
    const other = (await world.kube.get("GatewayAccount", "nobodys")) as KubeJSON;
    expect([other.status.observedGeneration, other.metadata.finalizers]).toEqual([-1, undefined]);
  });

  test("waits for the objects of the other installation before it goes", async () => {
    await world.kube.delete("GatewayAccount", "shared");
    await world.kube.delete("IPPolicy", "by-east");
    await world.gone("IPPolicy", "by-east");
    const waiting = (await world.kube.get("GatewayAccount", "shared")) as KubeJSON;
    expect(conditionOf(waiting, "Ready")).toMatchObject({ reason: "InUse" });
    await world.kube.delete("IPPolicy", "by-west");
    await world.gone("IPPolicy", "by-west");
    await world.gone("GatewayAccount", "shared");
  });
});

test("a command belongs to the installation that has its labels", async () => {
  const stop = manifest("AgentCommand", "stop", { command: "Stop", sessionRef: { name: "any" } });
  await world.kube.apply(of("west", stop), { ...stop, metadata: { name: "nobodys" } });
  const reported = await world.until("it is told", async () => {
    const object = await world.kube.get("AgentCommand", "stop");
    return conditionOf(object, "Ready")?.status === "False" && object;
  });
  expect(conditionOf(reported, "Ready")?.message).toContain(`Create it in namespace "${namespaces[1]}"`);
  expect(conditionOf(await world.kube.get("AgentCommand", "nobodys"), "Ready")).toMatchObject({ reason: "Pending" });
});

test("uninstall releases the objects with its labels alone", async () => {
  await Promise.all([east.stop(), west.stop()]);
  const settings = { WATCH_NAMESPACES: world.namespace, WATCH_SELECTOR: "part=east" };
  const { code, stderr } = await command(world, ["uninstall", "--policy", "retain", "--timeout", "20s"], settings);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const finalizers = async (name: string) => ((await world.kube.get("IPPolicy", name)) as KubeJSON).metadata.finalizers;
  expect([await finalizers("afterwards"), await finalizers("after-that")]).toEqual([undefined, [FINALIZER]]);
});

test("Kubernetes selects the same objects", async () => {
  const labels = (name: string) => world.kube.patch("IPPolicy", name, { metadata: { labels: { tier: "gold" } } });
  await labels("afterwards");
  for (const selector of [
    "tier",
    "!tier",
    "tier=gold,part",
    "tier!=gold",
    "part in (east, west)",
    "part notin (east)",
  ]) {
    const { stdout } = await world.kubectl("get", "ippolicies", "-l", selector, "-o", "json");
    const names = JSON.parse(stdout).items.map(({ metadata }: KubeJSON) => metadata.name);
    const all = await world.kube.list("IPPolicy");
    const ours = all.filter(({ metadata }) => selects(parseLabelSelector(selector), metadata.labels));
    expect(ours.map(({ metadata }) => metadata.name).sort()).toEqual(names.sort());
  }
});
