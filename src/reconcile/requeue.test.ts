import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../test/fakes/reconcile/key-pairs.ts";
import { RESYNC_SECONDS, Scene } from "../../test/fakes/reconcile/scene.ts";
import { CertificateAuthority } from "../kinds/certificate-authority.ts";
import { EventDestination } from "../kinds/event-destination.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { SSHHostCertificate } from "../kinds/ssh-host-certificate.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const resync = { requeueAfterSeconds: RESYNC_SECONDS };
const target = { monitoring: { apiKeyRef: { name: "dd", key: "api" } } };
const caPemFrom = { configMapKeyRef: { name: "ca", key: "pem" } };

describe("a settled object", () => {
  it.each([
    ["whose inputs are all watched is not due", IPPolicy, {}, {}],
    ["with a Secret is due at the next resync", EventDestination, { target }, resync],
    ["with a ConfigMap is due at the next resync", CertificateAuthority, { caPemFrom }, resync],
  ])("%s", async (_, kind, spec, expected) => {
    scene.cluster.setSecret("dd", { api: "key" });
    scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    expect(await scene.reconcile(await scene.given(kind, "one", spec))).toEqual(expected);
  });

  it("that only observes reads no Secret, and is not due for one", async () => {
    const { id } = scene.gateway.seed(EventDestination.resource, { target: { monitoring: {} } });
    const spec = { managementPolicy: "ObserveOnly", adopt: { id }, target } as const;
    expect(await scene.reconcile(await scene.given(EventDestination, "one", spec))).toEqual({});
    expect(scene.cluster.secretReads).toEqual([]);
  });
});

describe("a certificate that the operator renews is due again", () => {
  const hour = 3_600_000;

  const given = async (renewBefore: string) => {
    const begin = scene.clock.date().getTime();
    const at = (time: number) => new Date(begin + time).toISOString();
    scene.gateway.normalise = (remote) => ({ ...remote, valid_after: at(0), valid_until: at(10 * hour) });
    const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: "ssh-ed25519 AAAA", renewBefore };
    return scene.given(SSHHostCertificate, "host", spec);
  };

  it("at the next resync, long before its renewal", async () => {
    expect(await scene.reconcile(await given("1h"))).toEqual(resync);
  });

  it("at its renewal, when that comes before the next resync", async () => {
    const object = await given("1h");
    await scene.clock.advance(9 * hour - 100_000);
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: expect.closeTo(100, -1) });
    await scene.clock.advance(100_000);
    scene.gateway.takeCalls();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain("create");
  });

  it("less and less often, if each new certificate ends before the time that the service tells", async () => {
    const object = await given("1h");
    await scene.clock.advance(11 * hour);
    await scene.settle(object, 12);
    expect(scene.reason(object)).toMatch(
      /^UnexpectedResponse: .*POST \/ssh_host_certificates: shcrt_\d+ was created, and by the Date of the service's answers has to be renewed at once/,
    );
    const creates = () => scene.gateway.everyCall.filter(({ verb }) => verb === "create").length;
    const before = { at: scene.clock.now(), creates: creates() };
    // each delay is random, up to five minutes
    await scene.settle(object, 60);
    expect(creates()).toBeGreaterThan(before.creates);
    expect((scene.clock.now() - before.at) / (creates() - before.creates)).toBeGreaterThan(30_000);
    expect(scene.gateway.remotesOf(SSHHostCertificate.resource).length).toBeLessThanOrEqual(2);
  });

  it("at the next resync, also after its renewal was due, if the object only observes", async () => {
    const begin = scene.clock.date();
    const until = new Date(begin.getTime() + 10 * hour);
    const { id } = scene.gateway.seed(SSHHostCertificate.resource, {
      ssh_certificate_authority_id: "sshca_1",
      public_key: "ssh-ed25519 AAAA",
      valid_after: begin.toISOString(),
      valid_until: until.toISOString(),
    });
    const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: "ssh-ed25519 AAAA", adopt: { id } };
    const object = await scene.given(SSHHostCertificate, "host", { ...spec, managementPolicy: "ObserveOnly" });
    await scene.clock.advance(9 * hour);
    expect(await scene.reconcile(object)).toEqual(resync);
  });
});

describe("an object that the service refuses is due again", () => {
  it.each([
    ["when it is tried again, if its spec refers to nothing", IPPolicy, {}, 1800],
    ["at the next resync, if a person may correct a ConfigMap", CertificateAuthority, { caPemFrom }, RESYNC_SECONDS],
  ])("%s", async (_, kind, spec, requeueAfterSeconds) => {
    scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
    scene.gateway.refuse("create", 400);
    expect(await scene.reconcile(scene.cluster.apply(kind, "one", spec))).toEqual({ requeueAfterSeconds });
  });
});

it.each([
  [1, 1],
  [40, 10],
  [3600, 30],
])("a Secret that is missing for %i seconds is looked for again after %i", async (missing, requeueAfterSeconds) => {
  const object = await scene.apply(EventDestination, "one", { target });
  await scene.clock.advance(missing * 1000);
  expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: expect.closeTo(requeueAfterSeconds, 1) });
});
