import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { digestOf } from "../../account/key-proof.ts";
import { APIKey } from "../../kinds/api-key.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations, OWNER_KEY } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const foreign = { metadata: `{"${OWNER_KEY}":"c2/team-b/office"}` };

describe("adoption by id", () => {
  it("takes the remote, corrects it and adds the owner mark", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, { description: "old", metadata: '{"theirs":1}' });
    const object = scene.cluster.apply(IPPolicy, "office", { description: "new", adopt: { id } });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`, `update ${id}`]);
    const [remote] = scene.gateway.remotesOf(IPPolicy.resource);
    expect(remote).toMatchObject({ id, description: "new" });
    expect(remote && ownerIn(remote)).toBe("c1/team-a/office");
    expect(JSON.parse(String(remote?.["metadata"]))).toMatchObject({ theirs: 1 });
    expect(scene.cluster.events).toMatchObject([{ note: `Took over ${id}` }]);
  });

  it("adds the owner mark also when nothing else differs", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, { description: "same" });
    const object = await scene.apply(IPPolicy, "office", { description: "same", adopt: { id } });
    const [remote] = scene.gateway.remotesOf(IPPolicy.resource);
    expect(remote && ownerIn(remote)).toBe("c1/team-a/office");
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("update"))).toEqual([]);
  });

  it("keeps fields that the spec does not set", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, { description: "theirs", metadata: "opaque" });
    await scene.reconcile(scene.cluster.apply(IPPolicy, "office", { adopt: { id } }));
    expect(scene.gateway.remote(IPPolicy.resource, id)).toMatchObject({ description: "theirs", metadata: "opaque" });
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`]);
  });

  it("blocks when there is no remote with this id", async () => {
    const object = await scene.apply(IPPolicy, "office", { adopt: { id: "ipp_404" } });
    expect(scene.reason(object)).toMatch(/^RemoteMissing: Correct spec.adopt.id/);
    expect(scene.condition(object, "Stalled")?.status).toBe("True");
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("refuses a remote with the owner mark of another cluster or object", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, foreign);
    const object = await scene.apply(IPPolicy, "office", { description: "mine", adopt: { id } });
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: .*c2\/team-b\/office/);
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`]);
  });

  it("refuses a remote that another object has", async () => {
    const first = await scene.given(IPPolicy, "first");
    const object = await scene.apply(IPPolicy, "second", { adopt: { id: scene.idOf(first) } });
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: .*team-a\/first/);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });
});

describe("an object that has adopted a remote", () => {
  let id: string;
  let object: ManagedObject;

  beforeEach(async () => {
    id = scene.gateway.seed(IPPolicy.resource, { description: "theirs" }).id;
    object = scene.cluster.apply(IPPolicy, "office", { adopt: { id } });
    await scene.reconcile(object);
    scene.resetCounts();
  });

  it("says so in its status, and retains the remote although spec.adopt was removed", async () => {
    await scene.apply(IPPolicy, "office", {});
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.cluster.now(object).status?.origin).toBe("Adopted");
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remote(IPPolicy.resource, id)).toBeDefined();
  });

  it("keeps it when spec.adopt names another remote, and changes neither", async () => {
    const other = scene.gateway.seed(IPPolicy.resource, { description: "another" });
    await scene.apply(IPPolicy, "office", { description: "mine", adopt: { id: other.id } });
    expect(scene.reason(object)).toMatch(
      new RegExp(`^ImmutableField: Set spec.adopt.id back to ${id}, .* ${other.id}$`),
    );
    expect(scene.condition(object, "Ready")?.status).toBe("False");
    expect(scene.gateway.takeCalls()).toEqual([]);
    await scene.apply(IPPolicy, "office", { description: "mine", adopt: { id } });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});

it("keeps a remote that it created when spec.adopt comes to name another one, and says so", async () => {
  const other = scene.gateway.seed(IPPolicy.resource, { description: "another" });
  const object = await scene.given(IPPolicy, "office", { description: "mine" });
  await scene.apply(IPPolicy, "office", { description: "mine", adopt: { id: other.id } });
  expect(scene.condition(object, "Ready")).toMatchObject({
    status: "True",
    message: `Exists in the account. spec.adopt.id has no effect: this object has ${scene.idOf(object)}, not ${other.id}`,
  });
  expect(scene.gateway.remote(IPPolicy.resource, other.id)).toEqual(other);
  await scene.apply(IPPolicy, "office", { description: "mine", adopt: { id: scene.idOf(object) } });
  expect(scene.reason(object)).toBe("Available: Exists in the account as specified");
});

it("deletes a remote that it had to create, although the spec asked to adopt", async () => {
  const object = await scene.given(ReservedDomain, "web", { domain: "b.example.com", adopt: { existing: true } });
  expect(scene.cluster.now(object).status?.origin).toBe("Created");
  await scene.deleteAndSettle(object);
  expect(scene.gateway.remotesOf(ReservedDomain.resource)).toEqual([]);
});

describe("adoption by natural key", () => {
  const spec = { domain: "A.example.com", adopt: { existing: true as const } };

  it("adopts the remote with an equal natural key, however it is spelled", async () => {
    const { id } = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    const object = await scene.apply(ReservedDomain, "web", spec);
    expect(scene.idOf(object)).toBe(id);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("creates a remote when there is none", async () => {
    const object = await scene.apply(ReservedDomain, "web", spec);
    expect(scene.gateway.takeCalls()).toEqual(["list", "create"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("does not create a second remote while a create may be under way", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(ReservedDomain, "web", spec);
    scene.gateway.takeCalls();
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    expect(scene.gateway.takeCalls()).not.toContain("create");
  });
});

describe("an object that only observes", () => {
  const observe = { managementPolicy: "ObserveOnly" as const };

  it("finds its remote by the natural key, and reports what differs", async () => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", description: "theirs" });
    const spec = { domain: "a.example.com", description: "mine", ...observe };
    const object = await scene.apply(ReservedDomain, "web", spec);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteDiffers" });
    expect(scene.cluster.now(object).status?.drift).toEqual(["description"]);
    expect(scene.gateway.takeCalls()).toEqual(["list"]);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
  });

  it.each([
    [
      EventDestination,
      { target: { monitoring: { service: "theirs" } } },
      { target: { monitoring: { service: "mine", apiKeyRef: { name: "missing", key: "key" } } } },
      ["description", "target"],
    ],
    [TLSCertificate, { certificate_pem: "theirs" }, { secretName: "missing" }, ["description"]],
  ] as [Kind, object, object, string[]][])(
    "needs none of its Secrets, as $0.kind",
    async (kind, members, spec, shown) => {
      const { id } = scene.gateway.seed(kind.resource, { ...members, description: "theirs" });
      const object = scene.cluster.apply(kind, "one", { ...spec, description: "mine", adopt: { id }, ...observe });
      expect(await scene.reconcile(object)).toEqual({});
      expect(scene.condition(object, "Ready")?.status).toBe("True");
      expect(scene.cluster.now(object).status?.drift).toEqual(shown);
      expect(scene.cluster.secretReads).toEqual([]);
    },
  );

  it("may observe the remote of another object", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, foreign);
    const object = await scene.apply(IPPolicy, "office", { adopt: { id }, ...observe });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("reads no mark, and does not care who holds the remote, even where its kind cannot be read completely", async () => {
    scene.gateway.unlisted.add("metadata");
    scene.cluster.visibility.set("IPPolicy", "Unreadable");
    scene.mayAdopt = false;
    const { id } = scene.gateway.seed(IPPolicy.resource, foreign);
    const object = await scene.apply(IPPolicy, "office", { adopt: { id }, ...observe });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`]);
    scene.restart();
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.takeCalls()).toEqual(["list"]);
  });

  it("never creates a remote", async () => {
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com", ...observe });
    // The next reconcile costs no request.
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.reason(object)).toMatch(/^RemoteMissing: /);
    expect(scene.gateway.takeCalls()).toEqual(["list"]);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
    await scene.clock.advance(1_800_000);
    await scene.reconcile(object);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
  });

  it("never recreates a remote", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const object = await scene.apply(IPPolicy, "office", { adopt: { id }, ...observe });
    scene.gateway.drop(IPPolicy.resource, id);
    await scene.resync(IPPolicy, object);
    expect(scene.reason(object)).toMatch(/^RemoteMissing: /);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("needs spec.adopt.id when the kind has no natural key", async () => {
    const object = await scene.apply(IPPolicy, "office", observe);
    expect(scene.reason(object)).toMatch(/^RemoteMissing: Set spec.adopt.id/);
  });
});

