import { describe, expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { ed25519PublicKey } from "../../../tools/simulator/testing/samples.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

const world = useWorld();

const control = () => world.simulator.control;
const rows = () => control().objects("ssh_host_certificates");

const hostCertificate = (name: string, more: object = {}) =>
  manifest("SSHHostCertificate", name, {
    sshCertificateAuthorityId: "sshca_1",
    publicKey: ed25519PublicKey(),
    certificateSecretName: name,
    ...more,
  });

/** A certificate that is due for renewal in so many milliseconds, as if it had been signed long ago. */
async function dueIn(milliseconds: number, name: string, before: number, more: object = {}): Promise<KubeJSON> {
  await world.kube.apply(hostCertificate(name, more));
  const object = await world.ready("SSHHostCertificate", name);
  const end = Date.now() + before + milliseconds;
  const [after, until] = [new Date(end - YEAR), new Date(end)].map((time) => time.toISOString());
  control().patch(object.status.id, { created_at: after, valid_after: after, valid_until: until });
  const [seen] = await world.reconcileNow(object);
  return seen as KubeJSON;
}

const certificateIn = async (name: string): Promise<string> =>
  Buffer.from((await world.get("Secret", name)).data["ssh-host-cert.pub"], "base64").toString();

const renewed = (name: string, old: string): Promise<KubeJSON> =>
  world.until(`${old} is renewed`, async () => {
    const object = await world.get("SSHHostCertificate", name);
    return object.status.id !== old && object.status.retiring === undefined && object;
  });

test("a host certificate that begins later is not Ready until then", async () => {
  const validAfter = new Date(Date.now() + HOUR).toISOString();
  await world.kube.apply(hostCertificate("early", { validAfter }));
  const waiting = { status: "False", reason: "CertificateNotYetValid" };
  const early = await world.condition("SSHHostCertificate", "early", { type: "Ready", ...waiting });
  expect(conditionOf(early, "CertificateReady")).toMatchObject(waiting);
  expect(conditionOf(early, "Synced")).toMatchObject({ status: "True" });
  await world.kube.delete("SSHHostCertificate", "early");
  await world.gone("SSHHostCertificate", "early");
});

test("a host certificate whose time has come is Ready", async () => {
  await world.kube.apply(hostCertificate("later"));
  const object = await world.ready("SSHHostCertificate", "later");
  const begin = (milliseconds: number) => {
    control().patch(object.status.id, { valid_after: new Date(Date.now() + milliseconds).toISOString() });
    return world.reconcileNow(object);
  };
  const [early] = await begin(HOUR);
  expect(conditionOf(early, "Ready")).toMatchObject({ status: "False", reason: "CertificateNotYetValid" });
  const [now] = await begin(-1000);
  expect(conditionOf(now, "Ready")).toMatchObject({ status: "True" });
  await world.kube.delete("SSHHostCertificate", "later");
  await world.gone("SSHHostCertificate", "later");
});

describe("a host certificate that ends", () => {
  test("is renewed so long before its end, and its Secret has the new one", async () => {
    const before = await dueIn(1500, "bastion", 720 * HOUR, { renewBefore: "720h" });
    const first = await certificateIn("bastion");
    expect(first).toBe(before.status.certificate);
    const after = await renewed("bastion", before.status.id);
    expect(Date.parse(after.status.validUntil) - Date.now()).toBeGreaterThan(YEAR - HOUR);
    expect(await certificateIn("bastion")).toBe(after.status.certificate);
    expect(after.status.certificate).not.toBe(first);
    expect(rows().map(({ id }) => id)).toEqual([after.status.id]);
    const since = (object: KubeJSON) => conditionOf(object, "Ready")?.lastTransitionTime;
    expect(since(after)).toBe(since(before));
  });

  test("is renewed after two thirds of its time, unless the spec says when", async () => {
    const before = await dueIn(1500, "git", YEAR / 3);
    const after = await renewed("git", before.status.id);
    expect(await certificateIn("git")).toBe(after.status.certificate);
  });

  test("is renewed once, also when renewBefore is longer than its whole time", async () => {
    await world.kube.apply(hostCertificate("eager", { renewBefore: "87600h" }));
    const { status } = await world.ready("SSHHostCertificate", "eager");
    await world.quiet();
    expect((await world.get("SSHHostCertificate", "eager")).status.id).toBe(status.id);
  });

  test("is renewed by the next process when it ended while none was there", async () => {
    const before = await dueIn(2000, "restarted", 720 * HOUR, { renewBefore: "720h" });
    await world.operator.stop();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await world.startOperator();
    const after = await renewed("restarted", before.status.id);
    expect(await certificateIn("restarted")).toBe(after.status.certificate);
  });

  test("is not renewed when its end is in the spec", async () => {
    const validUntil = new Date(Date.now() + 8000).toISOString();
    await world.kube.apply(hostCertificate("final", { validUntil }));
    const { status } = await world.ready("SSHHostCertificate", "final");
    // nothing triggers a reconcile at the end of the certificate
    const ended = { type: "Ready", status: "False", reason: "CertificateExpired" };
    const after = await world.condition("SSHHostCertificate", "final", ended);
    expect(after.status.id).toBe(status.id);
    expect(conditionOf(after, "Stalled")?.message).toContain("Set a later spec.validUntil");
  });
});

describe("a host certificate whose spec changes", () => {
  test("is signed anew for other hosts, and renamed in place", async () => {
    await world.kube.apply(hostCertificate("hosts", { principals: ["a.example.org"] }));
    const before = await world.ready("SSHHostCertificate", "hosts");
    await world.kube.patch("SSHHostCertificate", "hosts", { spec: { description: "Two hosts" } });
    const described = await world.ready("SSHHostCertificate", "hosts");
    expect(described.status.id).toBe(before.status.id);
    await world.kube.patch("SSHHostCertificate", "hosts", { spec: { principals: ["a.example.org", "b.example.org"] } });
    const after = await renewed("hosts", before.status.id);
    expect(control().get(after.status.id)).toMatchObject({
      description: "Two hosts",
      principals: ["a.example.org", "b.example.org"],
    });
    expect(await certificateIn("hosts")).toBe(after.status.certificate);
  });
});

describe("the Secret of a host certificate", () => {
  test("is written again when it is lost or changed, from the certificate that is there", async () => {
    const { status } = await world.ready("SSHHostCertificate", "hosts");
    const wanted = manifest("SSHHostCertificate", "hosts", {});
    await world.kube.delete("Secret", "hosts");
    await world.reconcileNow(wanted);
    expect(await certificateIn("hosts")).toBe(status.certificate);
    await world.kube.patch("Secret", "hosts", { data: { "ssh-host-cert.pub": "" } });
    await world.reconcileNow(wanted);
    expect(await certificateIn("hosts")).toBe(status.certificate);
    expect((await world.ready("SSHHostCertificate", "hosts")).status.id).toBe(status.id);
  });

  test("is never written over one that is somebody else's", async () => {
    await world.kube.apply(secret("taken", { "ssh-host-cert.pub": "mine" }));
    await world.kube.apply(hostCertificate("refused", { certificateSecretName: "taken" }));
    await world.condition("SSHHostCertificate", "refused", { type: "Stalled", reason: "SecretNotReady" });
    expect(await certificateIn("taken")).toBe("mine");
    await world.kube.delete("Secret", "taken");
    const { status } = await world.ready("SSHHostCertificate", "refused");
    expect(await certificateIn("taken")).toBe(status.certificate);
  });

  test("need not be", async () => {
    await world.kube.apply(hostCertificate("bare", { certificateSecretName: undefined }));
    const { status } = await world.ready("SSHHostCertificate", "bare");
    expect(status.certificate).toMatch(/^ssh-ed25519-cert-v01@openssh.com /);
    expect(await world.get("Secret", "bare")).toBeUndefined();
  });
});
