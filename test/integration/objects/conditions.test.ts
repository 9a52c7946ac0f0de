import { expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ env: { RESYNC_INTERVAL: "2s" } });

const control = () => world.simulator.control;

/** Once the condition says this, and in these words. */
async function says(kind: string, name: string, reason: string, ...words: string[]): Promise<KubeJSON> {
  const object = await world.condition(kind, name, { type: "Ready", status: "False", reason });
  for (const word of words) expect(conditionOf(object, "Ready")?.message).toContain(word);
  return object;
}

const isTrue = (object: KubeJSON, type: string): boolean => conditionOf(object, type)?.status === "True";

const secret = (name: string, stringData: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData,
});

const monitoring = (name: string, key = "token") => ({ target: { monitoring: { apiKeyRef: { name, key } } } });

test("an object with a reference to a missing object waits, sends nothing, and continues when it exists", async () => {
  const backend = { backendRef: { kind: "TunnelGroupBackend", name: "late" } };
  await world.kube.apply(manifest("TCPEdge", "early", { backend }));
  const waiting = await says("TCPEdge", "early", "ReferenceNotReady", 'Create TunnelGroupBackend "late"', "backendRef");
  expect(isTrue(waiting, "Reconciling")).toBe(true);
  expect(control().count({ method: "POST", path: "/edges" })).toBe(0);
  await world.kube.apply(manifest("TunnelGroupBackend", "late", {}));
  await world.ready("TCPEdge", "early");
});

test("a Secret that is missing, or lacks its key, is waited for", async () => {
  await world.kube.apply(manifest("EventDestination", "secretive", monitoring("later")));
  await says("EventDestination", "secretive", "SecretNotReady", 'Create Secret "later"', "apiKeyRef");
  await world.kube.apply(secret("later", { other: "x" }));
  await world.until("the key is asked for", async () =>
    conditionOf(await world.get("EventDestination", "secretive"), "Ready")?.message.includes('Add key "token"'),
  );
  await world.kube.apply(secret("later", { other: "x", token: "" }));
  await world.until("a value is asked for", async () =>
    conditionOf(await world.get("EventDestination", "secretive"), "Ready")?.message.includes("it is empty"),
  );
  expect(control().count({ method: "POST", path: "/event_destinations" })).toBe(0);
  await world.kube.apply(secret("later", { token: "s3cret" }));
  await world.ready("EventDestination", "secretive");
});

test("a Secret that has changed is sent at the next resync, once", async () => {
  await world.kube.apply(secret("rotated", { token: "first" }));
  await world.kube.apply(manifest("EventDestination", "rotating", monitoring("rotated")));
  const { status } = await world.ready("EventDestination", "rotating");
  await world.kube.apply(secret("rotated", { token: "second" }));
  const [sent] = await world.until("it is sent", async () => {
    const found = world.changesSent(status.id);
    return found.length > 0 && found;
  });
  expect(sent).toMatchObject({ method: "PATCH", body: { target: { monitoring: { api_key: "second" } } } });
  await world.reconcileNow(manifest("EventDestination", "rotating", {}));
  expect(world.changesSent(status.id)).toHaveLength(1);
  const text = [
    ...world.operator.lines,
    JSON.stringify(await world.kube.all()),
    JSON.stringify(await world.kube.list("Event")),
  ];
  expect(text.filter((line) => line.includes("second") && !line.includes("seconds"))).toEqual([]);
});

test("a refused request is not repeated, its answer is quoted, and it is sent again after an edit", async () => {
  const refusal = { status: 400, body: { error_code: "ERR_1", status_code: 400, msg: "description: must rhyme" } };
  control().fault({ method: "POST", path: "/ip_policies", action: refusal });
  await world.kube.apply(manifest("IPPolicy", "refused", { description: "prose" }));
  const refused = await says("IPPolicy", "refused", "InvalidSpec", "description: must rhyme");
  expect(isTrue(refused, "Stalled")).toBe(true);
  expect(conditionOf(refused, "Synced")).toMatchObject({ status: "False", reason: "InvalidSpec" });
  await world.quiet();
  expect(control().count({ method: "POST", path: "/ip_policies" })).toBe(1);
  await world.kube.apply(manifest("IPPolicy", "refused", { description: "verse" }));
  const healed = await world.ready("IPPolicy", "refused");
  expect(conditionOf(healed, "Stalled")).toBeUndefined();
  expect(control().objects("ip_policies")).toHaveLength(1);
});

test("a refused edit leaves the remote unchanged, and is reported", async () => {
  await world.kube.apply(manifest("IPPolicy", "edited", { description: "one" }));
  const { status } = await world.ready("IPPolicy", "edited");
  control().fault({ method: "PATCH", path: "/ip_policies", action: { status: 422, body: "no" } });
  await world.kube.apply(manifest("IPPolicy", "edited", { description: "two" }));
  await says("IPPolicy", "edited", "InvalidSpec");
  expect(control().get(status.id)).toMatchObject({ description: "one" });
  await world.kube.apply(manifest("IPPolicy", "edited", { description: "three" }));
  await world.ready("IPPolicy", "edited");
  expect(control().get(status.id)).toMatchObject({ description: "three" });
});

