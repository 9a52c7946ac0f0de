import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();
// other tests share the cluster
const run = (...args: string[]) =>
  command(world, [...args, "-n", world.namespace], { WATCH_NAMESPACES: world.namespace });

/** A file with these objects. */
async function file(...objects: KubeJSON[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "plan-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "objects.yaml");
  await writeFile(path, objects.map((object) => stringify(object)).join("---\n"));
  return path;
}

interface Planned {
  complete: boolean;
  changes: { action: string; name: string; requests: string[]; fields: object[] }[];
}

async function planned(path: string): Promise<Planned> {
  const { stdout, stderr, code } = await run("plan", "-f", path, "-o", "json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const office = (description: string) => manifest("IPPolicy", "office", { description });
const edge = manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });

beforeAll(async () => {
  await world.apply(office("one"));
  await world.ready("IPPolicy", "office");
  world.simulator.control.clearRequests();
});

test("a plan writes nothing, and its exit code says whether there are changes", async () => {
  const path = await file(office("two"), edge);
  const { code, stdout } = await run("plan", "-f", path, "--detailed-exitcode");
  expect(code).toBe(2);
  expect(stdout).toContain(`~   IPPolicy ${world.namespace}/office (ipp_`);
  expect(stdout).toContain('~ description  "one" → "two"');
  expect(stdout).toContain("Plan: 1 to update, 1 to create");
  expect((await run("plan", "-f", await file(office("one")), "--detailed-exitcode")).code).toBe(0);
  expect(world.changesSent()).toEqual([]);
});

test("applying sends what the plan shows", async () => {
  const objects = [office("two"), edge];
  const { changes } = await planned(await file(...objects));
  await world.apply(...objects);
  await world.ready("TCPEdge", "ssh");
  await expect
    .poll(() => world.simulator.control.objects("ip_policies").map(({ description }) => description))
    .toContain("two");
  const sent = world.changesSent().map(({ method, path }) => `${method} ${path}`);
  expect(sent.sort()).toEqual(changes.flatMap(({ requests }) => requests).sort());
  expect((await planned(await file(...objects))).changes).toEqual([]);
});

test("a field that was applied before, and is not in the manifest any more, is removed", async () => {
  const { changes } = await planned(await file(manifest("IPPolicy", "office", {})));
  expect(changes).toMatchObject([{ action: "update", fields: [{ path: "description", old: "two" }] }]);
});

test("a manifest that the API server refuses is named with file and line, and the others are planned", async () => {
  const path = await file(
    manifest("TCPEdge", "bad", { description: "x".repeat(300) }),
    manifest("IPPolicy", "new", {}),
  );
  const { code, stdout, stderr } = await run("plan", "-f", path, "--detailed-exitcode");
  expect(code).toBe(1);
  expect(stderr).toContain(`${path}:1: TCPEdge/bad: `);
  expect(stdout).toContain(`+   IPPolicy ${world.namespace}/new`);
});

test("the API server is asked about each of our kinds, also about those that stand for nothing in the account", async () => {
  const account = (spec: object) =>
    manifest("GatewayAccount", "own", { apiKeySecretRef: { name: "k", key: "k" }, ...spec });
  const command = manifest("AgentCommand", "stop", { command: "Stop", sessionRef: { name: "one", nmae: "two" } });
  for (const isThere of [false, true]) {
    if (isThere) await world.apply(account({}));
    const path = await file(account({ baseUrl: "https://api" }), command, manifest("IPPolicy", "new", {}));
    const { code, stdout, stderr } = await run("plan", "-f", path);
    expect(code).toBe(1);
    expect(stderr).toContain(': GatewayAccount/own: unknown field "spec.baseUrl"');
    expect(stderr).toContain(': AgentCommand/stop: unknown field "spec.sessionRef.nmae"');
    expect(stdout).toContain(`+   IPPolicy ${world.namespace}/new`);
  }
  const refused = await run("plan", "-f", await file(account({ baseURL: "http://api.gateway.example" })));
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("must begin with https://") });
  await world.delete("GatewayAccount", "own");
});

