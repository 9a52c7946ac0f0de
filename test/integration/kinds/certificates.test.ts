import { beforeAll, describe, expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// provisioning ends when a test says so
const world = useWorld({ simulator: { certificates: { provisionMs: 3_600_000 } } });

const control = () => world.simulator.control;
const policy = { certificateManagementPolicy: { authority: "freeca" } };

/** A domain whose certificate is being provisioned. */
async function domain(name: string, host = `${name}.example.org`): Promise<KubeJSON> {
  await world.kube.apply(manifest("ReservedDomain", name, { ...policy, domain: host }));
  return world.condition("ReservedDomain", name, { type: "Ready", status: "False", reason: "CertificateProvisioning" });
}

/** The conditions that are True, and the others with their status. */
const summary = (object: KubeJSON): Record<string, string> =>
  Object.fromEntries(
    object.status.conditions.map(({ type, status, reason }: KubeJSON) => [type, `${status} ${reason}`]),
  );

const look = async (name: string): Promise<KubeJSON> =>
  (await world.reconcileNow(manifest("ReservedDomain", name, {})))[0];

const message = (object: KubeJSON, type = "Ready"): string => conditionOf(object, type)?.message;

const started = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();

test("a certificate that is provisioned is waited for, and seen by itself when it is issued", async () => {
  const object = await domain("provisioned");
  expect(summary(object)).toEqual({
    Ready: "False CertificateProvisioning",
    Synced: "True Available",
    Reconciling: "True CertificateProvisioning",
    CertificateReady: "False CertificateProvisioning",
  });
  control().certificate(object.status.id, { state: "issued" });
  const issued = await world.ready("ReservedDomain", "provisioned");
  expect(summary(issued)).toEqual({
    Ready: "True Available",
    Synced: "True Available",
    CertificateReady: "True Available",
  });
  expect(issued.status.certificate.id).toMatch(/^cert_/);
  expect(issued.status.certificateManagementStatus.provisioningJob).toBeUndefined();
});

describe("trouble", () => {
  let id = "";
  let target = "";

  beforeAll(async () => {
    const { status } = await domain("troubled");
    [id, target] = [status.id, status.cnameTarget];
  });

  test("of the authority is tried again when the service says so", async () => {
    control().certificate(id, { state: "internal_error", msg: "busy", retriesAt: "2099-01-01T00:00:00Z" });
    const object = await look("troubled");
    expect(summary(object)).toMatchObject({
      Ready: "False CertificateRetrying",
      Reconciling: "True CertificateRetrying",
      CertificateReady: "False CertificateRetrying",
    });
    expect(message(object)).toContain("2099-01-01T00:00:00Z");
    expect(message(object)).toContain("busy");
  });

  test("with DNS names the record to make, and is work under way at first", async () => {
    control().certificate(id, { state: "dns_error" });
    const object = await look("troubled");
    expect(summary(object)).toMatchObject({
      Ready: "False CertificateDNSError",
      Reconciling: "True CertificateDNSError",
      CertificateReady: "False CertificateDNSError",
    });
    expect(message(object)).toContain(`troubled.example.org CNAME ${target}`);
  });

  test("with DNS that has lasted for ten minutes needs a person", async () => {
    const old = (control().get(id) as KubeJSON).certificate_management_status;
    const job = { ...old.provisioning_job, started_at: started(11) };
    control().patch(id, { certificate_management_status: { ...old, provisioning_job: job } });
    const object = await look("troubled");
    expect(summary(object)).toMatchObject({ Stalled: "True CertificateDNSError" });
    expect(conditionOf(object, "Reconciling")).toBeUndefined();
  });

  test("ends when the certificate is issued", async () => {
    control().certificate(id, { state: "issued" });
    expect(summary(await look("troubled"))).toEqual({
      Ready: "True Available",
      Synced: "True Available",
      CertificateReady: "True Available",
    });
  });
});

test("a renewal, and one that fails, leave the domain Ready", async () => {
  const { status } = await domain("renewed");
  control().certificate(status.id, { state: "issued" });
  await look("renewed");
  control().certificate(status.id, { state: "provisioning", msg: "renewing now" });
  const renewing = await look("renewed");
  expect(summary(renewing)).toEqual({
    Ready: "True Available",
    Synced: "True Available",
    CertificateReady: "True Available",
  });
  expect(message(renewing, "CertificateReady")).toContain("renewing now");
  control().certificate(status.id, { state: "dns_error" });
  const failing = await look("renewed");
  expect(summary(failing)).toEqual({
    Ready: "True CertificateRenewalFailing",
    Synced: "True Available",
    CertificateReady: "False CertificateRenewalFailing",
  });
  const { items } = JSON.parse((await world.kubectl("get", "events", "-o", "json")).stdout);
  const warnings = items.filter(({ reason }: KubeJSON) => reason === "CertificateRenewalFailing");
  expect(warnings).toMatchObject([{ type: "Warning", involvedObject: { name: "renewed" } }]);
});

describe("a job that has not started", () => {
  const late = useWorld({ simulator: { certificates: { startMs: 3_000, provisionMs: 500 } } });

  test("is waited for: the domain is not Ready before its certificate is issued, and then without anybody's help", async () => {
    await late.kube.apply(manifest("ReservedDomain", "late", { ...policy, domain: "late.example.org" }));
    const waiting = { type: "Ready", status: "False", reason: "CertificateProvisioning" };
    const object = await late.condition("ReservedDomain", "late", waiting);
    expect(late.simulator.control.get(object.status.id)).toMatchObject({
      certificate_management_status: { renews_at: null, provisioning_job: null },
    });
    expect(summary(object)).toMatchObject({ CertificateReady: "False CertificateProvisioning" });
    expect((await late.ready("ReservedDomain", "late")).status.certificate.id).toMatch(/^cert_/);
  });
});

test("a wildcard domain names both records", async () => {
  const { status } = await domain("wildcard", "*.wild.example.org");
  control().certificate(status.id, { state: "dns_error" });
  const said = message(await look("wildcard"));
  expect(said).toContain(`*.wild.example.org CNAME ${status.cnameTarget}`);
  expect(said).toContain(`_acme-challenge.wild.example.org CNAME ${status.acmeChallengeCnameTarget}`);
});

describe("the end of a certificate", () => {
  const ending = useWorld({ simulator: { certificates: { provisionMs: 100 } }, env: { RESYNC_INTERVAL: "2s" } });

  test("that has an object is told by that, and of one that the service issued by its GatewayAccount", async () => {
    const key = { name: "api-key", key: "key" };
    await ending.kube.apply(secret(key.name, { key: ending.simulator.apiKey }));
    await ending.kube.apply(manifest("GatewayAccount", "default", { apiKeySecretRef: key }));
    await ending.kube.apply(manifest("ReservedDomain", "managed", { ...policy, domain: "managed.example.org" }));
    const { status } = await ending.ready("ReservedDomain", "managed");
    const { not_after: end } = ending.simulator.control.get(status.certificate.id) as KubeJSON;
    const account = await ending.condition("GatewayAccount", "default", { type: "CertificateReady", status: "True" });
    expect(message(account, "CertificateReady")).toContain(
      `TLSCertificate ${status.certificate.id} ends first, at ${end}`,
    );

    // A person takes it under management: from then on its object tells its end.
    const spec = { secretName: "not-read", adopt: { id: status.certificate.id }, managementPolicy: "ObserveOnly" };
    await ending.kube.apply(manifest("TLSCertificate", "taken", spec));
    const taken = await ending.condition("TLSCertificate", "taken", { type: "CertificateReady", status: "True" });
    expect(message(taken, "CertificateReady")).toBe(`The certificate is valid until ${end}`);
    await ending.until("the account has no such certificate any more", async () => {
      const object = await ending.get("GatewayAccount", "default");
      return object && !conditionOf(object, "CertificateReady");
    });
  });
});
