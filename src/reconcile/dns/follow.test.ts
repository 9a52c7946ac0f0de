import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Retry } from "../../objects/reconcile-error.ts";

const record = { name: "web.example.com", type: "CNAME" as const, targets: ["x.example.net"] };
const made = { dnsName: "web.example.com", recordType: "CNAME", targets: ["x.example.net"] };

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** A domain whose target the service shows, reconciled once since. */
async function given(
  spec: Record<string, unknown> = {},
  members: Record<string, unknown> = {},
): Promise<ManagedObject> {
  const object = await scene.given(ReservedDomain, "web", { domain: "web.example.com", ...spec });
  scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { cname_target: "x.example.net", ...members });
  await again(object);
  return object;
}

async function again(object: ManagedObject, seconds = 0) {
  await scene.clock.advance(seconds * 1000);
  await scene.resync(ReservedDomain);
  scene.resetCounts();
  return scene.reconcile(object);
}

const ready = (object: ManagedObject) => scene.condition(object, "DNSReady");
const endpoint = (object: ManagedObject) => scene.cluster.endpointOf(object);

describe("a domain whose spec says nothing of DNS", () => {
  it("sends no query, and has neither condition nor DNSEndpoint", async () => {
    const object = await given();
    expect(scene.dns.asked).toEqual([]);
    expect(ready(object)).toBeUndefined();
    expect(endpoint(object)).toBeUndefined();
    expect(scene.cluster.now(object).status?.["dnsRecords"]).toEqual([record]);
  });

  it("has a DNSEndpoint if that is the default, unless the spec disables it", async () => {
    scene.dns.externalDNS = true;
    const object = await given();
    expect(endpoint(object)).toMatchObject({ endpoints: [made], owned: true });
    scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com", dns: { externalDNS: { enabled: false } } });
    await again(object);
    expect(endpoint(object)).toBeUndefined();
    expect(ready(object)).toBeUndefined();
  });
});

describe("a DNSEndpoint", () => {
  const externalDNS = { ttl: 60, labels: { zone: "public" }, annotations: { note: "a" } };

  it("has the records, and the settings of the spec", async () => {
    const object = await given({ dns: { externalDNS } });
    const { ttl, ...metadata } = externalDNS;
    expect(endpoint(object)).toEqual({ ...metadata, endpoints: [{ ...made, recordTTL: ttl }], owned: true });
  });

  it("is written once, and again only when its wanted content has changed", async () => {
    const object = await given({ dns: { externalDNS } });
    await again(object, 300);
    scene.dns.make([record]);
    await again(object, 300);
    await again(object, 300);
    expect(scene.cluster.writes).toEqual([]);
    scene.cluster.apply(ReservedDomain, "web", {
      domain: "web.example.com",
      dns: { externalDNS: { ...externalDNS, ttl: 120 } },
    });
    await again(object, 300);
    expect(scene.cluster.writes).toEqual(["writeDNSEndpoint", "writeStatus"]);
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { cname_target: "y.example.net" });
    await again(object, 300);
    expect(endpoint(object)?.endpoints).toEqual([{ ...made, targets: ["y.example.net"], recordTTL: 120 }]);
  });

  it("is not owned by an object that leaves its remote, so that the record stays", async () => {
    const object = await given({ deletionPolicy: "Retain", dns: { externalDNS } });
    expect(endpoint(object)).toMatchObject({ owned: false });
  });

  it("without checks is corrected as well, and deleted when the spec disables it", async () => {
    const object = await given({ dns: { check: false, externalDNS } });
    expect(scene.dns.asked).toEqual([]);
    expect(ready(object)).toMatchObject({ status: "Unknown", reason: "Pending" });
    expect(await again(object)).toEqual({ requeueAfterSeconds: 300 });
    scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com" });
    await again(object);
    expect(endpoint(object)).toBeUndefined();
    expect(ready(object)).toBeUndefined();
  });

  it("is deleted when the spec disables it again, also if there was none when this process began", async () => {
    const object = await given({ dns: { check: true } });
    for (const round of ["once", "again"]) {
      scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com", dns: { externalDNS: {} } });
      await again(object);
      expect(endpoint(object), round).toBeDefined();
      scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com", dns: { check: true } });
      await again(object);
      expect(endpoint(object), round).toBeUndefined();
    }
  });

  it("that cannot be deleted when the spec disables it is deleted later", async () => {
    const object = await given({ dns: { externalDNS } });
    const remove = scene.cluster.endpoints.delete;
    scene.cluster.endpoints.delete = () => Promise.reject(new Retry("Pending", "Waiting for the Kubernetes API"));
    scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com" });
    expect(await again(object)).toEqual({ requeueAfterSeconds: 60 });
    expect(ready(object)).toMatchObject({ status: "False", message: "Waiting for the Kubernetes API" });
    scene.cluster.endpoints.delete = remove;
    await again(object, 60);
    expect(endpoint(object)).toBeUndefined();
    expect(ready(object)).toBeUndefined();
  });

  it("that cannot be written is reported by the condition, and affects nothing else", async () => {
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeDNSEndpoint") throw new Retry("DNSEndpointNotWritten", "Install the definition");
    };
    const object = await given({ dns: { externalDNS } });
    expect(ready(object)).toMatchObject({
      status: "False",
      reason: "DNSEndpointNotWritten",
      message: "Install the definition",
    });
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", reason: "Available" });
    expect(scene.condition(object, "Synced")?.status).toBe("True");
    scene.cluster.beforeWrite = () => {};
    expect(await again(object, 60)).toEqual({ requeueAfterSeconds: 60 });
    expect(endpoint(object)).toBeDefined();
    expect(ready(object)).toMatchObject({ reason: "DNSRecordMissing" });
  });
});