test("a missing permission is reported, and Ready stays True", async () => {
  await world.kube.apply(manifest("ReservedAddress", "forbidden", { description: "one" }));
  const { status } = await world.ready("ReservedAddress", "forbidden");
  const action = { status: 403, body: { msg: "only admins may look" } };
  control().fault({ method: "GET", path: `/reserved_addrs/${status.id}`, action });
  await world.kube.annotate("ReservedAddress", "forbidden", { [annotations.reconcileRequestedAt]: "look" });
  const wanted = { type: "Synced", status: "False", reason: "Forbidden" };
  const object = await world.condition("ReservedAddress", "forbidden", wanted);
  expect(isTrue(object, "Ready")).toBe(true);
  expect(conditionOf(object, "Synced")?.message).toContain("only admins may look");
  await world.reconcileNow(object);
  expect(isTrue(await world.get("ReservedAddress", "forbidden"), "Synced")).toBe(true);
});

test("an annotation that may mean yes holds a deletion back, until it says true or false", async () => {
  await world.kube.apply(manifest("TunnelGroupBackend", "unclear", { labels: { a: "1" } }));
  const { status } = await world.ready("TunnelGroupBackend", "unclear");
  await world.kube.annotate("TunnelGroupBackend", "unclear", { [annotations.orphan]: "True" });
  const told = { type: "AnnotationsValid", status: "False", reason: "InvalidAnnotation" };
  await world.condition("TunnelGroupBackend", "unclear", told);
  await world.kube.delete("TunnelGroupBackend", "unclear");
  const held = { type: "Stalled", status: "True", reason: "InvalidAnnotation" };
  const object = await world.condition("TunnelGroupBackend", "unclear", held);
  expect(conditionOf(object, "Ready")?.message).toContain(`Write "true" or "false" in the annotation`);
  expect(control().get(status.id)).not.toBeNull();
  await world.kube.annotate("TunnelGroupBackend", "unclear", { [annotations.orphan]: "true" });
  await world.gone("TunnelGroupBackend", "unclear");
  expect(control().get(status.id)).not.toBeNull();
});

test("the remote of a paused object is not changed, and changes of the remote are not corrected", async () => {
  await world.kube.apply(manifest("TunnelGroupBackend", "paused", { labels: { a: "1" } }));
  const { status } = await world.ready("TunnelGroupBackend", "paused");
  await world.kube.annotate("TunnelGroupBackend", "paused", { [annotations.paused]: "true" });
  await world.until("it says so", async () => isTrue(await world.get("TunnelGroupBackend", "paused"), "Paused"));
  await world.kube.patch("TunnelGroupBackend", "paused", { spec: { labels: { a: "2" } } });
  control().patch(status.id, { description: "somebody else's" });
  await world.quiet();
  expect(world.changesSent(status.id)).toEqual([]);
  expect(isTrue(await world.get("TunnelGroupBackend", "paused"), "Ready")).toBe(true);
  await world.kube.annotate("TunnelGroupBackend", "paused", { [annotations.paused]: null });
  const resumed = await world.ready("TunnelGroupBackend", "paused");
  expect(conditionOf(resumed, "Paused")).toBeUndefined();
  expect(control().get(status.id)).toMatchObject({ labels: { a: "2" } });

  await world.kube.annotate("TunnelGroupBackend", "paused", { [annotations.paused]: "true" });
  await world.kube.delete("TunnelGroupBackend", "paused");
  await world.quiet();
  expect(control().get(status.id)).not.toBeNull();
  await world.kube.annotate("TunnelGroupBackend", "paused", { [annotations.paused]: null });
  await world.gone("TunnelGroupBackend", "paused");
  expect(control().get(status.id)).toBeNull();
});

test.each([
  ["the annotation orphan", {}, { [annotations.orphan]: "true" }],
  ["deletionPolicy Retain", { deletionPolicy: "Retain" }, {}],
])("%s leaves the remote when the object is deleted", async (_title, spec, marks) => {
  await world.kube.apply(manifest("ReservedAddress", "left", spec));
  const { status } = await world.ready("ReservedAddress", "left");
  await world.kube.annotate("ReservedAddress", "left", marks);
  await world.kube.delete("ReservedAddress", "left");
  await world.gone("ReservedAddress", "left");
  expect(control().get(status.id)).not.toBeNull();
  expect(world.changesSent(status.id)).toEqual([]);
});

test("deleting a remote that is used elsewhere in the account waits, with the service's message", async () => {
  await world.kube.apply(manifest("TunnelGroupBackend", "used", {}));
  const { status } = await world.ready("TunnelGroupBackend", "used");
  const edge = control().insert("edges/tcp", { backend: { backend_id: status.id } });
  await world.kube.delete("TunnelGroupBackend", "used");
  await says("TunnelGroupBackend", "used", "InUse", String(edge["id"]));
  control().remove(String(edge["id"]));
  await world.gone("TunnelGroupBackend", "used");
});
