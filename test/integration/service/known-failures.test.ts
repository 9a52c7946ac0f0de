import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { FaultAction } from "../../../tools/simulator/control/faults.ts";
import { ClusterGate, type Guard } from "../../support/gate.ts";
import { useWorld } from "../../support/world.ts";

// Mistakes that operators of remote accounts are known to make, with one test for each. The chaos tests find them too,
// but only by killing processes and by chance.

const world = useWorld({ process: true, startOperator: false, env: { REQUEST_TIMEOUT: "2s" } });
const control = () => world.simulator.control;
const posts = (path: string) => control().requests({ method: "POST", path });

let cluster: ClusterGate;

/** The API server refuses the requests that this selects, and no others. */
let refuses: (passage: Parameters<Guard>[0]) => boolean = () => false;

const start = () => world.startOperator({}, { kubeconfig: cluster.kubeconfig });

beforeAll(async () => {
  cluster = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
  cluster.guard = (passage, side) =>
    side === "before" && refuses(passage) ? { status: 500, body: '{"kind":"Status","code":500}' } : undefined;
  await start();
});

beforeEach(() => {
  refuses = () => false;
  control().clearFaults();
});

afterAll(() => cluster.close());

// guards against losing the id of a new remote when it cannot be written into the status at once
describe("the id of a new remote is kept when the write of the status fails", () => {
  const isStatusOf = (name: string) => (passage: Parameters<Guard>[0]) =>
    passage.method === "PATCH" && passage.path.includes(`/${name}/status`);

  test.each([
    ["by the same process", async () => {}],
    [
      "by the next",
      async () => {
        await world.operator.stop("SIGKILL");
        await start();
      },
    ],
  ])("%s", async (how, meanwhile) => {
    const name = `unwritten-${how.length}`;
    let failed = 0;
    const isStatus = isStatusOf(name);
    refuses = (passage) => isStatus(passage) && ++failed > 0;
    await world.kube.apply(manifest("IPPolicy", name, { description: name }));
    await world.until("the write has failed", async () => failed > 1);
    await meanwhile();
    refuses = () => false;
    const { status } = await world.ready("IPPolicy", name);
    const rows = control()
      .objects("ip_policies")
      .filter(({ description }) => description === name);
    expect(rows.map(({ id }) => id)).toEqual([status.id]);
    expect(posts("^/ip_policies$").filter(({ body }) => (body as KubeJSON).description === name)).toHaveLength(1);
  });
});

// guards against a second remote when the answer to the first create was only slow
test("a create that has timed out is not sent again, but searched for", async () => {
  control().fault({ method: "POST", path: "^/backends/tunnel_group$", action: { hang: "after" } });
  await world.kube.apply(manifest("TunnelGroupBackend", "slow", { labels: { a: "b" } }));
  const { status } = await world.ready("TunnelGroupBackend", "slow");
  await world.quiet();
  expect(posts("^/backends/tunnel_group$")).toHaveLength(1);
  expect(
    control()
      .objects("backends/tunnel_group")
      .map(({ id }) => id),
  ).toEqual([status.id]);
});

// guards against creating a remote that exists, or releasing one that has to be deleted, because a read failed
describe("a read that fails does not count as absence", () => {
  const errors: [string, FaultAction][] = [
    ["500", { status: 500 }],
    ["403", { status: 403 }],
    ["a time-out", { hang: true }],
    ["a connection that breaks", { cut: "after" }],
    ["a page of something else", { garbage: true }],
  ];

  test.each(errors)("%s", async (what, action) => {
    const name = `unread-${errors.findIndex(([one]) => one === what)}`;
    const object = manifest("ReservedAddress", name, { description: name }) as KubeJSON;
    await world.kube.apply(object);
    const { status } = await world.ready("ReservedAddress", name);
    const before = control().count({ method: "POST" });
    control().fault({ method: "GET", path: "^/reserved_addrs", times: 1000, action });
    // a new process knows only what the objects say
    await world.operator.stop();
    await start();
    const unread = await world.condition("ReservedAddress", name, { type: "Synced", status: "False" });
    expect(conditionOf(unread, "Ready")?.status).toBe("True");
    expect(unread.status.id).toBe(status.id);
    control().clearFaults();
    const [again] = await world.reconcileNow(object);
    expect(conditionOf(again, "Synced")?.status).toBe("True");
    expect(control().count({ method: "POST" })).toBe(before);
    expect(control().get(status.id)).not.toBeNull();
  });
});

// guards against an object that changes and deletes a remote that it did not create and was not told to adopt
describe("an existing remote is not adopted without being asked, and not deleted with the object", () => {
  test("with the same name", async () => {
    const theirs = control().insert("reserved_domains", { domain: "theirs.example.org", description: "theirs" });
    await world.kube.apply(manifest("ReservedDomain", "met", { domain: "theirs.example.org", description: "ours" }));
    const wanted = { type: "Ready", status: "False", reason: "AlreadyExists" };
    const met = await world.condition("ReservedDomain", "met", wanted);
    expect(conditionOf(met, "Ready")?.message).toContain(`adopt: {id: ${theirs["id"]}}`);
    expect(met.status.id).toBeUndefined();
    await world.delete("ReservedDomain", "met");
    expect(control().get(String(theirs["id"]))).toEqual(theirs);
  });

  test("with the same values, also by a process that has to search for its own remote", async () => {
    const alike = { description: "alike", metadata: "a text that is no JSON" };
    const theirs = control().insert("ip_policies", {
      ...alike,
      created_at: new Date(Date.now() - 3_600_000).toISOString(),
    });
    control().fault({ method: "POST", path: "^/ip_policies$", action: { hang: "after" } });
    await world.kube.apply(manifest("IPPolicy", "alike", alike));
    const { status } = await world.ready("IPPolicy", "alike");
    expect(status.id).not.toBe(theirs["id"]);
    await world.delete("IPPolicy", "alike");
    expect(control().get(status.id)).toBeNull();
    expect(control().get(String(theirs["id"]))).toEqual(theirs);
  });
});

// guards against remotes that stay for ever because the service was away when their objects were deleted
test("a delete is repeated until it succeeds, and its object stays until then", async () => {
  await world.kube.apply(manifest("AgentIngress", "stubborn", { domain: "stubborn.example.org" }));
  const { status } = await world.ready("AgentIngress", "stubborn");
  const failures: FaultAction[] = [
    { status: 500 },
    { cut: "before" },
    { status: 409 },
    { hang: true },
    { status: 503 },
  ];
  const deletes = { method: "DELETE", path: "^/agent_ingresses/" };
  // All before the first attempt, since the next one may come at once. The last one stays until the test has looked.
  for (const action of failures) control().fault({ ...deletes, action, times: action === failures.at(-1) ? 1000 : 1 });
  await world.kubectl("delete", "agentingress", "stubborn", "--wait=false");
  for (const [index] of failures.entries()) {
    const sent = index + 1;
    await world.until(`attempt ${sent}`, async () => control().count(deletes) >= sent);
    const object = await world.get("AgentIngress", "stubborn");
    expect(object.metadata.finalizers).toHaveLength(1);
    expect(control().get(status.id)).not.toBeNull();
    // as a person does who does not want to wait for the next attempt
    await world.kube.annotate("AgentIngress", "stubborn", { [annotations.reconcileRequestedAt]: String(index) });
  }
  control().clearFaults();
  await world.gone("AgentIngress", "stubborn");
  expect(control().get(status.id)).toBeNull();
});