describe("the condition DNSReady", () => {
  const dns = { check: true };

  it.each<[string, readonly string[] | undefined, object]>([
    ["is True when the record is there", record.targets, { status: "True", reason: "Available" }],
    [
      "names a record that is missing",
      undefined,
      {
        reason: "DNSRecordMissing",
        message: "Make the DNS record web.example.com CNAME x.example.net: the resolver finds none",
      },
    ],
    [
      "says what is there instead",
      ["old.example.org"],
      {
        reason: "DNSRecordDiffers",
        message: "Correct the DNS record web.example.com CNAME x.example.net: it points to old.example.org",
      },
    ],
  ])("%s", async (_, targets, condition) => {
    if (targets) scene.dns.make([{ ...record, targets: [...targets] }]);
    expect(ready(await given({ dns }))).toMatchObject(condition);
  });

  it("waits for external-dns when that creates the record", async () => {
    const object = await given({ dns: { externalDNS: {} } });
    expect(ready(object)?.message).toBe(
      "Waiting for external-dns to make the DNS record web.example.com CNAME x.example.net",
    );
  });

  it("is Unknown while the resolver fails, which changes nothing else", async () => {
    scene.dns.make([record]);
    const object = await given({ dns });
    const before = scene.cluster.now(object).status?.conditions?.filter(({ type }) => type !== "DNSReady");
    scene.dns.failure = "ETIMEOUT";
    const result = await again(object, 60);
    expect(ready(object)).toMatchObject({ status: "Unknown", reason: "DNSLookupFailed" });
    expect(ready(object)?.message).toContain("ETIMEOUT for web.example.com");
    expect(scene.cluster.now(object).status?.conditions?.filter(({ type }) => type !== "DNSReady")).toEqual(before);
    expect(result).toEqual({ requeueAfterSeconds: 60 });
  });

  it("costs one query a minute for each name, however often the object is reconciled", async () => {
    const object = await given({ dns });
    const count = scene.dns.asked.length;
    for (const seconds of [10, 20, 20]) await again(object, seconds);
    expect(scene.dns.asked).toHaveLength(count);
    await again(object, 20);
    expect(scene.dns.asked.length).toBeGreaterThan(count);
  });

  it("names a wrong record before one that could not be checked", async () => {
    const object = await given({ dns }, { acme_challenge_cname_target: "acme.example.net" });
    scene.dns.check = async ({ name }) =>
      name.startsWith("_acme-challenge.")
        ? { state: "elsewhere", there: ["old.example.org"], hasTarget: false }
        : { state: "failed", message: "no answer" };
    await again(object);
    expect(ready(object)).toMatchObject({ status: "False", reason: "DNSRecordDiffers" });
    expect(ready(object)?.message).toContain("_acme-challenge.web.example.com");
  });

  it("does not depend on whether a former DNSEndpoint can be deleted, but lets errors of the program through", async () => {
    const object = await given({ dns });
    let fault: Error = new Retry("DNSEndpointNotWritten", "Install the definition");
    scene.cluster.endpoints.delete = () => Promise.reject(fault);
    await again(object);
    expect(ready(object)).toMatchObject({ reason: "DNSRecordMissing" });
    scene.restart();
    fault = new TypeError("a fault of the program");
    await expect(again(object)).rejects.toBe(fault);
    scene.cluster.endpoints.write = () => Promise.reject(fault);
    scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com", dns: { externalDNS: {} } });
    await expect(again(object)).rejects.toBe(fault);
  });

  it("costs one read of a former DNSEndpoint, and no request to Kubernetes after that", async () => {
    const object = await given({ dns });
    let looks = 0;
    scene.cluster.endpoints.delete = async () => {
      looks += 1;
    };
    for (let round = 0; round < 3; round++) await again(object, 300);
    expect(looks).toBe(1);
  });

  it("costs no request to the service where no certificate waits for the record", async () => {
    const object = await given({ dns });
    scene.dns.make([record]);
    await scene.clock.advance(60_000);
    scene.resetCounts();
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
    expect(ready(object)?.status).toBe("True");
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("is removed when the spec disables DNS", async () => {
    const object = await given({ dns });
    scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com" });
    await again(object);
    expect(ready(object)).toBeUndefined();
  });
});

describe("a certificate that waits for DNS", () => {
  const policy = { authority: "freeca", private_key_type: "rsa" };
  // long ago, so that the service is asked once an hour without a look at the record
  const startedAt = "2020-01-01T00:00:00Z";
  const job = { error_code: "DNS_ERROR", msg: "no CNAME", started_at: startedAt, retries_at: null };
  const waitingSince = (renewsAt: string | null) => ({
    certificate_management_policy: policy,
    certificate_management_status: { renews_at: renewsAt, provisioning_job: job },
  });
  const waiting = waitingSince(null);
  const issued = { certificate_management_status: { renews_at: "2027-01-01T00:00:00Z", provisioning_job: null } };
  const spec = { dns: { check: true } };

  /** The service has issued the certificate, and no list has shown it. */
  async function givenIssued(before: object = waiting, reason = "CertificateDNSError"): Promise<ManagedObject> {
    const object = await given(spec);
    const full = { ...before, cname_target: "x.example.net" };
    scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com", ...spec, certificateManagementPolicy: {} });
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), full);
    await again(object);
    expect(scene.reason(object)).toContain(reason);
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), issued);
    scene.resetCounts();
    return object;
  }

  it.each([
    ["has never been issued", waiting, "CertificateDNSError"],
    ["cannot be renewed", waitingSince("2025-01-01T00:00:00Z"), "CertificateRenewalFailing"],
  ])("is read again as soon as the record exists if it %s", async (_, before, reason) => {
    const object = await givenIssued(before, reason);
    scene.dns.make([record]);
    await scene.clock.advance(60_000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toHaveLength(1);
    expect(scene.reason(object)).toContain("Available");
    expect(ready(object)?.status).toBe("True");
  });

  it("is read again as soon as the record exists, also if that was missing for long", async () => {
    const object = await givenIssued();
    const change = (members: Record<string, unknown>) =>
      scene.gateway.change(ReservedDomain.resource, scene.idOf(object), members);
    change(waiting);
    for (let count = 0; count < 3; count += 1) await again(object, 15 * 60);
    change(issued);
    scene.resetCounts();
    scene.dns.make([record]);
    await scene.clock.advance(60_000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toHaveLength(1);
    expect(scene.reason(object)).toContain("Available");
  });

  it("is not read again for the record while the service is issuing it", async () => {
    const issuing = { certificate_management_status: { provisioning_job: { msg: "issuing", started_at: startedAt } } };
    const object = await givenIssued({ ...waiting, ...issuing }, "CertificateProvisioning");
    scene.dns.make([record]);
    await scene.clock.advance(60_000);
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("is read each minute for a while after the record appeared, and then as before", async () => {
    const object = await givenIssued();
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), waiting);
    scene.dns.make([record]);
    await scene.clock.advance(60_000);
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 60 });
    await scene.clock.advance(60_000);
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toHaveLength(1);
    await scene.clock.advance(15 * 60_000);
    await scene.resync(ReservedDomain);
    scene.resetCounts();
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.gateway.takeCalls()).toEqual([]);
  });
});

