import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { withoutOwnerMark } from "../../../src/objects/ownership.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import { sampleBodies } from "../../../tools/simulator/testing/samples.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

let route: string;

/** An account as people have made it, with several resources of each type. */
beforeAll(() => {
  const { control } = world.simulator;
  for (const [collection, body] of Object.entries(sampleBodies(control))) {
    control.insert(collection, { ...body, description: `The first of ${collection}`, metadata: '{"team": "a"}' });
    if (collection !== "reserved_domains" && collection !== "agent_ingresses") control.insert(collection, body);
  }
  control.insert("reserved_domains", {
    domain: "*.example.org",
    certificate_management_policy: { authority: "freeca", private_key_type: "rsa" },
  });
  const [address] = control.objects("reserved_addrs");
  control.insert("edges/tcp", { hostports: [address?.["addr"]], description: "On an address" });
  const [policy] = control.objects("ip_policies");
  const { edgeId, routeId } = control.addRoute();
  control.patch(routeId, { ip_restriction: { enabled: true, ip_policy_ids: [policy?.["id"]] } });
  route = `${edgeId}/${routeId}`;
});

const account = (): Members[] =>
  Object.keys(world.simulator.control.summary()).flatMap((name) => world.simulator.control.objects(name));

/** Without marks, and without members that change as time goes by. */
const withoutMarks = (rows: readonly Members[]) =>
  rows.map(({ metadata, certificate: _, certificate_management_status: __, updated_at: ___, ...row }) => ({
    ...row,
    metadata: withoutOwnerMark(metadata as string) || null,
  }));

const objectsIn = (text: string): KubeJSON[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((object) => object !== null);

test("an account with all kinds is imported, and only owner marks change in it", async () => {
  const all = ["import", "--all", route, "-n", world.namespace];
  const { code, stdout, stderr } = await command(world, all);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("objects written") });
  expect((await command(world, all)).stdout).toBe(stdout);

  const objects = objectsIn(stdout);
  const before = withoutMarks(account());
  world.simulator.control.clearRequests();
  await world.apply(stdout);
  await world.allReady(objects);

  const writes = world.changesSent();
  expect(new Set(writes.map(({ method }) => method))).toEqual(new Set(["PATCH"]));
  expect(withoutMarks(account())).toEqual(before);
  const managed = objects.filter(({ spec }) => spec.managementPolicy === undefined && spec.adopt);
  expect(writes).toHaveLength(managed.length);

  // what is managed is left out now, and on request it is written as before
  expect(objectsIn((await command(world, all)).stdout).map(({ kind }) => kind)).not.toContain("IPPolicy");
  expect((await command(world, [...all, "--no-exclude-managed"])).stdout).toBe(stdout);
});

test("a name is that of no object in the namespace where the objects go, and of one elsewhere if need be", async () => {
  world.simulator.control.insert("ip_policies", { description: "Office in Faro" });
  const waits = { ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "missing" }] } };
  await world.kube.apply(
    { apiVersion: "tunnelgateway.dev/v1", kind: "TCPEdge", metadata: { name: "on-an-address" }, spec: waits },
    { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata: { name: "office-in-faro" }, spec: {} },
  );
  await world.ready("IPPolicy", "office-in-faro");
  world.simulator.control.insert("edges/tcp", { description: "On an address" });
  const names = async (namespace: string, kind: string) => {
    const { stdout } = await command(world, ["import", kind, "-n", namespace]);
    return objectsIn(stdout).map(({ metadata }) => metadata.name);
  };
  expect(await names(world.namespace, "IPPolicy")).toContainEqual(
    expect.stringMatching(/^office-in-faro-[0-9a-f]{4}$/),
  );
  expect(await names(world.namespace, "TCPEdge")).toContainEqual(expect.stringMatching(/^on-an-address-[0-9a-f]{4}$/));
  expect(await names("elsewhere", "IPPolicy")).toContain("office-in-faro");
  expect(await names("elsewhere", "TCPEdge")).toContain("on-an-address");
});

test("a folder gets a file for each object", async () => {
  const folder = await mkdtemp(join(tmpdir(), "import-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { code } = await command(world, ["import", "--all", "--no-exclude-managed", "-o", folder]);
  const { stdout } = await command(world, ["import", "--all", "--no-exclude-managed"]);
  expect(code).toBe(0);
  expect(await readdir(folder)).toHaveLength(objectsIn(stdout).length + 1);
  expect(await readdir(folder)).toContain("secrets.yaml.example");
});

test("a resource that cannot be listed is named, and the others are written", async () => {
  world.simulator.control.fault({ method: "GET", path: "/ip_policies", action: { status: 403 } });
  const { code, stdout, stderr } = await command(world, ["import", "--all", "--no-exclude-managed"]);
  world.simulator.control.clearFaults();
  expect(code).toBe(1);
  expect(stderr).toContain("Use an API key with the right to list /ip_policies");
  expect(objectsIn(stdout).map(({ kind }) => kind)).toContain("TCPEdge");
  expect(objectsIn(stdout).map(({ kind }) => kind)).not.toContain("IPPolicy");
});

test("an unknown kind is answered by the kind that was meant", async () => {
  const { code, stderr } = await command(world, ["import", "tcpedgs"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^There is no kind tcpedgs. Did you mean tcpedge\?/),
  });
});

test.each<[what: string, args: string[], env: Record<string, string>, message: RegExp]>([
  [
    "an account that is away",
    ["import", "--all"],
    { GATEWAY_BASE_URL: "http://127.0.0.1:1" },
    /^The account cannot be reached: .*\n$/,
  ],
  ["a wrong key", ["import", "ippolicy"], { GATEWAY_API_KEY: "wrong" }, /^Replace the API key: .*\n$/],
  ["no account", ["import", "ippolicy"], { GATEWAY_API_KEY: "" }, /^Say which account is meant/],
  ["a GatewayAccount that does not exist", ["import", "--all", "--account", "x"], {}, /no GatewayAccount "x"/],
])("%s gets one clear line", async (_, args, env, message) => {
  const { code, stderr } = await command(world, args, env);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
});
