import { beforeEach, describe, expect, it } from "vitest";
import { keyPair, type PairName } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";

// When a remote that was replaced is looked at again, and what it may not stop.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("a certificate that was replaced", () => {
  let object: ManagedObject;

  const certificates = () => scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id);

  beforeEach(async () => {
    scene.cluster.setSecret("tls", keyPair("first"));
    object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    expect(certificates()).toEqual(["cert_1", "cert_2"]);
  });

  it("leaves no drift behind", () => {
    expect(scene.condition(object, "Drifted")).toBeUndefined();
    expect(scene.cluster.now(object).status?.drift).toBeUndefined();
  });

  it("stays while a kind that may use it cannot be read, and stops no edit and no further renewal", async () => {
    scene.cluster.visibility.set("ReservedDomain", "Unreadable");
    await scene.reconcile(object);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
    await scene.apply(TLSCertificate, "web", { secretName: "tls", description: "new" });
    expect(scene.gateway.remote(TLSCertificate.resource, "cert_2")).toMatchObject({ description: "new" });
    scene.cluster.setSecret("tls", keyPair("third"));
    await scene.reconcile(object);
    expect(certificates()).toEqual(["cert_1", "cert_2", "cert_3"]);
    scene.cluster.visibility.clear();
    await scene.clock.advance(300_000);
    await scene.settle(object, 3);
    expect(certificates()).toEqual(["cert_3"]);
  });

  it("keeps no edit waiting while its deletion gets no answer, and the status says so", async () => {
    const unanswered = () => scene.gateway.swallow("delete");
    unanswered();
    scene.gateway.swallow("update");
    await scene.apply(TLSCertificate, "web", { secretName: "tls", description: "new" });
    unanswered();
    await scene.apply(TLSCertificate, "web", { secretName: "tls" });
    expect(scene.reason(object)).toMatch(/^Updating: /);
    for (let looks = 0; looks < 3; looks += 1) {
      await scene.clock.advance(30_000);
      unanswered();
      await scene.reconcile(object);
    }
    expect(scene.reason(object)).toMatch(/^ServiceUnavailable: .*DELETE /);
    expect(scene.gateway.remote(TLSCertificate.resource, "cert_2")?.["description"]).toBeFalsy();
  });

  it.each([403, 405, 410, 501])(
    "stops no further renewal when the service answers %i to its deletion",
    async (status) => {
      for (let calls = 0; calls < 10; calls += 1) scene.gateway.refuse("delete", status);
      await scene.settle(object, 3);
      scene.cluster.setSecret("tls", keyPair("third"));
      await scene.settle(object, 3);
      expect(certificates()).toEqual(["cert_1", "cert_2", "cert_3"]);
      expect(scene.idOf(object)).toBe("cert_3");
      expect(scene.condition(object, "Synced")?.status).toBe("True");
      expect(scene.cluster.events).toContainEqual(
        expect.objectContaining({
          type: "Warning",
          note: expect.stringMatching(/^Delete cert_1 in the account, once /),
        }),
      );
      scene.gateway.forgetFaults();
      await scene.clock.advance(3_600_000);
      await scene.settle(object, 3);
      expect(certificates()).toEqual(["cert_3"]);
    },
  );

  it.each(["delete", "list"] as const)("stops no further renewal when a %s fails again and again", async (verb) => {
    const fail = () => {
      for (let calls = 0; calls < 10; calls += 1) scene.gateway.refuse(verb, 500);
    };
    if (verb === "list") await scene.clock.advance(3_600_000);
    fail();
    await scene.reconcile(object);
    expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "ServiceUnavailable" });
    scene.cluster.setSecret("tls", keyPair("third"));
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe("cert_3");
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.gateway.forgetFaults();
    await scene.settle(object, 5);
    expect(certificates()).toEqual(["cert_3"]);
  });

  it("is looked at again after 2 seconds, then less and less often, while something without an object uses it", async () => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", certificate: { id: "cert_1" } });
    for (const seconds of [2, 4, 8]) {
      expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: seconds });
      await scene.clock.advance(seconds * 1000);
    }
  });

  it("is looked at again after five minutes when the service refuses to delete it", async () => {
    scene.gateway.refuse("delete", 409);
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.condition(object, "Synced")?.status).toBe("True");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("delete"))).toEqual(["delete cert_1"]);
  });

  it("is deleted later when the service is away, which is reported", async () => {
    scene.gateway.refuse("delete", 503);
    await scene.reconcile(object);
    expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "ServiceUnavailable" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    await scene.settle(object, 3);
    expect(certificates()).toEqual(["cert_2"]);
  });
});

describe("an authority that was replaced, while not all edges can be read that would be open without it,", () => {
  let object: ManagedObject;
  let old: string;

  const spec = (name: PairName) => ({ caPem: keyPair(name)["tls.crt"] });

  beforeEach(async () => {
    object = await scene.given(CertificateAuthority, "partners", spec("first"));
    old = scene.idOf(object);
    scene.gateway.unreadable.add(scene.gateway.seed(TLSEdge.resource, {}).id);
  });

  async function replaced(): Promise<Awaited<ReturnType<Scene["reconcile"]>>> {
    scene.cluster.apply(CertificateAuthority, "partners", spec("second"));
    await scene.reconcile(object);
    expect(scene.idOf(object)).not.toBe(old);
    return scene.reconcile(object);
  }

  it("stays, and is looked at again after five minutes", async () => {
    expect(await replaced()).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.gateway.remote(CertificateAuthority.resource, old)).toBeDefined();
    scene.gateway.unreadable.clear();
    await scene.clock.advance(300_000);
    await scene.reconcile(object);
    expect(scene.gateway.remote(CertificateAuthority.resource, old)).toBeUndefined();
  });

  it("is looked at again soon while the edge of an object uses it, which the next reconcile of that object may end", async () => {
    await scene.given(TLSEdge, "web", {
      mutualTls: { enabled: true, certificateAuthorityRefs: [{ name: "partners" }] },
    });
    scene.cluster.apply(TLSEdge, "web", {});
    await scene.clock.advance(61_000);
    expect(await replaced()).toEqual({ requeueAfterSeconds: 2 });
    expect(scene.gateway.remote(CertificateAuthority.resource, old)).toBeDefined();
  });
});