test.each([
  ["a file that does not exist", ["-f", "none.yaml"], 1, /^Give another -f: there is no file or folder none.yaml/],
  ["an unknown format", ["-o", "xml"], 2, /^-o must be json/],
  ["the same where 2 means changes", ["-o", "xml", "--detailed-exitcode"], 1, /^-o must be json/],
])("%s gets one clear line", async (_, args, code, message) => {
  expect(await run("plan", ...args)).toMatchObject({ code, stderr: expect.stringMatching(message) });
});

test("a list that the key may not read makes the plan incomplete, and the output says so", async () => {
  world.simulator.control.fault({ method: "GET", path: "/edges/tcp", action: { status: 403 } });
  const { code, stdout, stderr } = await run("plan", "-f", await file(manifest("IPPolicy", "new", {}), edge));
  world.simulator.control.clearFaults();
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("This is only a part"),
  });
  expect(stdout).toContain(`+   IPPolicy ${world.namespace}/new`);
});

test("a folder with a kustomization is planned as kubectl applies it", async () => {
  const path = await file(office("of a kustomization"));
  await writeFile(join(path, "../kustomization.yaml"), stringify({ resources: ["objects.yaml"], namePrefix: "main-" }));
  const kubectl = { WATCH_NAMESPACES: world.namespace, PATH: dirname(world.cluster.kubectl) };
  const planned = (...args: string[]) => command(world, ["plan", ...args, "-n", world.namespace], kubectl);
  const { code, stdout, stderr } = await planned("-k", dirname(path));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`+   IPPolicy ${world.namespace}/main-office`);

  expect(await planned("-k", "/nowhere")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Correct -k: kubectl kustomize \/nowhere says: [^\n]+\n$/),
  });
  expect(await planned("-k", dirname(path), "-f", path)).toMatchObject({ code: 2 });
  const without = await command(world, ["plan", "-k", dirname(path)], { PATH: "/nowhere" });
  expect(without).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Install kubectl: -k needs it/) });
});

test("what an object that only observes refers to may be missing, and one that is managed waits for it", async () => {
  const target = { monitoring: { api_key: "hush" } };
  const { id } = world.simulator.control.insert("event_destinations", { format: "json", target });
  const spec = {
    format: "json",
    target: { monitoring: { apiKeyRef: { name: "none", key: "key" } } },
    adopt: { id: String(id) },
  };
  const observing = await file(manifest("EventDestination", "shown", { ...spec, managementPolicy: "ObserveOnly" }));
  expect(await run("plan", "-f", observing, "--detailed-exitcode")).toMatchObject({ code: 0, stderr: "" });
  const managing = await file(manifest("EventDestination", "shown", spec));
  expect((await run("plan", "-f", managing)).stdout).toContain("SecretNotReady");
});

test("what the service has refused to mark is no change, and the operator that starts next does not send it again", async () => {
  const { control } = world.simulator;
  control.insert("reserved_domains", { domain: "unmarked.example.org" });
  control.fault({ method: "PATCH", path: "/reserved_domains/", times: 1000, action: { status: 405 } });
  const domain = manifest("ReservedDomain", "unmarked", { domain: "unmarked.example.org", adopt: { existing: true } });
  await world.apply(domain);
  const isRecorded = async () => (await world.get("ReservedDomain", "unmarked"))?.status?.refusedMark !== undefined;
  await world.until("the refusal is recorded", isRecorded);
  const path = await file(domain);
  expect(await run("plan", "-f", path, "--detailed-exitcode")).toMatchObject({ code: 0, stderr: "" });
  control.clearRequests();
  await world.restartOperator();
  await world.until("the domains are listed", async () => control.count({ path: "/reserved_domains" }) > 0);
  await world.kube.annotate("ReservedDomain", "unmarked", { "example.org/looked": "yes" });
  await world.apply(manifest("IPPolicy", "after-restart", {}));
  await world.ready("IPPolicy", "after-restart");
  expect(control.count({ method: "PATCH" })).toBe(0);
  control.clearFaults();
});