describe("in a namespace without the right to have records written", () => {
  it("an object that asks for it says which right is missing, and nothing is written", async () => {
    scene.dns.mayWriteAnywhere = false;
    const object = await given({ dns: { externalDNS: {} } });
    expect(scene.condition(object, "DNSReady")).toMatchObject({
      status: "False",
      reason: "DNSEndpointNotWritten",
      message: expect.stringContaining('externalDNS.namespaces: ["team-a"] in the chart'),
    });
    expect(endpoint(object)).toBeUndefined();
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("an object that says nothing of it has no records, although that is on for all", async () => {
    Object.assign(scene.dns, { mayWriteAnywhere: false, externalDNS: true });
    const object = await given({});
    expect(endpoint(object)).toBeUndefined();
    expect(scene.condition(object, "DNSReady")).toBeUndefined();
  });

  describe("what was written with the right by a process that died before it wrote the status", () => {
    let object: ManagedObject;

    beforeEach(async () => {
      scene.dns.externalDNS = true;
      object = await given();
      const { status = {} } = scene.cluster.now(object);
      const conditions = (status.conditions ?? []).filter(({ type }) => type !== "DNSReady");
      await scene.cluster.writeStatus(ReservedDomain, scene.cluster.now(object), { ...status, conditions });
      expect(endpoint(object)).toBeDefined();
      scene.dns.mayWriteAnywhere = false;
      scene.restart();
    });

    it("is deleted without it", async () => {
      await scene.reconcile(object);
      expect(endpoint(object)).toBeUndefined();
      expect(ready(object)).toBeUndefined();
    });

    it("is deleted before the domain is", async () => {
      await scene.deleteAndSettle(object);
      expect([endpoint(object), scene.cluster.exists(object)]).toEqual([undefined, false]);
    });
  });

  it("what was written with the right is deleted without it", async () => {
    const object = await given({ dns: { externalDNS: {} } });
    expect(endpoint(object)).toBeDefined();
    scene.dns.mayWriteAnywhere = false;
    scene.restart();
    await scene.reconcile(object);
    expect(endpoint(object)).toBeUndefined();
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.cluster.writes).toEqual([]);
  });
});
