import { expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { manifestOf, minimalSpecs, requiredObjects } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

const control = () => world.simulator.control;

const eventsOf = async (name: string): Promise<KubeJSON[]> => {
  const events = (await world.kube.list("Event")).filter(({ regarding }) => regarding.name === name);
  return events.sort((a, b) => (a.eventTime < b.eventTime ? -1 : 1));
};

const short = ({ type, reason, action }: KubeJSON): string => `${type} ${reason} ${action}`;

/** Once there are so many. */
const events = (name: string, count: number): Promise<KubeJSON[]> =>
  world.until(`${count} events of ${name}`, async () => {
    const found = await eventsOf(name);
    return found.length >= count && found;
  });

const refused = () => control().requests({ method: "POST", path: "/ip_policies", status: 400 });

const refusal = { status: 400, body: { msg: "description: must rhyme" } };

test("creating, changing and deleting without problems emits no event", async () => {
  await world.kube.apply(...requiredObjects);
  await world.allReady(requiredObjects);
  const objects = Object.entries(minimalSpecs).map(([kind, spec]) => manifestOf({ kind, name: "easy", spec }));
  await world.kube.apply(...objects);
  await world.allReady(objects);
  await world.kube.apply(manifest("IPPolicy", "easy", { description: "changed" }));
  await world.ready("IPPolicy", "easy");
  await world.kube.delete("HTTPResponseBackend", "easy");
  await world.gone("HTTPResponseBackend", "easy");
  await world.quiet();
  expect((await eventsOf("easy")).map(short)).toEqual([]);
});

test("users that no list shows are reported at a deletion", async () => {
  await world.kube.apply(manifest("IPPolicy", "unseen", {}));
  await world.ready("IPPolicy", "unseen");
  await world.kube.delete("IPPolicy", "unseen");
  const [reported] = await events("unseen", 1);
  expect(short(reported)).toBe("Normal Deleting Delete");
  expect(reported.note).toContain("HTTPS edge route that no object names");
});

test("a problem and its end are events that kubectl describe shows", async () => {
  control().fault({ method: "POST", path: "/ip_policies", times: 2, action: refusal });
  await world.kube.apply(manifest("IPPolicy", "troubled", { description: "prose" }));
  const [first] = await events("troubled", 1);
  expect(short(first)).toBe("Warning InvalidSpec Reconcile");
  expect(first.note).toContain("description: must rhyme");
  expect(first.regarding).toMatchObject({ kind: "IPPolicy", namespace: world.namespace, name: "troubled" });
  expect(first.reportingController).toBe("tunnelgateway.dev/operator");

  // refused again, in the same words
  const before = await world.quiet();
  await world.kube.annotate("IPPolicy", "troubled", { "tunnelgateway.dev/reconcile-requested-at": "1" });
  await world.until("it is tried again", async () => refused().length === 2);
  const after = await world.quiet();
  const [same, ...more] = await eventsOf("troubled");
  expect(more).toEqual([]);
  expect(same.series).toBeUndefined();
  // the intent of the new create is recorded, then when it may be tried again, and that is all
  expect(after.writes - before.writes).toBe(2);

  await world.kube.apply(manifest("IPPolicy", "troubled", { description: "verse" }));
  await world.ready("IPPolicy", "troubled");
  await events("troubled", 2);
  const { stdout } = await world.kubectl("describe", "gwipp", "troubled");
  const shown = stdout.slice(stdout.indexOf("Events:"));
  expect(shown).toMatch(/Warning\s+InvalidSpec\s+.*must rhyme/);
  expect(shown).toMatch(/Normal\s+Available\s+.*Exists in the account/);
});

test("waiting is one event, whatever the object waits for", async () => {
  const refs = { ipRestriction: { ipPolicyRefs: [{ name: "guard" }] } };
  await world.kube.apply(manifest("TCPEdge", "patient", refs));
  const [waiting] = await events("patient", 1);
  expect(short(waiting)).toBe("Normal ReferenceNotReady Reconcile");
  await world.kube.apply(manifest("IPPolicy", "guard", {}));
  await world.ready("TCPEdge", "patient");
  const reported = await events("patient", 2);
  expect(reported.map(short)).toEqual(["Normal ReferenceNotReady Reconcile", "Normal Available Reconcile"]);

  await world.kube.delete("IPPolicy", "guard");
  const [kept] = await events("guard", 1);
  expect(short(kept)).toBe("Warning InUse Delete");
  expect(kept.note).toContain('TCPEdge "patient"');
  const leaving = (await events("patient", 3)).at(-1);
  expect(short(leaving)).toBe("Normal ReferenceNotReady Reconcile");
  expect(leaving.note).toContain('IPPolicy "guard" is being deleted');
  await world.kube.delete("TCPEdge", "patient");
  await world.gone("IPPolicy", "guard");
  await world.quiet();
  // the end of the edge may be seen before it is over
  const reasons = (await eventsOf("guard")).map(({ reason }) => reason);
  expect([
    ["InUse", "Deleting"],
    ["InUse", "Deleting", "Deleting"],
  ]).toContainEqual(reasons);
  expect(await eventsOf("patient")).toHaveLength(3);
});

test("a change by another client is reported, with the fields", async () => {
  await world.kube.apply(manifest("TunnelGroupBackend", "meddled-with", { description: "ours", labels: { a: "b" } }));
  const object = await world.ready("TunnelGroupBackend", "meddled-with");
  control().patch(object.status.id, { description: "theirs", labels: {} });
  await world.reconcileNow(object);
  const [reported] = await events("meddled-with", 1);
  expect(short(reported)).toBe("Normal RemoteDiffers Update");
  expect(reported.note).toContain("spec.description, spec.labels");
  expect(conditionOf(await world.get("TunnelGroupBackend", "meddled-with"), "Drifted")).toBeUndefined();
});
