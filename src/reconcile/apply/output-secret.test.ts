import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../../kinds/api-key.ts";
import { SSHHostCertificate } from "../../kinds/ssh-host-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated, Retry } from "../../objects/reconcile-error.ts";
import { annotations, secretAnnotations } from "../../schema/contract.ts";
import type { SecretValue } from "../cluster.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}`, certificate: `of ${remote.id}` });
});

const token = (name: string) => scene.cluster.secretNow(name)?.data["token"];
const owners = (name: string) => scene.cluster.secretNow(name)?.owners;

function secretOf(name: string): SecretValue {
  const secret = scene.cluster.secretNow(name);
  if (!secret) throw new TypeError(`no Secret ${name}`);
  return secret;
}

/** An edit of the whole spec, and one reconcile. */
async function edit(object: ManagedObject, spec: object): Promise<void> {
  await scene.apply(APIKey, object.metadata.name, { tokenSecretName: "ci", ...spec });
}

describe("a token that is shown once", () => {
  let object: ManagedObject;

  beforeEach(async () => {
    object = await scene.given(APIKey, "ci", { tokenSecretName: "ci" });
    scene.resetCounts();
  });

  it("is written once", async () => {
    await scene.reconcile(object);
    await scene.resync(APIKey, object);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("is in a Secret that is deleted with the object, unless the key stays", async () => {
    expect(owners("ci")).toEqual([object.metadata.uid]);
    await edit(object, { deletionPolicy: "Retain" });
    expect(owners("ci")).toEqual([]);
    await edit(object, { deletionPolicy: "Delete" });
    expect(owners("ci")).toEqual([object.metadata.uid]);
    scene.cluster.annotateByHand(object, annotations.orphan, "true");
    await scene.reconcile(object);
    expect(owners("ci")).toEqual([]);
    scene.cluster.annotateByHand(object, annotations.orphan, "false");
    await edit(object, { managementPolicy: "ObserveOnly" });
    expect(owners("ci")).toEqual([]);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("create"))).toEqual([]);
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("is in a Secret without an owner when the object is released, or retained while the service is away", async () => {
    scene.cluster.annotateByHand(object, annotations.releaseTo, "team-b/ci");
    await scene.reconcile(object);
    expect(owners("ci")).toEqual([]);
    scene.cluster.removeAnnotation(object, annotations.releaseTo);
    await scene.reconcile(object);
    expect(owners("ci")).toEqual([object.metadata.uid]);
    scene.restart();
    scene.gateway.swallow("list");
    await edit(object, { deletionPolicy: "Retain" });
    expect(scene.condition(object, "Synced")?.reason).toBe("ServiceUnavailable");
    expect(owners("ci")).toEqual([]);
  });

  it("stays when the CRD is deleted, and when the policy was changed with the deletion", async () => {
    scene.cluster.kindsDeleting.add("APIKey");
    await scene.delete(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(owners("ci")).toEqual([]);
    expect(token("ci")).toBe("token of ak_1");
  });

  it("moves to the Secret that the spec has come to name", async () => {
    await edit(object, { tokenSecretName: "next" });
    expect(token("next")).toBe("token of ak_1");
    expect(owners("next")).toEqual([object.metadata.uid]);
    expect(token("ci")).toBeUndefined();
    expect(scene.cluster.now(object).status?.outputSecret).toBe("next");
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("moves also when the process dies in between", async () => {
    scene.cluster.apply(APIKey, "ci", { tokenSecretName: "next" });
    scene.cluster.beforeWrite = (write) => {
      if (write === "discarded Secret") throw new Outdated("killed");
    };
    await scene.reconcile(object);
    expect([token("ci"), token("next")]).toEqual(["token of ak_1", "token of ak_1"]);
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await scene.settle(object);
    expect([token("ci"), token("next")]).toEqual([undefined, "token of ak_1"]);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("create"))).toEqual([]);
  });

  it("does not move to a Secret of somebody else", async () => {
    scene.cluster.setSecret("mine", { token: "mine" });
    await edit(object, { tokenSecretName: "mine" });
    expect(scene.reason(object)).toMatch(/^SecretNotReady: Choose another spec.tokenSecretName/);
    expect([token("mine"), token("ci")]).toEqual(["mine", "token of ak_1"]);
  });

  it("leaves a Secret of somebody else that has taken the place of its own, when the spec names another", async () => {
    scene.cluster.setSecret("ci", { token: "theirs" });
    await edit(object, { tokenSecretName: "next" });
    await scene.settle(object, 4);
    expect(token("ci")).toBe("theirs");
    expect(token("next")).toBe(`token of ${scene.idOf(object)}`);
  });

  it("stays in the Secret that has it when the spec was changed to another, and to retain the key, before the deletion", async () => {
    scene.cluster.apply(APIKey, "ci", { tokenSecretName: "next", deletionPolicy: "Retain" });
    await scene.delete(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(token("ci")).toBe("token of ak_1");
    expect(owners("ci")).toEqual([]);
  });

  it("is never mistaken for another text that somebody has put there", async () => {
    const secret = secretOf("ci");
    scene.cluster.restoreSecret("ci", { ...secret, data: { token: "rubbish" } });
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "False", reason: "SecretNotReady" });
    expect(scene.reason(object)).toMatch(
      /Put the former value back into key "token" of Secret "ci", or delete the Secret/,
    );
    scene.cluster.restoreSecret("ci", secret);
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("create"))).toEqual([]);
  });

  it("is never mistaken for that of another key: a key whose token could not be written is made anew", async () => {
    scene.gateway.drop(APIKey.resource, "ak_1");
    await scene.resync(APIKey);
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeSecret") throw new Retry("Forbidden", "not now");
    };
    await scene.reconcile(object);
    expect([scene.idOf(object), token("ci")]).toEqual(["ak_2", "token of ak_1"]);
    scene.cluster.beforeWrite = () => {};
    await scene.settle(object, 4);
    expect(scene.idOf(object)).not.toBe("ak_2");
    expect(token("ci")).toBe(`token of ${scene.idOf(object)}`);
    expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id: scene.idOf(object) }]);
  });

  it("gets its digest again when somebody has removed it from the Secret", async () => {
    const secret = secretOf("ci");
    const { [secretAnnotations.remoteID]: id = "" } = secret.annotations;
    scene.cluster.restoreSecret("ci", { ...secret, annotations: { [secretAnnotations.remoteID]: id } });
    await scene.reconcile(object);
    expect(scene.cluster.secretNow("ci")?.annotations).toEqual(secret.annotations);
    expect(token("ci")).toBe("token of ak_1");
  });
});

