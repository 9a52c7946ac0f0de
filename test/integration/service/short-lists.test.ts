import { describe, expect, test } from "vitest";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

describe("lists that lag", () => {
  const world = useWorld({ simulator: { listLagMs: 1500 }, env: { RESYNC_INTERVAL: "1s" } });
  const corrections = () => world.operator.metric("tunnelgateway_drift_corrections_total");

  test("undo and repeat none of the operator's own changes", async () => {
    const { control } = world.simulator;
    const policy = (description: string) => manifest("IPPolicy", "office", { description });
    const edge = (description: string) =>
      manifest("TCPEdge", "db", {
        description,
        ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] },
      });
    await world.kube.apply(policy("first"), edge("first"));
    await world.ready("TCPEdge", "db");
    await world.kube.apply(policy("second"), edge("second"));
    const ids = [await world.ready("IPPolicy", "office"), await world.ready("TCPEdge", "db")].map(
      ({ status }) => status.id,
    );
    const listsSince = control.count({ method: "GET", path: "/edges/tcp" });
    await world.until(
      "lists have shown the edits",
      async () => control.count({ method: "GET", path: "/edges/tcp" }) > listsSince + 3,
    );
    expect(control.count({ method: "POST" })).toBe(2);
    for (const id of ids) {
      expect(control.get(id)).toMatchObject({ description: "second" });
      expect(world.changesSent(id)).toHaveLength(1);
    }
    expect(await corrections()).toBe(0);
  });
});

describe("lists that leave out what a GET shows", () => {
  const world = useWorld({ simulator: { unlisted: ["ip_restriction"] } });

  test("do not let a policy be deleted that an edge has", async () => {
    const { control } = world.simulator;
    await world.kube.apply(manifest("IPPolicy", "theirs", {}));
    const { status } = await world.ready("IPPolicy", "theirs");
    const edge = control.insert("edges/tcp", { ip_restriction: { enabled: true, ip_policy_ids: [status.id] } });
    await world.delete("IPPolicy", "theirs", "--wait=false");
    const reported = await world.condition("IPPolicy", "theirs", { type: "Ready", reason: "InUse" });
    expect(conditionOf(reported, "Ready")?.message).toBe(
      `Ask who runs TCP edge ${edge.id} to change it first: it uses this IPPolicy`,
    );
    expect(control.count({ method: "DELETE" })).toBe(0);
    control.remove(String(edge.id));
    await world.gone("IPPolicy", "theirs");
    expect(control.get(status.id)).toBeNull();
  });
});

describe("lists that leave out metadata, and with it whose a remote is", () => {
  const world = useWorld({ simulator: { unlisted: ["metadata"] } });
  const rows = () => world.simulator.control.objects("ip_policies");

  test("do not double what an object of the name has left, and cost no request for settled objects", async () => {
    const { control } = world.simulator;
    control.insert("ip_policies", { metadata: "of somebody else" });
    await world.kube.apply(
      manifest("IPPolicy", "kept", { deletionPolicy: "Retain" }),
      manifest("IPPolicy", "other", {}),
    );
    const { status } = await world.ready("IPPolicy", "kept");
    await world.ready("IPPolicy", "other");
    await world.delete("IPPolicy", "kept");
    expect(rows()).toHaveLength(3);
    await world.restartOperator();
    await world.kube.apply(manifest("IPPolicy", "kept", {}));
    const again = await world.ready("IPPolicy", "kept");
    expect(again.status.id).toBe(status.id);
    expect(rows()).toHaveLength(3);
    const before = control.count({ method: "GET", path: /ip_policies\/./ });
    await world.reconcileNow(await world.ready("IPPolicy", "other"));
    expect(control.count({ method: "PATCH" })).toBe(0);
    expect(control.count({ method: "GET", path: /ip_policies\/./ }) - before).toBeLessThanOrEqual(1);
  });
});
