import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { ClusterGate, type Substitute } from "../../support/gate.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ startOperator: false });

let gate: ClusterGate;

beforeAll(async () => {
  gate = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
});

afterEach(async () => {
  await world.operator.stop();
});

afterAll(async () => {
  await gate.close();
});

const answer = (code: 403 | 404, reason: string): Substitute => ({
  status: code,
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason, message: reason, code }),
});

const forbidden = answer(403, "Forbidden");
const notFound = answer(404, "NotFound");

/** Lists and watches of one kind are answered like this, and all else as ever. */
function refuse(plural: string, substitute: Substitute): void {
  const list = new RegExp(`/${plural}(\\?|$)`);
  gate.guard = ({ method, path }, side) =>
    side === "before" && method === "GET" && list.test(path) ? substitute : undefined;
}

function allow(): void {
  gate.guard = () => undefined;
}

const start = () => world.startOperator({}, { kubeconfig: gate.kubeconfig });

const restricted = (policy: string) => ({ ipRestriction: { enabled: true, ipPolicyRefs: [{ name: policy }] } });

const connected = (kind: string) => world.operator.metric("tunnelgateway_watch_connected", { kind });

const sent = (method: string, path: string) =>
  world.simulator.control.requests().filter((one) => one.method === method && one.path.startsWith(path));

const messageOf = async (kind: string, name: string) => conditionOf(await world.get(kind, name), "Ready")?.message;

describe("a kind whose list is refused", () => {
  test("stops itself only: the others go on, and what may need it waits", async () => {
    await start();
    await world.kube.apply(manifest("IPPolicy", "office", {}), manifest("TCPEdge", "db", restricted("office")));
    const { status } = await world.ready("TCPEdge", "db");
    await world.operator.stop();

    refuse("tcpedges", forbidden);
    await start();
    await world.kube.apply(manifest("IPPolicy", "other", {}), manifest("TCPEdge", "late", restricted("other")));
    await world.ready("IPPolicy", "other");
    await world.delete("IPPolicy", "other", "--wait=false");
    await world.condition("IPPolicy", "other", { type: "Ready", reason: "InUse" });
    expect(await messageOf("IPPolicy", "other")).toContain("list and watch all TCPEdge objects");
    expect(sent("DELETE", "/ip_policies")).toEqual([]);
    expect(await world.operator.read("/readyz")).toMatch(/\[-\] informers: tcpedges[^\n]*Forbidden/);
    expect([await connected("TCPEdge"), await connected("IPPolicy")]).toEqual([0, 1]);

    allow();
    await world.until("it begins by itself", async () => (await world.operator.read("/readyz")).endsWith("ok\n"));
    expect(await connected("TCPEdge")).toBe(1);
    // Nothing is deleted or made a second time.
    await world.kube.apply(manifest("TCPEdge", "late", {}));
    await world.ready("TCPEdge", "late");
    await world.gone("IPPolicy", "other");
    expect((await world.ready("TCPEdge", "db")).status.id).toBe(status.id);
    expect(sent("POST", "/edges/tcp")).toHaveLength(2);
    expect(sent("DELETE", "/edges/tcp")).toEqual([]);
  });
});

describe("a definition that is missing", () => {
  test("is named where something refers to it, and its kind begins by itself", async () => {
    refuse("tunnelgroupbackends", notFound);
    await start();
    const backend = { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "agents" } };
    await world.kube.apply(
      manifest("TCPEdge", "tunnel", { backend }),
      manifest("TunnelGroupBackend", "agents", { labels: { a: "b" } }),
    );
    await world.condition("TCPEdge", "tunnel", { type: "Ready", reason: "ReferenceNotReady" });
    expect(await messageOf("TCPEdge", "tunnel")).toMatch(/^Install the definition of TunnelGroupBackend/);
    // Without a definition there are no objects that could use it.
    await world.kube.apply(manifest("IPPolicy", "unused", {}));
    await world.ready("IPPolicy", "unused");
    await world.delete("IPPolicy", "unused");

    allow();
    await world.ready("TCPEdge", "tunnel");
    expect(sent("POST", "/backends/tunnel_group")).toHaveLength(1);
  });
});
