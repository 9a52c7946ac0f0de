import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../../test/fakes/reconcile/key-pairs.ts";
import { DEADLINE_MS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../../../kinds/api-key.ts";
import { EventDestination } from "../../../kinds/event-destination.ts";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../../kinds/reserved-address.ts";
import { SSHHostCertificate } from "../../../kinds/ssh-host-certificate.ts";
import { TCPEdge } from "../../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../../kinds/tls-certificate.ts";
import { intentOf, maxProcessingMs } from "../../../objects/intent.ts";
import type { ManagedObject } from "../../../objects/object.ts";
import { createIn, ownerMarkOf } from "../../../objects/ownership.ts";
import { annotations } from "../../../schema/contract.ts";
import type { Kind } from "../../../schema/define.ts";

// Every remote is marked at birth with the create that made it. Each of these schedules broke a design that did without
// the create in the mark, or without the wait (docs/decisions).

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.cluster.setSecret("tls", keyPair("first"));
});

const ids = (kind: Kind) => scene.gateway.remotesOf(kind.resource).map(({ id }) => id);
const renew = () => scene.cluster.setSecret("tls", keyPair("second"));
const createdOf = (object: ManagedObject) => intentOf(scene.cluster.now(object))?.create;
const owner = (name: string) => ({ cluster: "c1", namespace: "team-a", name });

/** Restores an object without its status, as from a backup of its manifest and annotations. */
function restore(object: ManagedObject): void {
  scene.cluster.loseStatus(object);
  scene.restart();
}

it("2.1: what a renewal made is found by its create, though the status has the certificate before", async () => {
  const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
  renew();
  scene.gateway.loseAnswer("create");
  await scene.reconcile(object);
  scene.restart();
  await scene.settle(object);
  expect(scene.idOf(object)).toBe("cert_2");
  expect(scene.cluster.now(object).status?.created).toBe(createdOf(object));
  await scene.clock.advance(600_000);
  await scene.settle(object);
  expect(ids(TLSCertificate)).toEqual(["cert_2"]);
});

it("2.2: a deletion without an id takes only what the create of this very object made", async () => {
  const spec = { region: "us", deletionPolicy: "Retain" } as const;
  const kept = await scene.given(ReservedAddress, "x", spec);
  const id = scene.idOf(kept);
  await scene.deleteAndSettle(kept);
  scene.gateway.swallow("create");
  const next = await scene.apply(ReservedAddress, "x", { region: "eu" });
  await scene.deleteAndSettle(next);
  expect(scene.cluster.exists(next)).toBe(false);
  expect(ids(ReservedAddress)).toEqual([id]);
});

describe("2.3: a key that others may have", () => {
  beforeEach(() => {
    scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
  });

  it("stays when its object is restored without status and Secret", async () => {
    const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
    const id = scene.idOf(object);
    await scene.clock.advance(24 * 3_600_000);
    const { metadata, spec } = scene.cluster.now(object);
    scene.cluster.vanish(object);
    scene.cluster.removeSecret("ci");
    const { annotations: notes = {} } = metadata;
    const restored = scene.cluster.apply(APIKey, "ci", spec, { annotations: notes });
    scene.restart();
    await scene.settle(restored, 12);
    expect(ids(APIKey)).toContain(id);
  });

  it("is not taken by an object of the same name with a forged annotation", async () => {
    const object = await scene.given(APIKey, "ci", { tokenSecretName: "ci", deletionPolicy: "Retain" });
    const id = scene.idOf(object);
    await scene.deleteAndSettle(object);
    const notes = { [annotations.createIntent]: "2026-01-01T00:00:00.000Z account=" };
    const forged = scene.cluster.apply(APIKey, "ci", { tokenSecretName: "other" }, { annotations: notes });
    await scene.settle(forged, 12);
    expect(scene.reason(forged)).toMatch(/^Available/);
    expect(scene.idOf(forged)).not.toBe(id);
    expect(ids(APIKey)).toEqual([id, scene.idOf(forged)]);
  });
});

it("2.4: an adopted certificate that was replaced does not come back, and stays when its object ends", async () => {
  const { id } = scene.gateway.seed(TLSCertificate.resource, { certificate_pem: keyPair("first")["tls.crt"] });
  const object = await scene.given(TLSCertificate, "web", { secretName: "tls", adopt: { id } });
  renew();
  await scene.settle(object);
  const created = scene.idOf(object);
  expect([created === id, scene.cluster.now(object).status?.origin]).toEqual([false, "Created"]);
  restore(object);
  await scene.settle(object);
  expect([scene.idOf(object), scene.cluster.now(object).status?.origin]).toEqual([created, "Created"]);
  await scene.deleteAndSettle(object);
  expect(ids(TLSCertificate)).toEqual([id]);
});

