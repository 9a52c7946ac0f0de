import { beforeAll, expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();
const run = (...args: string[]) => command(world, [...args, "-n", world.namespace]);

let id: string;

/** A policy that a person has changed in the account, an edge that is as its object says, and one that waits. */
beforeAll(async () => {
  await world.apply(
    manifest("IPPolicy", "office", { description: "Office", driftPolicy: "Report" }),
    manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } }),
    manifest("TCPEdge", "later", { backend: { backendRef: { kind: "TunnelGroupBackend", name: "none" } } }),
    manifest("EventSource", "events", { subscriptionRef: { name: "all" }, type: "ip_policy_created.v0" }),
    manifest("EventSubscription", "all", {
      sources: [{ type: "ip_policy_updated.v0" }],
      destinationRefs: [{ name: "archive" }],
    }),
    manifest("EventDestination", "archive", {
      target: { delivery: { auth: { role: { roleArn: "arn:aws:iam::1:role/a" } }, deliveryStreamArn: "arn:aws:b" } },
    }),
  );
  ({ id } = (await world.ready("IPPolicy", "office")).status);
  await world.ready("TCPEdge", "ssh");
  await world.ready("EventSource", "events");
  await world.condition("TCPEdge", "later", { type: "Ready", status: "False" });
  world.simulator.control.patch(id, { description: "by hand", metadata: '{"team":"shop"}' });
  world.simulator.control.clearRequests();
});

test("diff shows drift and unmanaged fields separately, by name, kind and id", async () => {
  const { code, stdout, stderr } = await run("diff", "ippolicy", "office", "--detailed-exitcode");
  expect({ code, stderr, lines: stdout.trim().split("\n") }).toEqual({
    code: 2,
    stderr: "",
    lines: [
      `IPPolicy ${world.namespace}/office (${id})`,
      "  Differs: the account → the spec",
      '      ~ description  "by hand" → "Office"',
      "  Unmanaged: the account has it, the spec does not say",
      '        metadata  "{\\"team\\":\\"shop\\"}"',
    ],
  });
  for (const name of [["gwipp/office"], [id]])
    expect(await run("diff", ...name)).toEqual({ code: 0, stdout, stderr: "" });
  expect(JSON.parse((await run("diff", "office", "-o", "json")).stdout)).toMatchObject({
    complete: true,
    objects: [{ kind: "IPPolicy", name: "office", id, inAccount: true }],
  });
});

test.each([
  ["an edge", "tcpedge/ssh"],
  ["a subscription to which another object adds a type", "eventsubscription/all"],
  ["an entry of a list", "eventsource/events"],
])("%s that is as its object says does not differ", async (_, name) => {
  const { code, stdout } = await run("diff", name, "--detailed-exitcode");
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\w+ .* is as the spec says$/m) });
});

test("an object without a remote says why", async () => {
  const { code, stdout } = await run("diff", "tcpedge/later", "--detailed-exitcode");
  expect(code).toBe(2);
  expect(stdout).toMatch(
    /^TCPEdge .*\/later is not in the account yet\n {2}ReferenceNotReady: Create TunnelGroupBackend/,
  );
});

test.each([
  ["a name that nothing has", ["nothing"], 1, /^There is no object/],
  ["a kind that is misspelt", ["tcpegde/ssh"], 2, /^There is no kind tcpegde. Did you mean tcpedge\?/],
  ["the same where 2 means a difference", ["tcpegde/ssh", "--detailed-exitcode"], 1, /^There is no kind tcpegde/],
])("%s gets one clear line", async (_, args, code, message) => {
  expect(await run("diff", ...args)).toMatchObject({ code, stderr: expect.stringMatching(message) });
});

test("a diff reads only the remote that it is about, and writes nothing", async () => {
  world.simulator.control.clearRequests();
  await run("diff", "tcpedge/ssh");
  const own = world.simulator.control.requests().filter(({ path }) => path.includes("/edges/tcp/"));
  expect(own.map(({ method }) => method)).toEqual(["GET"]);
  expect(world.changesSent()).toEqual([]);
});