it("a value that is always shown is written under its new name, or nowhere", async () => {
  const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: "ssh-ed25519 AAAA" };
  const object = await scene.given(SSHHostCertificate, "host", { ...spec, certificateSecretName: "host" });
  const names = () => ["host", "next"].filter((name) => scene.cluster.secretNow(name));
  await scene.apply(SSHHostCertificate, "host", { ...spec, certificateSecretName: "next" });
  expect(names()).toEqual(["next"]);
  await scene.apply(SSHHostCertificate, "host", spec);
  expect(names()).toEqual([]);
  expect(scene.cluster.now(object).status?.outputSecret).toBeUndefined();
});

it.each<[string, () => void]>([
  [
    "was changed",
    () => scene.cluster.restoreSecret("host", { ...secretOf("host"), data: { "ssh-host-cert.pub": "x" } }),
  ],
  ["was deleted", () => scene.cluster.removeSecret("host")],
])("a value that is always shown is written again when its Secret %s", async (_, disturb) => {
  const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: "ssh-ed25519 AAAA", certificateSecretName: "host" };
  const object = await scene.given(SSHHostCertificate, "host", spec);
  await scene.reconcile(object);
  expect(scene.cluster.writes).toEqual([]);
  disturb();
  await scene.reconcile(object);
  expect(secretOf("host")).toMatchObject({
    data: { "ssh-host-cert.pub": `of ${scene.idOf(object)}` },
    owners: [object.metadata.uid],
  });
  expect(scene.cluster.writes).toEqual(["writeSecret"]);
});

describe("a certificate, which can be read again at any time,", () => {
  const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: "ssh-ed25519 AAAA", certificateSecretName: "host" };

  it("is created also when its Secret cannot be written yet", async () => {
    scene.cluster.beforeWrite = (write) => {
      if (write === "tryWriteSecret" || write === "writeSecret") throw new Retry("Forbidden", "not now");
    };
    const object = await scene.apply(SSHHostCertificate, "host", spec);
    expect(scene.reason(object)).toBe("Forbidden: not now");
    expect(scene.gateway.remotesOf(SSHHostCertificate.resource)).toMatchObject([{ id: scene.idOf(object) }]);
    scene.cluster.beforeWrite = () => {};
    await scene.settle(object, 2);
    expect(secretOf("host").data).toEqual({ "ssh-host-cert.pub": `of ${scene.idOf(object)}` });
  });

  it.each([[""], [null]])("is not written while the service answers %j in place of it", async (certificate) => {
    scene.gateway.normalise = (remote) => ({ ...remote, certificate });
    const object = await scene.apply(SSHHostCertificate, "host", spec);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
    expect(scene.cluster.secretNow("host")).toBeUndefined();
  });
});

it("no key is created while its Secret is somebody else's", async () => {
  scene.cluster.setSecret("ci", { token: "mine" });
  const object = await scene.apply(APIKey, "ci", { tokenSecretName: "ci" });
  expect(scene.reason(object)).toMatch(/^SecretNotReady: Choose another spec.tokenSecretName/);
  expect(scene.gateway.takeCalls()).not.toContain("create");
  expect(token("ci")).toBe("mine");
});

it("a value that is always shown is written for an adopted remote too, and its Secret is deleted with the object", async () => {
  const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: "ssh-ed25519 AAAA", certificateSecretName: "host" };
  const remote = { ssh_certificate_authority_id: "sshca_1", public_key: "ssh-ed25519 AAAA" };
  const { id } = scene.gateway.seed(SSHHostCertificate.resource, remote);
  const object = await scene.given(SSHHostCertificate, "host", { ...spec, adopt: { id } });
  expect(scene.cluster.secretNow("host")).toMatchObject({
    data: { "ssh-host-cert.pub": `of ${id}` },
    owners: [object.metadata.uid],
  });
  await scene.delete(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(owners("host")).toEqual([object.metadata.uid]);
});