it("2.5: in a cluster that is rebuilt from Git, marks say what was created and what was adopted", async () => {
  const { id } = scene.gateway.seed(IPPolicy.resource, { description: "theirs" });
  const created = await scene.given(IPPolicy, "created", { description: "ours" });
  const adopted = await scene.given(IPPolicy, "adopted", { description: "theirs", adopt: { id } });
  for (const object of [created, adopted]) scene.cluster.vanish(object);
  scene.restart();
  const again = await scene.given(IPPolicy, "created", { description: "ours" });
  const { adopt: _, ...withoutAdopt } = adopted.spec;
  const taken = await scene.given(IPPolicy, "adopted", withoutAdopt);
  const origins = [again, taken].map((object) => scene.cluster.now(object).status?.origin);
  expect(origins).toEqual(["Created", "Adopted"]);
  for (const object of [again, taken]) await scene.deleteAndSettle(object);
  expect(ids(IPPolicy)).toEqual([id]);
});

describe("2.6: a text that leaves no room for the mark", () => {
  const target = { monitoring: { apiKeyRef: { name: "dd", key: "api" } } };

  beforeEach(() => scene.cluster.setSecret("dd", { api: "key" }));

  it("comes after the create, and the annotation says which remote has lost its mark", async () => {
    const object = await scene.apply(EventDestination, "dd", { target, metadata: "a text" });
    const id = scene.idOf(object);
    expect(scene.gateway.everyCall.map(({ verb }) => verb).filter((verb) => verb !== "list")).toEqual([
      "create",
      "update",
    ]);
    expect(scene.cluster.writes).toEqual(["annotate", "writeStatus", "annotate", "writeStatus"]);
    const unmarked = { id, owner: `c1/team-a/dd#${createdOf(object)}` };
    expect(intentOf(scene.cluster.now(object))?.unmarked).toEqual(unmarked);
    scene.resetCounts();
    await scene.reconcile(object);
    expect([scene.gateway.takeCalls(), scene.cluster.writes]).toEqual([[], []]);
  });

  it.each([
    ["a create", async () => scene.given(EventDestination, "dd", { target, metadata: "a text" })],
    [
      "an edit",
      async () => {
        const object = await scene.given(EventDestination, "dd", { target });
        await scene.apply(EventDestination, "dd", { target, metadata: "a text" });
        await scene.settle(object);
        return object;
      },
    ],
  ])("makes nothing a second time when the status is lost after %s", async (_, made) => {
    const object = await made();
    const id = scene.idOf(object);
    expect(ownerMarkOf(scene.gateway.remote(EventDestination.resource, id) ?? {})).toBeUndefined();
    restore(object);
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(new RegExp(`^AlreadyExists: Add to the spec: adopt: {id: ${id}}`));
    await scene.apply(EventDestination, "dd", { target, metadata: "a text", adopt: { id } });
    expect(scene.idOf(object)).toBe(id);
    expect(ids(EventDestination)).toEqual([id]);
  });

  it("gives way to the mark again once there is room", async () => {
    const object = await scene.given(EventDestination, "dd", { target, metadata: "a text" });
    await scene.apply(EventDestination, "dd", { target, metadata: '{"team":"a"}' });
    await scene.settle(object);
    const [remote = { id: "" }] = scene.gateway.remotesOf(EventDestination.resource);
    expect(createIn(remote, owner("dd"))).toBe(createdOf(object));
  });

  it.each([400, 405, 501])("is told, and not sent again, where the service answers %i", async (status) => {
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "update") scene.gateway.refuse("update", status);
    };
    const object = await scene.apply(EventDestination, "dd", { target, metadata: "a text" });
    for (let count = 0; count < 3; count += 1) {
      await scene.clock.advance(700_000);
      await scene.settle(object, 3);
    }
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.condition(object, "Drifted")).toMatchObject({ status: "True", reason: "RemoteNormalises" });
    const [remote = { id: "" }] = scene.gateway.remotesOf(EventDestination.resource);
    expect(createIn(remote, owner("dd"))).toBe(createdOf(object));
    expect(ids(EventDestination)).toHaveLength(1);
    scene.resetCounts();
    scene.restart();
    await scene.settle(object, 3);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("update"))).toEqual([]);
  });
});

