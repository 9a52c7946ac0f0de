import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();
const run = (...args: string[]) => command(world, [...args, "-n", world.namespace]);

let id: string;

beforeAll(async () => {
  await world.apply(
    manifest("IPPolicy", "office", { description: "Office" }),
    manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } }),
  );
  ({ id } = (await world.ready("IPPolicy", "office")).status);
  await world.ready("TCPEdge", "ssh");
  world.simulator.control.clearRequests();
});

test("a dry run prints the new object, names who refers to the old one, and changes nothing", async () => {
  const { code, stdout, stderr } = await run("move", "ippolicy", "office", "headquarters", "--dry-run");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: "TCPEdge/ssh refers to office: spec.ipRestriction.ipPolicyRefs[0]\n",
  });
  expect(stdout).toContain(`  adopt:\n    id: ${id}\n    from: ${world.namespace}/office`);
  expect(await world.get("IPPolicy", "headquarters")).toBeUndefined();
});

test("an object gets another name, and what refers to it follows", async () => {
  const folder = await mkdtemp(join(tmpdir(), "move-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "edge.yaml");
  const lines = ["apiVersion: tunnelgateway.dev/v1", "kind: TCPEdge", "metadata:", "  name: ssh # the edge", "spec:"];
  await writeFile(file, [...lines, "  ipRestriction:", "    ipPolicyRefs:", "      - name: office", ""].join("\n"));
  const move = ["move", "ippolicy", "office", "headquarters", "--rewrite", "-f", folder];
  const first = await run(...move);
  expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining("Apply the manifests, then run this again") });
  expect(first.stdout.trim().split("\n")).toEqual([
    `Released IPPolicy ${world.namespace}/office to ${world.namespace}/headquarters`,
    `Created IPPolicy ${world.namespace}/headquarters, with adopt.from: ${world.namespace}/office`,
    `IPPolicy ${world.namespace}/headquarters is Ready, and has ${id}`,
    `Rewrote ${file}`,
  ]);
  expect(await world.get("IPPolicy", "office")).toBeDefined();
  await world.apply(await readFile(file, "utf8"));
  expect(await run(...move)).toMatchObject({ code: 0, stderr: "" });
  expect(await world.get("IPPolicy", "office")).toBeUndefined();
  await world.ready("TCPEdge", "ssh");
  expect(world.changesSent().map(({ method, path }) => `${method} ${path}`)).toEqual([`PATCH /ip_policies/${id}`]);
  expect(await run(...move)).toMatchObject({ code: 0 });
  await world.quiet();
  const events = await world.kube.list("Event");
  expect(events.filter(({ type }) => type === "Warning").map(({ regarding, note }) => [regarding.name, note])).toEqual(
    [],
  );
});

test.each([
  ["an object that does not exist", ["ippolicy", "none", "other"], 1, /^There is no IPPolicy/],
  ["a kind that does not exist", ["secret", "one", "other"], 2, /^There is no kind secret/],
  ["one name twice", ["ippolicy", "one", "one"], 2, /^Give two different names/],
  ["files without --rewrite", ["ippolicy", "one", "other", "-f", "x"], 2, /^Give --rewrite and -f together/],
])("%s gets one clear line", async (_, args, code, message) => {
  expect(await run("move", ...args)).toMatchObject({ code, stderr: expect.stringMatching(message) });
});

test("a move corrects nothing that the object only reports", async () => {
  const { control } = world.simulator;
  await world.apply(manifest("IPPolicy", "reported", { description: "as written", driftPolicy: "Report" }));
  const { id: policy } = (await world.ready("IPPolicy", "reported")).status;
  control.patch(policy, { description: "by hand" });
  await world.kube.annotate("IPPolicy", "reported", { [annotations.reconcileRequestedAt]: "drift" });
  await world.condition("IPPolicy", "reported", { type: "Drifted", status: "True" });
  expect(await run("move", "ippolicy", "reported", "moved")).toMatchObject({ code: 0, stderr: "" });
  expect(control.get(policy)).toMatchObject({
    description: "by hand",
    metadata: expect.stringContaining(`${world.namespace}/moved`),
  });
  await world.condition("IPPolicy", "moved", { type: "Drifted", status: "True" });
});

test("kubectl apply goes on with the new object: it warns of nothing, and removes what its manifest no longer has", async () => {
  await world.apply(manifest("IPPolicy", "applied", { description: "once" }));
  await world.ready("IPPolicy", "applied");
  expect(await run("move", "ippolicy", "applied", "again")).toMatchObject({ code: 0, stderr: "" });
  const applied = await world.tryKubectl(["apply", "-f", "-"], JSON.stringify(manifest("IPPolicy", "again", {})));
  expect(applied).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("again configured") });
  const { spec } = (await world.get("IPPolicy", "again")) ?? {};
  expect(spec.description).toBeUndefined();
  expect(spec.adopt).toEqual({ id: expect.any(String), from: `${world.namespace}/applied` });
});
