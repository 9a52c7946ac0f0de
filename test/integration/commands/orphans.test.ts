import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { annotations, FINALIZER } from "../../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { DNSServer } from "../../support/dns-server.ts";
import { Kube } from "../../support/kube.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** Two teams have a GatewayAccount with the same key: that of the operator's own credentials, so all are one account. */
const world = useWorld({ process: true, startOperator: false });
let teams: [Kube, Kube];
let clusterID: string;

const policy = (name: string, spec: object = {}) => manifest("IPPolicy", name, spec);
const account = () => manifest("GatewayAccount", "default", { apiKeySecretRef: { name: "key", key: "key" } });
const orphans = (namespace: string, ...more: string[]) => command(world, ["orphans", ...more, "-n", namespace, "-A"]);
const deleteAll = (namespace: string, ...more: string[]) =>
  orphans(namespace, "--unmanaged", "--delete", "--yes", ...more);
const byFlags = () => ["--base-url", world.simulator.url, "--api-key-file", keyFile];
let folder: string;
let keyFile: string;

const ready = (kube: Kube, kind: string, name: string): Promise<KubeJSON> =>
  world.until(`${kind} ${name}`, async () => {
    const object = await kube.get(kind, name);
    return object?.status?.id !== undefined && object.status.conditions?.[0]?.status === "True" && object;
  });

/** The lines about remotes. The cluster has objects of other tests, whose remotes this account never had. */
const leftovers = (stdout: string): string[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => line.replaceAll(/ +/g, " "))
    .filter((line) => !/^WHAT|the remote is gone$|^$/.test(line));

const policies = () => world.simulator.control.objects("ip_policies").map(({ id }) => id);
const markFor = (namespace: string, name: string) =>
  JSON.stringify({ "tunnelgateway.dev/owner": `${clusterID}/${namespace}/${name}` });

beforeAll(async () => {
  const names = await Promise.all(["team-a", "team-b"].map((name) => world.cluster.freshNamespace(name)));
  teams = names.map((name) => new Kube(world.cluster.kubeconfig, name)) as [Kube, Kube];
  const { stdout } = await world.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}");
  clusterID = stdout;
  folder = await mkdtemp(join(tmpdir(), "tunnel-gateway-orphans-"));
  keyFile = join(folder, "key");
  await writeFile(keyFile, world.simulator.apiKey);
  await world.startOperator({ WATCH_NAMESPACES: [world.namespace, ...names].join(",") });
  for (const kube of teams) await kube.apply(secret("key", { key: world.simulator.apiKey }), account());
});

afterAll(async () => {
  await world.operator.stop("SIGKILL");
  await rm(folder, { recursive: true });
  for (const kube of teams) {
    for (const { kind, metadata } of [...(await kube.all()), ...(await kube.list("GatewayAccount", "Secret"))])
      await kube.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
    await kube.close();
  }
});

test("what an object has stays, whichever of two GatewayAccounts with one key the command uses", async () => {
  const [a, b] = teams;
  await a.apply(policy("of-a"));
  await b.apply(
    policy("office"),
    manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } }),
  );
  await world.apply(policy("own"), manifest("ReservedDomain", "shop", { domain: "shop.example.org" }));
  for (const [kube, kind, name] of [
    [a, "IPPolicy", "of-a"],
    [b, "IPPolicy", "office"],
    [b, "TCPEdge", "ssh"],
  ] as const)
    await ready(kube, kind, name);
  await world.ready("IPPolicy", "own");
  await world.condition("ReservedDomain", "shop", { type: "Synced", status: "True" });
  // What has a name is kept for an object of that name alone. Of other kinds, objects of other tests could need it.
  const domain = "left-by-nobody.gateway.example";
  const left = String(world.simulator.control.insert("reserved_domains", { domain })["id"]);
  world.simulator.control.clearRequests();
  const used = [
    ...[await orphans(a.namespace, "--unmanaged"), await orphans(b.namespace, "--unmanaged")],
    await orphans(a.namespace, "--unmanaged", ...byFlags()),
  ];
  for (const { code, stdout } of used) {
    expect(code).toBe(0);
    expect(leftovers(stdout)).toEqual([expect.stringContaining(left)]);
  }
  const tree = await command(world, ["tree", "-n", a.namespace, "-A"]);
  for (const name of ["IPPolicy/of-a", "IPPolicy/office", "TCPEdge/ssh", "IPPolicy/own", "ReservedDomain/shop"])
    expect(tree.stdout).toContain(name);
  const users = await command(world, ["users", "ippolicy/office", "-n", b.namespace, ...byFlags()]);
  expect(users.stdout).toContain("TCPEdge/ssh");
  const { code, stdout, stderr } = await deleteAll(a.namespace, ...byFlags());
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `Deleted ReservedDomain ${left}\n`, stderr: "" });
  for (const namespace of [a.namespace, b.namespace])
    expect(await deleteAll(namespace)).toMatchObject({ code: 0, stdout: "" });
  expect(world.changesSent()).toEqual([
    expect.objectContaining({ method: "DELETE", path: `/reserved_domains/${left}` }),
  ]);
});

