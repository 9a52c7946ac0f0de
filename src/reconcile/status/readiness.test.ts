import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";

const DAY = 86_400_000;

let scene: Scene;
let object: ManagedObject;

const inDays = (days: number): string => new Date(scene.clock.date().getTime() + days * DAY).toISOString();

/** A domain whose certificate, which no object stands for, ends then. */
beforeEach(async () => {
  scene = new Scene();
  const spec = { domain: "a.example.com", certificateManagementPolicy: {} };
  object = await scene.apply(ReservedDomain, "web", spec);
  const { id } = scene.gateway.seed(TLSCertificate.resource, {});
  scene.gateway.change(TLSCertificate.resource, id, { not_after: inDays(2) });
  issue({ certificate: { id } });
});

function issue(members: object, job: object | null = null): void {
  const certificate_management_status = { renews_at: inDays(1), provisioning_job: job };
  scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { ...members, certificate_management_status });
}

async function look(): Promise<number> {
  await scene.resync(ReservedDomain);
  const result = await scene.reconcile(object);
  return (result as { requeueAfterSeconds: number }).requeueAfterSeconds;
}

describe("a domain whose managed certificate ends", () => {
  it("is read again soon, until a list shows the certificate", async () => {
    expect(await look()).toBe(300);
    expect(scene.reason(object)).toMatch(/^Available: .* its certificate is issued/);
    expect(scene.condition(object, "CertificateReady")?.message).toBe("The certificate is issued");
    await scene.resync(TLSCertificate);
    expect(await look()).toBeCloseTo((2 * DAY) / 1000, -1);
    expect(scene.condition(object, "CertificateReady")?.message).toMatch(
      /^The certificate is issued, and valid until 2026-01-03T/,
    );
  });

  it("shows the end also before a new process has read the list, without a write", async () => {
    await scene.resync(TLSCertificate);
    await look();
    const writes = scene.cluster.writes.length;
    scene.restart();
    await look();
    expect(scene.cluster.writes).toHaveLength(writes);
    issue({ certificate: { id: "cert_next" } });
    await look();
    expect(scene.condition(object, "CertificateReady")?.message).toBe("The certificate is issued");
  });

  it("is not read again soon where a list shows the certificate, and no end of it", async () => {
    const { id } = scene.gateway.seed(TLSCertificate.resource, {});
    issue({ certificate: { id } });
    await scene.resync(TLSCertificate);
    expect(await look()).toBeUndefined();
  });

  it("is not Ready after its end", async () => {
    await scene.resync(TLSCertificate);
    await scene.clock.advance(3 * DAY);
    await look();
    const ended = { status: "False", reason: "CertificateExpired" };
    expect(scene.condition(object, "Ready")).toMatchObject(ended);
    expect(scene.condition(object, "CertificateReady")).toMatchObject(ended);
    expect(scene.reason(object)).toMatch(/Renew what is served: the certificate ended at 2026-01-03T/);
  });

  it("is not Ready after its end, also while an edit of the domain is refused", async () => {
    const spec = { domain: "a.example.com", certificateManagementPolicy: {}, description: "ours" };
    await scene.resync(TLSCertificate);
    scene.cluster.apply(ReservedDomain, "web", spec);
    await look();
    for (let calls = 0; calls < 9; calls += 1) scene.gateway.refuse("update", 400);
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { description: "theirs" });
    await look();
    expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "UpdateUnsupported" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    await scene.clock.advance(3 * DAY);
    await look();
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "False", reason: "UpdateUnsupported" });
    expect(scene.condition(object, "CertificateReady")).toMatchObject({
      status: "False",
      reason: "CertificateExpired",
    });
  });

  it("is not said to be served while its renewal fails", async () => {
    issue({}, { error_code: "DNS_ERROR", msg: "no record" });
    await scene.resync(TLSCertificate);
    expect(await look()).toBeLessThan(3601);
    expect(scene.reason(object)).toMatch(
      /^CertificateRenewalFailing: .*no record \(the present certificate is served\)/,
    );
    await scene.clock.advance(3 * DAY);
    await look();
    expect(scene.reason(object)).toMatch(/^CertificateExpired: .*no record, and the certificate ended at 2026-01-03T/);
  });

  it("is Ready again with the next certificate", async () => {
    await scene.resync(TLSCertificate);
    await scene.clock.advance(3 * DAY);
    await look();
    issue({ certificate: { id: "cert_next" } });
    await look();
    expect(scene.reason(object)).toMatch(/^Available/);
  });
});
