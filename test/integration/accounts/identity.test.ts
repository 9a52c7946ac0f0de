import { expect, test } from "vitest";
import { annotations, OWNER_KEY } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

const control = () => world.simulator.control;

/** Somebody else has made it. */
const foreign = (collection: string, row: object): KubeJSON => control().insert(collection, { ...row });

const stalled = (kind: string, name: string, reason: string): Promise<KubeJSON> =>
  world.condition(kind, name, { type: "Stalled", status: "True", reason });

const message = (object: KubeJSON): string => conditionOf(object, "Ready")?.message;

test("an existing domain is not adopted unless the spec asks for it, and is released again", async () => {
  const spec = { domain: "taken.example.org", description: "mine now" };
  const { id } = foreign("reserved_domains", { domain: spec.domain, description: "theirs", metadata: "their notes" });
  await world.kube.apply(manifest("ReservedDomain", "taken", spec));
  const refused = await stalled("ReservedDomain", "taken", "AlreadyExists");
  expect(message(refused)).toContain(`adopt: {id: ${id}}`);
  expect(control().get(id)).toMatchObject({ description: "theirs" });
  expect(control().objects("reserved_domains")).toHaveLength(1);

  await world.kube.apply(manifest("ReservedDomain", "taken", { ...spec, adopt: { id } }));
  const { status } = await world.ready("ReservedDomain", "taken");
  expect(status.id).toBe(id);
  expect(control().get(id)).toMatchObject({ description: "mine now", metadata: "their notes" });

  await world.kube.delete("ReservedDomain", "taken");
  await world.gone("ReservedDomain", "taken");
  expect(control().get(id)).not.toBeNull();
});

test("a domain is adopted by its name, and gets the owner mark", async () => {
  const { id } = foreign("reserved_domains", { domain: "named.example.org" });
  const spec = { domain: "named.example.org", adopt: { existing: true }, deletionPolicy: "Delete" };
  await world.kube.apply(manifest("ReservedDomain", "named", spec));
  const { status } = await world.ready("ReservedDomain", "named");
  expect(status.id).toBe(id);
  const { metadata } = control().get(id) as KubeJSON;
  expect(JSON.parse(metadata)[OWNER_KEY]).toMatch(new RegExp(`/${world.namespace}/named$`));
  await world.kube.delete("ReservedDomain", "named");
  await world.gone("ReservedDomain", "named");
  expect(control().get(id)).toBeNull();
});

test("adopting by name creates a domain that does not exist", async () => {
  await world.kube.apply(manifest("ReservedDomain", "new", { domain: "new.example.org", adopt: { existing: true } }));
  const { status } = await world.ready("ReservedDomain", "new");
  expect(control().get(status.id)).toMatchObject({ domain: "new.example.org" });
});

test("an id that the account does not have is reported as missing", async () => {
  await world.kube.apply(manifest("IPPolicy", "lost", { adopt: { id: "ipp_nothing" } }));
  expect(message(await stalled("IPPolicy", "lost", "RemoteMissing"))).toContain("ipp_nothing");
  expect(control().objects("ip_policies")).toEqual([]);
});

test("a remote with the mark of another cluster stays unchanged until that cluster releases it", async () => {
  const metadata = JSON.stringify({ [OWNER_KEY]: "another-cluster/production/web" });
  const { id } = foreign("backends/tunnel_group", { labels: { a: "theirs" }, metadata });
  await world.kube.apply(manifest("TunnelGroupBackend", "claimed", { labels: { a: "ours" }, adopt: { id } }));
  const refused = await stalled("TunnelGroupBackend", "claimed", "OwnershipConflict");
  expect(message(refused)).toContain("another-cluster/production/web");
  expect(world.changesSent(id)).toEqual([]);
  control().patch(id, { metadata: "" });
  await world.reconcileNow(refused);
  await world.ready("TunnelGroupBackend", "claimed");
  expect(control().get(id)).toMatchObject({ labels: { a: "ours" } });
});

