import { beforeAll, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { Page } from "../../e2e/support/page.ts";
import { pluginShell } from "../../e2e/support/plugin-shell.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

// Two operators with cluster ids of their own, which do not see each other's namespaces, share an account. The one API
// server stands for two: the command connects to it twice.

const blue = useWorld({ env: { CLUSTER_ID: "blue" } });
const green = useWorld({ startOperator: false });

let context: string;
let id: string;

const startGreen = (env: Readonly<Record<string, string>>) =>
  green.startOperator({ CLUSTER_ID: "green", ...env }, { gateway: blue.simulator });
const move = (args: readonly string[] = [], killAt?: string) => {
  const places = [`${blue.namespace}/office`, `${green.namespace}/office`];
  return command(
    blue,
    ["move", "ippolicy", ...places, "--to-context", context, ...args],
    { CLUSTER_ID: "blue" },
    killAt,
  );
};
const marks = () => blue.simulator.control.objects("ip_policies").map(({ metadata }) => metadata);

beforeAll(async () => {
  const { stdout } = await blue.cluster.kubectlRun(["config", "current-context"]);
  context = stdout.trim();
  await blue.apply(
    manifest("IPPolicy", "office", { description: "Office" }),
    manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } }),
  );
  ({ id } = (await blue.ready("IPPolicy", "office")).status);
  await blue.ready("TCPEdge", "ssh");
  blue.simulator.control.clearRequests();
});

test("a dry run prints the new object and changes nothing", async () => {
  const { code, stdout } = await move(["--dry-run"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`  adopt:\n    id: ${id}\n    from: ${blue.namespace}/office\n  deletionPolicy: Delete`);
  expect((await blue.get("IPPolicy", "office"))?.metadata.annotations).not.toHaveProperty(annotations.releaseTo);
});

test("the same object in the other cluster is refused", async () => {
  const office = `${blue.namespace}/office`;
  expect(await command(blue, ["move", "ippolicy", office, office, "--to-context", context])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Give another context: this one leads to the same IPPolicy /),
  });
});

test("a mark of another cluster is not removed, and the message says what to do if it is that of this one", async () => {
  const places = [`${blue.namespace}/office`, `${green.namespace}/office`];
  const { code, stderr } = await command(blue, ["move", "ippolicy", ...places, "--to-context", context]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/names blue\/.* set it for the command too$/m),
  });
  expect(blue.changesSent()).toEqual([]);
  await blue.kubectl("annotate", "ippolicy", "office", `${annotations.releaseTo}-`);
});

test("a namespace without the right to adopt gets an error, and no other object manages the remote meanwhile", async () => {
  await startGreen({ ADOPTION_NAMESPACES: "" });
  const { code, stderr } = await move();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/It says AdoptionNotAllowed: .*adoption\.namespaces/),
  });
  expect(marks()).not.toEqual([expect.stringContaining("tunnelgateway.dev/owner")]);
  // The old cluster goes on when it is told to, and its next look at the remote brings the mark back.
  const look = `${annotations.reconcileRequestedAt}=now`;
  await blue.kubectl("annotate", "ippolicy", "office", `${annotations.releaseTo}-`, look);
  await green.delete("IPPolicy", "office");
  await blue.until("the mark is back", async () => /blue\//.test(String(marks()[0])));
  await green.operator.stop();
});

test("killed after each step, the next run completes the move, with two updates of the mark in all", async () => {
  await startGreen({ ADOPTION_NAMESPACES: "*" });
  blue.simulator.control.clearRequests();
  for (const step of ["Released", "Removed", "Created", "is Ready"])
    expect(await move([], step)).toMatchObject({ code: expect.toSatisfy((code) => code === -1 || code === 1) });
  expect(await move()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("TCPEdge/ssh refers to office: spec.ipRestriction.ipPolicyRefs[0]"),
  });
  await blue.apply(manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ id }] } }));
  expect(await move()).toMatchObject({ code: 0, stderr: "" });
  expect(await blue.get("IPPolicy", "office")).toBeUndefined();
  expect((await green.ready("IPPolicy", "office")).status.id).toBe(id);
  expect(await move()).toMatchObject({ code: 0 });
  expect(marks()).toEqual([expect.stringContaining("green/")]);
  const changes = blue.changesSent().filter(({ path }) => path.includes("ip_policies"));
  expect(changes.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(2).fill(`PATCH /ip_policies/${id}`));
});

test("the page moves an object with this command", async () => {
  // it uses the policy
  await blue.delete("TCPEdge", "ssh");
  await green.delete("IPPolicy", "office");
  await blue.apply(manifest("IPPolicy", "office", { description: "Office" }));
  const { status, metadata } = await blue.ready("IPPolicy", "office");
  const [from, to] = [`${blue.namespace}/office`, `${green.namespace}/office`];
  await using shell = await pluginShell(blue, {
    env: {
      GATEWAY_BASE_URL: blue.simulator.url,
      GATEWAY_API_KEY: blue.simulator.apiKey,
      WATCH_NAMESPACES: "",
      CLUSTER_ID: "blue",
    },
    substitutions: new Map([
      [`${from} ${from}`, `${from} ${to}`],
      ["--to-context green", `--to-context ${context}`],
    ]),
  });
  const page = await Page.read("docs/how-to/move.md", shell);
  await page.run("To another cluster");
  const next = await green.ready("IPPolicy", "office");
  expect(next.status.id).toBe(status.id);
  await green.quiet();
  const events = [...(await blue.kube.list("Event")), ...(await green.kube.list("Event"))].filter(
    ({ type, regarding }) => type === "Warning" && [metadata.uid, next.metadata.uid].includes(regarding.uid),
  );
  expect(events.map(({ note }) => note)).toEqual([]);
  // the rest of the page is for one cluster
  expect(page.unused.filter((block) => block.startsWith("To another cluster"))).toEqual([]);
});
