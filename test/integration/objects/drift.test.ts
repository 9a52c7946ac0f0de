import { describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

describe("a change in the account by another client", () => {
  const world = useWorld({ env: { RESYNC_INTERVAL: "1s" } });
  const control = () => world.simulator.control;
  const corrections = (labels: Record<string, string>) =>
    world.operator.metric("tunnelgateway_drift_corrections_total", labels);

  test("is seen and corrected at the next resync", async () => {
    await world.kube.apply(manifest("TunnelGroupBackend", "changed", { labels: { a: "ours" } }));
    const { status } = await world.ready("TunnelGroupBackend", "changed");
    control().patch(status.id, { labels: { a: "theirs" } });
    await world.until("it is put right", async () => (control().get(status.id) as KubeJSON).labels.a === "ours");
    expect(world.changesSent(status.id)).toHaveLength(1);
    const counted = { kind: "TunnelGroupBackend", field: "labels" };
    await world.until("it is counted", async () => corrections(counted).then((count) => count === 1));
    await world.until("an event names the field", async () =>
      (await world.kube.list("Event")).some(
        ({ regarding, reason, note }) =>
          regarding.name === "changed" && reason === "RemoteDiffers" && note.includes("spec.labels"),
      ),
    );
  });

  test("is corrected too when it deleted the remote", async () => {
    await world.kube.apply(manifest("ReservedAddress", "deleted", { description: "again" }));
    const { status } = await world.ready("ReservedAddress", "deleted");
    control().remove(status.id);
    const again = await world.until("there is another", async () => {
      const object = await world.get("ReservedAddress", "deleted");
      return object.status.id !== status.id && object;
    });
    expect(control().get(again.status.id)).toMatchObject({ description: "again" });
    expect(again.status.addr).toBe((control().get(again.status.id) as KubeJSON).addr);
    expect(control().objects("reserved_addrs")).toHaveLength(1);
    const reported = await world.until("an event", async () =>
      (await world.kube.list("Event")).find(({ regarding }) => regarding.name === "deleted"),
    );
    expect(reported).toMatchObject({ reason: "RemoteMissing", type: "Warning" });
    expect(await corrections({ kind: "ReservedAddress", field: "id" })).toBe(1);
  });

  test("is only reported when the spec asks for that", async () => {
    await world.kube.apply(manifest("IPPolicy", "reported", { description: "ours", driftPolicy: "Report" }));
    const { status } = await world.ready("IPPolicy", "reported");
    control().patch(status.id, { description: "theirs" });
    const reported = await world.condition("IPPolicy", "reported", { type: "Drifted", status: "True" });
    expect(reported.status.drift).toEqual(["description"]);
    expect(conditionOf(reported, "Drifted")).toMatchObject({ reason: "RemoteDiffers" });
    const labels = { kind: "IPPolicy", reason: "RemoteDiffers", field: "description" };
    expect(await world.operator.metric("tunnelgateway_drifted_objects", labels)).toBe(1);
    expect(conditionOf(reported, "Ready")?.status).toBe("True");
    control().patch(status.id, { description: "ours" });
    const settled = await world.until("it is as it was", async () => {
      const object = await world.get("IPPolicy", "reported");
      return !conditionOf(object, "Drifted") && object;
    });
    expect(settled.status.drift).toBeUndefined();
    control().remove(status.id);
    await world.condition("IPPolicy", "reported", { type: "Stalled", status: "True", reason: "RemoteMissing" });
    expect(world.changesSent(status.id)).toEqual([]);
    expect(control().objects("ip_policies")).toEqual([]);
  });

  test("is not corrected for ever when it is repeated again and again", async () => {
    await world.kube.apply(manifest("EventSubscription", "fought-over", { description: "ours" }));
    const { status } = await world.ready("EventSubscription", "fought-over");
    for (let round = 0; round < 5; round += 1) {
      control().patch(status.id, { description: "theirs" });
      await world.reconcileNow(manifest("EventSubscription", "fought-over", {}));
    }
    expect(world.changesSent(status.id)).toHaveLength(3);
    const left = await world.get("EventSubscription", "fought-over");
    expect(conditionOf(left, "Drifted")).toMatchObject({ status: "True", reason: "RemoteNormalises" });
  });
});

describe("a service that keeps another value than the one it was sent", () => {
  const world = useWorld();
  const control = () => world.simulator.control;

  test("is sent it three times, and then drift is reported, until the spec has the service's value", async () => {
    await world.kube.apply(manifest("IPPolicy", "shouting", { description: "quiet" }));
    const { status } = await world.ready("IPPolicy", "shouting");
    const shouted = { ...control().get(status.id), description: "LOUD" };
    const action = { status: 200, body: shouted };
    control().fault({ method: "PATCH", path: `/ip_policies/${status.id}`, times: 100, action });
    await world.kube.apply(manifest("IPPolicy", "shouting", { description: "loud" }));
    control().patch(status.id, { description: "LOUD" });
    const reported = await world.condition("IPPolicy", "shouting", { type: "Drifted", reason: "RemoteNormalises" });
    expect(conditionOf(reported, "Ready")?.status).toBe("True");
    expect(reported.status.drift).toEqual(["description"]);
    await world.reconcileNow(reported);
    await world.restartOperator();
    await world.quiet();
    expect(world.changesSent(status.id)).toHaveLength(3);

    await world.kube.apply(manifest("IPPolicy", "shouting", { description: "LOUD" }));
    const settled = await world.ready("IPPolicy", "shouting");
    expect(conditionOf(settled, "Drifted")).toBeUndefined();
    expect(world.changesSent(status.id)).toHaveLength(3);
  });
});

describe("a service that answers host names in lower case", () => {
  const world = useWorld();

  test("causes no drift", async () => {
    const objects = [
      manifest("TCPEdge", "loud", { hostports: ["1.TCP.eu.gateway.example:20117"] }),
      manifest("ReservedDomain", "loud", { domain: "LOUD.example.org" }),
    ];
    await world.kube.apply(...objects);
    await world.allReady(objects);
    for (const object of await world.reconcileNow(...objects)) expect(conditionOf(object, "Drifted")).toBeUndefined();
    expect(world.changesSent().map(({ method }) => method)).toEqual(["POST", "POST"]);
  });
});

describe("a service without the operations that are not documented", () => {
  // the operator is told so; test/integration/service/refused-once.test.ts has one that is not
  const world = useWorld({
    simulator: { undocumented: false },
    env: { GATEWAY_UNDOCUMENTED_OPERATIONS: "false" },
  });
  const control = () => world.simulator.control;

  test("cannot update a domain: it keeps serving, and the object says what to do", async () => {
    const spec = { domain: "fixed.example.org", description: "one" };
    await world.kube.apply(manifest("ReservedDomain", "fixed", spec));
    const { status } = await world.ready("ReservedDomain", "fixed");
    await world.kube.apply(manifest("ReservedDomain", "fixed", { ...spec, description: "two" }));
    const wanted = { type: "Stalled", status: "True", reason: "ReplacementRequired" };
    const stalled = await world.condition("ReservedDomain", "fixed", wanted);
    expect(conditionOf(stalled, "Stalled")?.message).toContain("spec.description");
    expect(control().get(status.id)).toMatchObject({ description: "one" });
    expect(world.changesSent(status.id)).toEqual([]);

    await world.kube.apply(manifest("ReservedDomain", "other", { domain: "other.example.org" }));
    const other = await world.ready("ReservedDomain", "other");
    await world.kube.apply(manifest("ReservedDomain", "other", { domain: "other.example.org", description: "two" }));
    await world.condition("ReservedDomain", "other", wanted);
    expect(world.changesSent(other.status.id)).toEqual([]);

    await world.kube.apply(manifest("ReservedDomain", "fixed", spec));
    await world.ready("ReservedDomain", "fixed");
    await world.kube.annotate("ReservedDomain", "fixed", { [annotations.reconcileRequestedAt]: "now" });
    expect(world.changesSent(status.id)).toEqual([]);
  });

  test("recreates the domain when the spec allows it", async () => {
    const spec = { domain: "recreated.example.org", description: "one", replacement: "Recreate" };
    await world.kube.apply(manifest("ReservedDomain", "recreated", spec));
    const { status } = await world.ready("ReservedDomain", "recreated");
    await world.kube.apply(manifest("ReservedDomain", "recreated", { ...spec, description: "two" }));
    const again = await world.ready("ReservedDomain", "recreated");
    expect(again.status.id).not.toBe(status.id);
    expect(control().get(status.id)).toBeNull();
    expect(control().get(again.status.id)).toMatchObject({ description: "two" });
  });
});