describe("a remote that somebody else has deleted", () => {
  it("is recreated once a GET has confirmed that it is missing", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    scene.gateway.drop(IPPolicy.resource, "ipp_1");
    await scene.resync(IPPolicy, object);
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1", "create"]);
    expect(scene.idOf(object)).toBe("ipp_2");
    expect(scene.cluster.events).toMatchObject([{ type: "Warning", reason: "RemoteMissing" }]);
  });

  it("is not recreated when another remote has this object's mark, as after a restore of an old status", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    const metadata = scene.gateway.remote(IPPolicy.resource, "ipp_1")?.["metadata"];
    const later = scene.gateway.seed(IPPolicy.resource, { description: "the office", metadata: String(metadata) });
    scene.gateway.drop(IPPolicy.resource, "ipp_1");
    scene.restart();
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe(later.id);
    expect(scene.gateway.takeCalls()).not.toContain("create");
    expect(scene.cluster.now(object).status?.origin).toBe("Created");
    expect(scene.cluster.events.filter(({ reason }) => reason === "RemoteMissing")).toEqual([]);
  });

  it("is recreated if its value is shown once, and an event names the key with this object's mark that is left", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
    const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
    const metadata = String(scene.gateway.remote(APIKey.resource, "ak_1")?.["metadata"]);
    const later = scene.gateway.seed(APIKey.resource, { metadata });
    scene.gateway.seed(APIKey.resource, foreign);
    scene.gateway.drop(APIKey.resource, "ak_1");
    scene.restart();
    await scene.settle(object, 2);
    expect(scene.cluster.secretNow("ci")?.data["token"]).toBe(`token of ${scene.idOf(object)}`);
    expect(scene.cluster.events).toContainEqual(
      expect.objectContaining({
        type: "Warning",
        note: expect.stringMatching(`^Look at ${later.id} in the account: `),
      }),
    );
  });

  it("is recreated, and no event names the key that it has replaced and that is still to be deleted", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
    const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
    scene.cluster.keyUsers.set(digestOf("token of ak_1"), [{ name: "the operator", isDeleting: false }]);
    scene.cluster.removeSecret("ci");
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "ak_2", retiring: ["ak_1"] });
    scene.gateway.drop(APIKey.resource, "ak_2");
    scene.cluster.events.length = 0;
    await scene.resync(APIKey, object);
    expect(scene.idOf(object)).toBe("ak_3");
    expect(scene.cluster.events.filter(({ note }) => note.includes("ak_1"))).toEqual([]);
  });

  it("is not recreated when only a list lacks it", async () => {
    const object = await scene.given(IPPolicy, "office");
    const remote = scene.gateway.remote(IPPolicy.resource, "ipp_1");
    scene.gateway.drop(IPPolicy.resource, "ipp_1");
    await scene.resync(IPPolicy);
    if (remote) scene.gateway.put(IPPolicy.resource, remote);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("is only reported with driftPolicy: Report", async () => {
    const object = await scene.given(IPPolicy, "office", { driftPolicy: "Report" });
    scene.gateway.drop(IPPolicy.resource, "ipp_1");
    await scene.resync(IPPolicy, object);
    expect(scene.reason(object)).toMatch(/^RemoteMissing: /);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("is recreated only once when the answer was lost and the status has the old id", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.drop(IPPolicy.resource, "ipp_1");
    await scene.resync(IPPolicy);
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("False");
    scene.restart();
    await scene.settle(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id: "ipp_2" }]);
    expect(scene.idOf(object)).toBe("ipp_2");
  });

  it("is recreated also when it was adopted by id", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const object = await scene.apply(IPPolicy, "office", { adopt: { id } });
    scene.gateway.drop(IPPolicy.resource, id);
    await scene.resync(IPPolicy);
    scene.gateway.refuse("create", 503);
    await scene.reconcile(object);
    await scene.settle(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });
});