test("API keys are never among the orphans, so neither is the one with which the command sends", async () => {
  const [a] = teams;
  const { control } = world.simulator;
  const keys = [
    control.insert("api_keys", { description: "ours" }),
    control.insert("api_keys", { metadata: markFor(a.namespace, "gone") }),
  ];
  expect(leftovers((await orphans(a.namespace, "--unmanaged")).stdout)).toEqual([]);
  expect(await deleteAll(a.namespace)).toMatchObject({ code: 0, stdout: "" });
  const there = control.objects("api_keys").map(({ id }) => id);
  expect(there).toEqual(expect.arrayContaining(keys.map(({ id }) => id)));
});

test("what an open create, a pause or a lost status may need stays, and a leftover beside it goes", async () => {
  const [a, b] = teams;
  const { control } = world.simulator;
  await world.operator.stop("SIGKILL");
  const insert = (name: string) =>
    String(control.insert("ip_policies", { metadata: markFor(b.namespace, name) })["id"]);
  const waiting = { metadata: { finalizers: [FINALIZER] } };
  await b.apply(
    {
      ...policy("flight"),
      metadata: { name: "flight", annotations: { [annotations.createIntent]: new Date().toISOString() } },
    },
    { ...policy("paused"), metadata: { name: "paused", annotations: { [annotations.paused]: "true" } } },
    policy("lost"),
  );
  for (const name of ["flight", "lost"]) await b.patch("IPPolicy", name, waiting);
  const kept = ["flight", "paused", "lost"].map(insert);
  const [gone, second] = [insert("gone"), insert("office")];
  const office = (await b.get("IPPolicy", "office"))?.status.id;
  const { stdout } = await orphans(a.namespace);
  expect(leftovers(stdout).sort()).toEqual(
    [
      `IPPolicy ${gone} 0 no object ${b.namespace}/gone`,
      `IPPolicy ${second} 0 ${b.namespace}/office has ${office}`,
    ].sort(),
  );
  expect(await orphans(a.namespace, "--delete", "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Deleted IPPolicy ${gone}`),
  });
  expect(policies()).toEqual(expect.arrayContaining([office, ...kept]));
  expect([gone, second].filter((id) => policies().includes(id))).toEqual([]);
});

test("an object that comes while the command asks keeps its remote", async () => {
  const [a, b] = teams;
  const { control } = world.simulator;
  const id = String(control.insert("ip_policies", { metadata: markFor(b.namespace, "late") })["id"]);
  expect((await orphans(a.namespace)).stdout).toContain(id);
  await b.apply(policy("late"));
  expect((await orphans(a.namespace)).stdout).not.toContain(id);
  await world.startOperator({ WATCH_NAMESPACES: [world.namespace, a.namespace, b.namespace].join(",") });
  expect((await ready(b, "IPPolicy", "late")).status.id).toBe(id);
});

test("a domain stays while DNS leads to it, or nobody can tell", async () => {
  await using dns = await DNSServer.start();
  const { control } = world.simulator;
  const { id, cname_target: target } = control.insert("reserved_domains", {
    domain: "retained.example.org",
    metadata: markFor(world.namespace, "retained"),
  });
  const isThere = () => control.objects("reserved_domains").some((row) => row["id"] === id);
  const remove = () =>
    command(world, ["orphans", "--delete", "--yes", "-A"], { CLUSTER_ID: clusterID, DNS_RESOLVERS: dns.address });
  dns.zone.set("CNAME retained.example.org", [String(target)]);
  expect((await remove()).stderr).toContain(
    `Kept ReservedDomain ${id}: Delete the DNS record retained.example.org CNAME ${target} first`,
  );
  dns.zone.clear();
  dns.failing = true;
  expect((await remove()).stderr).toContain(`Kept ReservedDomain ${id}: Set DNS_RESOLVERS, or try again`);
  expect(isThere()).toBe(true);
  dns.failing = false;
  expect((await remove()).stdout).toContain(`Deleted ReservedDomain ${id}`);
  expect(isThere()).toBe(false);
});
