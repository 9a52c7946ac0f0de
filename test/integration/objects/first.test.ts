import { expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

test("an object costs one request and two writes to create, and one of each and a few lists to delete", async () => {
  // a process lists a resource once, before it makes the first of its kind
  await world.apply(manifest("TunnelGroupBackend", "earlier", {}));
  await world.ready("TunnelGroupBackend", "earlier");
  const before = await world.quiet();
  expect(before.requests).toBe(2);
  await world.apply(manifest("TunnelGroupBackend", "db", { labels: { app: "db" } }));
  const object = await world.ready("TunnelGroupBackend", "db");
  expect(object.status.id).toMatch(/^bkdtg_/);

  const after = await world.quiet();
  expect(after.requests - before.requests).toBe(1);
  expect(after.writes - before.writes).toBe(2);

  await world.delete("TunnelGroupBackend", "db");
  const gone = await world.quiet();
  const sent = world.simulator.control.requests().slice(after.requests - gone.requests);
  expect(sent.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  // One list of each kind that can use a tunnel group: a remote that is used is never deleted.
  expect(sent.flatMap(({ method, path }) => (method === "GET" ? path : [])).sort()).toEqual([
    "/backends/failover",
    "/backends/weighted",
    "/edges/tcp",
    "/edges/tls",
  ]);
  expect(gone.writes - after.writes).toBe(1);
  expect(world.simulator.control.objects("backends/tunnel_group")).toHaveLength(1);
});

test("the API server remembers one owner of the whole status, and not of each field in it", async () => {
  await world.apply(manifest("TunnelGroupBackend", "owned", {}));
  await world.ready("TunnelGroupBackend", "owned");
  const { metadata } = (await world.kube.get("TunnelGroupBackend", "owned")) ?? {};
  const owners = metadata.managedFields.filter(({ subresource }: { subresource?: string }) => subresource === "status");
  expect(owners).toMatchObject([{ fieldsV1: { "f:status": {} } }]);
  expect(owners[0].fieldsV1["f:status"]).toEqual({});
});