it("2.7: a copy in another namespace, or in another cluster, does not ask for the remote of the first", async () => {
  const object = await scene.given(IPPolicy, "office", { metadata: "a text" });
  const notes = scene.cluster.now(object).metadata.annotations ?? {};
  const copy = scene.cluster.apply(
    IPPolicy,
    "office",
    { metadata: "a text" },
    { namespace: "team-b", annotations: notes },
  );
  await scene.settle(copy);
  expect(scene.reason(copy)).toMatch(/^Available/);
  expect(ids(IPPolicy)).toEqual([scene.idOf(object), scene.idOf(copy)]);
});

it("2.8: a field that was sent and then dropped does not go on serving", async () => {
  scene.gateway.loseAnswer("create");
  const object = await scene.apply(TCPEdge, "db", { hostports: ["1.tcp.eu.gateway.example:20117"] });
  scene.restart();
  scene.cluster.apply(TCPEdge, "db", { description: "closed" });
  await scene.settle(object);
  expect(scene.gateway.remotesOf(TCPEdge.resource)).toMatchObject([{ id: scene.idOf(object), description: "closed" }]);
  const [edge] = scene.gateway.remotesOf(TCPEdge.resource);
  expect(edge?.["hostports"] ?? []).toEqual([]);
});

it("2.9: a certificate with such a text is renewed in time, though a process dies during the renewal", async () => {
  const object = await scene.given(TLSCertificate, "web", { secretName: "tls", metadata: "a text" });
  renew();
  scene.gateway.loseAnswer("create");
  await scene.reconcile(object);
  scene.restart();
  await scene.settle(object);
  await scene.clock.advance(600_000);
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(ids(TLSCertificate)).toEqual(["cert_2"]);
});

describe("2.10: an annotation that was taken off, put back or forged costs a wait", () => {
  const earlier = "2025-01-01T00:00:00.000Z account=";

  it.each<[string, (object: ManagedObject) => void]>([
    ["taken off", (object) => scene.cluster.removeAnnotation(object, annotations.createIntent)],
    ["put back", (object) => scene.cluster.annotateByHand(object, annotations.createIntent, earlier)],
    ["made unreadable", (object) => scene.cluster.annotateByHand(object, annotations.createIntent, "\u0000 id= =")],
  ])("%s while the create is under way", async (_, change) => {
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office", { description: "ours" });
    const { body = {} } = scene.gateway.calls.find(({ verb }) => verb === "create") ?? {};
    change(object);
    scene.restart();
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating: Waiting until it is certain/);
    await scene.clock.advance(maxProcessingMs(DEADLINE_MS) / 2);
    scene.gateway.seed(IPPolicy.resource, body);
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(ids(IPPolicy)).toEqual([scene.idOf(object)]);
    expect(scene.cluster.now(object).status?.origin).toBe("Created");
  });
});

it("2.11: what the create made is its own, though an immutable value has changed meanwhile", async () => {
  const spec = (sshCertificateAuthorityId: string) => ({
    sshCertificateAuthorityRef: { id: sshCertificateAuthorityId },
    publicKey: "ssh-ed25519 AAAA",
  });
  scene.gateway.loseAnswer("create");
  const object = await scene.apply(SSHHostCertificate, "host", spec("sshca_1"));
  const made = ids(SSHHostCertificate);
  scene.restart();
  scene.cluster.apply(SSHHostCertificate, "host", spec("sshca_2"));
  await scene.settle(object);
  expect(made).toHaveLength(1);
  const left = ids(SSHHostCertificate).filter((id) => id !== scene.idOf(object));
  expect(left.filter((id) => !made.includes(id))).toEqual([]);
  await scene.deleteAndSettle(object);
  expect(ids(SSHHostCertificate)).toEqual([]);
});

it("of several remotes with the mark, the newest counts, and an event names the others", async () => {
  const object = await scene.given(IPPolicy, "office", { description: "ours" });
  const old = scene.gateway.remote(IPPolicy.resource, scene.idOf(object));
  await scene.clock.advance(60_000);
  const { id } = scene.gateway.seed(IPPolicy.resource, { description: "ours", metadata: old?.["metadata"] });
  const before = scene.idOf(object);
  scene.cluster.vanish(object);
  scene.restart();
  const again = await scene.apply(IPPolicy, "office", { description: "ours" });
  expect(scene.idOf(again)).toBe(id);
  expect(scene.cluster.events.map(({ note }) => note).join()).toContain(before);
});
