import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { RESYNC_SECONDS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const certificates = (["first", "second", "third", "fourth"] as const).map((name) => keyPair(name)["tls.crt"]);
const versions = ["one", "two", "three", "four", "five"] as const;
/** Each version has certificates of its own. */
const pem = (version: (typeof versions)[number]) =>
  version === "five" ? certificates.join("") : certificates[versions.indexOf(version)];

/** A reference with a new value is no change by others, so driftPolicy makes no difference. */
describe.each(["Correct", "Report"] as const)("with driftPolicy %s", (driftPolicy) => {
  it("an edge follows the replacement of its authority, which is no drift", async () => {
    const authority = await scene.given(CertificateAuthority, "partners", { caPem: pem("one") });
    const edge = await scene.given(TLSEdge, "shop", {
      mutualTls: { enabled: true, certificateAuthorityRefs: [{ name: "partners" }] },
      driftPolicy,
    });
    await scene.reconcile(edge);
    for (const version of versions.slice(1)) {
      await scene.apply(CertificateAuthority, "partners", { caPem: pem(version) });
      scene.resetCounts();
      await scene.reconcile(edge);
      expect(scene.gateway.takeCalls()).toEqual([`update ${scene.idOf(edge)}`]);
      expect(scene.cluster.events).toEqual([]);
      await scene.settle(authority, 3);
    }
    expect(scene.gateway.remote(TLSEdge.resource, scene.idOf(edge))).toMatchObject({
      mutual_tls: { certificate_authorities: [{ id: scene.idOf(authority) }] },
    });
    expect(scene.gateway.remotesOf(CertificateAuthority.resource)).toHaveLength(1);
    expect(scene.condition(edge, "Drifted")).toBeUndefined();
  });

  it("an edge follows the new value of its address", async () => {
    const address = await scene.given(ReservedAddress, "db");
    scene.gateway.change(ReservedAddress.resource, scene.idOf(address), { addr: "1.tcp.example:1" });
    await scene.resync(ReservedAddress, address);
    const edge = await scene.given(TCPEdge, "db", { addressRefs: [{ name: "db" }], driftPolicy });
    scene.gateway.change(ReservedAddress.resource, scene.idOf(address), { addr: "1.tcp.example:2" });
    await scene.resync(ReservedAddress, address);
    await scene.reconcile(edge);
    expect(scene.gateway.remote(TCPEdge.resource, scene.idOf(edge))).toMatchObject({ hostports: ["1.tcp.example:2"] });
  });

  it("an authority follows its ConfigMap", async () => {
    scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    const caPemFrom = { configMapKeyRef: { name: "ca", key: "pem" } };
    const authority = await scene.given(CertificateAuthority, "partners", { caPemFrom, driftPolicy });
    scene.cluster.setConfigMap("ca", { pem: keyPair("second")["tls.crt"] });
    await scene.settle(authority, 3);
    expect(scene.gateway.remotesOf(CertificateAuthority.resource)).toMatchObject([
      { ca_pem: keyPair("second")["tls.crt"] },
    ]);
  });
});

it("an authority keeps its certificates while its ConfigMap is invalid", async () => {
  scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
  const caPemFrom = { configMapKeyRef: { name: "ca", key: "pem" } };
  const authority = await scene.given(CertificateAuthority, "partners", { caPemFrom });
  scene.cluster.setConfigMap("ca", { pem: "rubbish" });
  await scene.reconcile(authority);
  expect(scene.gateway.takeCalls()).toEqual([]);
  expect(scene.condition(authority, "Ready")?.status).toBe("True");
  expect(scene.gateway.remotesOf(CertificateAuthority.resource)).toMatchObject([
    { ca_pem: keyPair("first")["tls.crt"] },
  ]);
});

describe("a create that the service refuses", () => {
  const refusedOnce = async (spec: ManagedObject["spec"]) => {
    scene.gateway.refuse("create", 422);
    return scene.reconcile(scene.cluster.apply(CertificateAuthority, "partners", spec));
  };

  it("is repeated at the next resync when a value comes from a ConfigMap or Secret", async () => {
    scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    scene.cluster.setSecret("ca", { pem: keyPair("first")["tls.crt"] });
    const key = { name: "ca", key: "pem" };
    expect(await refusedOnce({ caPemFrom: { configMapKeyRef: key } })).toEqual({ requeueAfterSeconds: RESYNC_SECONDS });
    expect(await refusedOnce({ caPemFrom: { secretKeyRef: key } })).toEqual({ requeueAfterSeconds: RESYNC_SECONDS });
  });

  it("is repeated after half an hour when all values are in the spec", async () => {
    expect(await refusedOnce({ caPem: pem("one") })).toEqual({ requeueAfterSeconds: 1800 });
  });
});

describe("a change by another client", () => {
  it("is reported as drift, also after the edge has followed a replacement", async () => {
    await scene.given(CertificateAuthority, "partners", { caPem: pem("one") });
    const edge = await scene.given(TLSEdge, "shop", {
      mutualTls: { enabled: true, certificateAuthorityRefs: [{ name: "partners" }] },
      driftPolicy: "Report",
    });
    await scene.apply(CertificateAuthority, "partners", { caPem: pem("two") });
    await scene.reconcile(edge);
    scene.gateway.change(TLSEdge.resource, scene.idOf(edge), { mutual_tls: null });
    await scene.resync(TLSEdge, edge);
    expect(scene.condition(edge, "Drifted")).toMatchObject({ reason: "RemoteDiffers" });
    expect(scene.gateway.remote(TLSEdge.resource, scene.idOf(edge))).toMatchObject({ mutual_tls: null });
  });
});

describe("a change by another client during an outage", () => {
  const spec = { description: "ours", driftPolicy: "Report" } as const;

  /** Makes a settled object fail one reconcile, and then lets somebody else change its remote. */
  async function changedDuringFailure(fail: (object: ManagedObject) => Promise<void>): Promise<ManagedObject> {
    const object = await scene.given(IPPolicy, "office", spec);
    await fail(object);
    scene.gateway.change(IPPolicy.resource, scene.idOf(object), { description: "theirs" });
    await scene.resync(IPPolicy, object);
    return object;
  }

  const expectDrift = (object: ManagedObject): void => {
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteDiffers" });
    expect(scene.gateway.remote(IPPolicy.resource, scene.idOf(object))).toMatchObject({ description: "theirs" });
  };

  it("is reported as drift after an outage of the service", async () => {
    const object = await changedDuringFailure(async (object) => {
      scene.restart();
      scene.gateway.refuse("list", 503);
      await scene.reconcile(object);
      expect(scene.condition(object, "Synced")?.status).toBe("False");
    });
    expectDrift(object);
  });

  it("is reported as drift after a Secret was missing", async () => {
    const target = { monitoring: { apiKeyRef: { name: "dd", key: "api" }, service: "s" } };
    scene.cluster.setSecret("dd", { api: "one" });
    const object = await scene.given(EventDestination, "dd", { target, description: "ours", driftPolicy: "Report" });
    const version = await scene.cluster.secrets.read("team-a", "dd");
    scene.cluster.removeSecret("dd");
    await scene.reconcile(object);
    expect(scene.condition(object, "Synced")?.reason).toBe("SecretNotReady");
    scene.cluster.restoreSecret("dd", version);
    scene.gateway.change(EventDestination.resource, scene.idOf(object), { description: "theirs" });
    await scene.resync(EventDestination, object);
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteDiffers" });
    expect(scene.gateway.remote(EventDestination.resource, scene.idOf(object))).toMatchObject({
      description: "theirs",
    });
  });

  it("is not assumed when the answer to an own update was lost", async () => {
    const object = await scene.given(IPPolicy, "office", spec);
    scene.cluster.apply(IPPolicy, "office", { ...spec, description: "next" });
    scene.gateway.loseAnswer("update");
    await scene.reconcile(object);
    scene.cluster.apply(IPPolicy, "office", spec);
    await scene.resync(IPPolicy);
    await scene.settle(object);
    expect(scene.condition(object, "Drifted")).toBeUndefined();
    expect(scene.gateway.remote(IPPolicy.resource, scene.idOf(object))).toMatchObject({ description: "ours" });
  });
});