describe("a remote whose id two objects have", () => {
  it("stays with the older object", async () => {
    const older = await scene.given(IPPolicy, "older", { description: "a" });
    await scene.clock.advance(60_000);
    const younger = await scene.given(IPPolicy, "younger", { description: "b" });
    await scene.cluster.writeStatus(IPPolicy, younger, { ...younger.status, id: scene.idOf(older) });
    scene.resetCounts();
    await scene.apply(IPPolicy, "younger", { description: "c" });
    expect(scene.reason(younger)).toMatch(/^OwnershipConflict: .*team-a\/older/);
    expect(scene.gateway.takeCalls()).toEqual([]);
    await scene.reconcile(older);
    expect(scene.condition(older, "Ready")?.status).toBe("True");
  });
});

describe("the annotation reconcile-requested-at", () => {
  it("makes the next reconcile read the remote, and is echoed in the status", async () => {
    const object = await scene.given(IPPolicy, "office");
    await scene.reconcile(object);
    scene.gateway.takeCalls();
    scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, "now");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["get ipp_1"]);
    expect(scene.cluster.now(object).status?.lastHandledReconcileAt).toBe("now");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });
});

describe("a domain whose certificate is being provisioned", () => {
  const policy = { certificateManagementPolicy: { authority: "freeca", privateKeyType: "rsa" } };
  const provisioning = { certificate_management_status: { provisioning_job: { msg: "validating" } } };

  it("becomes ready without a resync", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, ...provisioning });
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com", ...policy });
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 5 });
    expect(scene.reason(object)).toMatch(/^CertificateProvisioning: /);
    await scene.clock.advance(5000);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^CertificateProvisioning: /);
    scene.gateway.change(ReservedDomain.resource, "rd_1", {
      certificate_management_status: null,
      certificate: { id: "cert_1" },
    });
    await scene.clock.advance(5000);
    // No list has shown yet when the certificate ends.
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.condition(object, "CertificateReady")?.status).toBe("True");
  });
});