test("a namespace adopts nothing until it has the right", async () => {
  const { id } = foreign("ip_policies", { description: "theirs" });
  await world.restartOperator({ ADOPTION_NAMESPACES: "somewhere-else" });
  await world.kube.apply(manifest("IPPolicy", "greedy", { adopt: { id }, deletionPolicy: "Delete" }));
  const refused = await stalled("IPPolicy", "greedy", "AdoptionNotAllowed");
  expect(message(refused)).toContain(`adoption.namespaces: ["${world.namespace}"]`);
  await world.kube.delete("IPPolicy", "greedy");
  await world.gone("IPPolicy", "greedy");
  expect(control().get(id)).toMatchObject({ description: "theirs" });
  expect(world.changesSent(id)).toEqual([]);
  // A GatewayAccount of its own gives it the right in the account of that key.
  const other = foreign("ip_policies", { description: "theirs" });
  await world.kube.apply(
    secret("own", { key: world.simulator.apiKey }),
    manifest("GatewayAccount", "own", { apiKeySecretRef: { name: "own", key: "key" } }),
    manifest("IPPolicy", "by-own-account", { adopt: { id: other.id }, accountRef: { name: "own" } }),
  );
  await world.ready("IPPolicy", "by-own-account");
  await world.restartOperator({ ADOPTION_NAMESPACES: `somewhere-else, ${world.namespace}` });
  await world.kube.apply(manifest("IPPolicy", "allowed", { adopt: { id } }));
  await world.ready("IPPolicy", "allowed");
});

test("of two objects for one remote the first holds it, and the second when the first is deleted", async () => {
  const { id } = foreign("reserved_addrs", { region: "eu" });
  const spec = (description: string) => ({ description, adopt: { id } });
  await world.kube.apply(manifest("ReservedAddress", "first", spec("first")));
  await world.ready("ReservedAddress", "first");
  await world.kube.apply(manifest("ReservedAddress", "second", spec("second")));
  const refused = await stalled("ReservedAddress", "second", "OwnershipConflict");
  expect(message(refused)).toContain(`${world.namespace}/first`);
  expect(control().get(id)).toMatchObject({ description: "first" });
  await world.kube.delete("ReservedAddress", "first");
  await world.gone("ReservedAddress", "first");
  // It is looked at by itself, and the mark names an object that is no more.
  await world.ready("ReservedAddress", "second");
  expect(control().get(id)).toMatchObject({ description: "second" });
});

test("an object hands its remote over to an object of another name, and only the mark changes", async () => {
  const spec = { description: "the office" };
  await world.kube.apply(manifest("IPPolicy", "giver", spec));
  const giver = await world.ready("IPPolicy", "giver");
  const { id } = giver.status;
  const from = `${world.namespace}/giver`;
  const withoutID = manifest("IPPolicy", "taker", { ...spec, adopt: { from } });
  await expect(world.kube.apply(withoutID)).rejects.toThrow("must give `id`");
  await world.kube.apply(manifest("IPPolicy", "taker", { ...spec, adopt: { id, from } }));
  expect(message(await stalled("IPPolicy", "taker", "OwnershipConflict"))).toContain("release-to");
  const changes = world.changesSent(id).length;
  await world.kube.annotate("IPPolicy", "giver", { [annotations.releaseTo]: `${world.namespace}/taker` });
  const taker = await world.ready("IPPolicy", "taker");
  expect(taker.status).toMatchObject({ id, origin: "Created" });
  expect(world.changesSent(id)).toHaveLength(changes + 1);
  await world.until("the giver says who has it", async () => {
    const paused = conditionOf(await world.get("IPPolicy", "giver"), "Paused");
    return paused?.reason === "Released" && paused.message.includes(`taker has ${id} now`);
  });
  await world.kube.delete("IPPolicy", "giver");
  await world.gone("IPPolicy", "giver");
  expect(control().get(id)).toMatchObject(spec);
  expect(JSON.parse((control().get(id) as KubeJSON)["metadata"])[OWNER_KEY]).toMatch(/\/taker#/);
  await world.kube.delete("IPPolicy", "taker");
  await world.gone("IPPolicy", "taker");
  expect(control().get(id)).toBeNull();
});

test("an object that only observes writes nothing to the remote", async () => {
  const { id } = foreign("reserved_domains", { domain: "watched.example.org", description: "theirs" });
  const spec = { domain: "watched.example.org", description: "other", managementPolicy: "ObserveOnly" };
  await world.kube.apply(manifest("ReservedDomain", "watched", spec));
  const object = await world.ready("ReservedDomain", "watched");
  expect(object.status).toMatchObject({ id, drift: ["description"] });
  expect(conditionOf(object, "Drifted")).toMatchObject({ status: "True", reason: "RemoteDiffers" });
  control().patch(id, { description: "other" });
  const [same] = await world.reconcileNow(object);
  expect(conditionOf(same, "Drifted")).toBeUndefined();
  control().remove(id);
  await world.kube.annotate("ReservedDomain", "watched", { "tunnelgateway.dev/reconcile-requested-at": "gone" });
  expect(message(await stalled("ReservedDomain", "watched", "RemoteMissing"))).toContain("reserved domain");
  await world.kube.delete("ReservedDomain", "watched");
  await world.gone("ReservedDomain", "watched");
  expect(world.changesSent(id)).toEqual([]);
});
