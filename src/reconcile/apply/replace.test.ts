import { beforeEach, describe, expect, it } from "vitest";
import { keyPair, type PairName } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { annotations } from "../../schema/contract.ts";

const pem = (name: PairName) => keyPair(name)["tls.crt"];

let scene: Scene;

beforeEach(() => {
  scene = new Scene({ extraKinds: [TLSCertificate] });
  scene.cluster.setSecret("tls", keyPair("first"));
});

describe("a renewed certificate", () => {
  it("is uploaded beside the old one, which is deleted afterwards", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe("cert_2");
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([
      { id: "cert_2", certificate_pem: pem("second") },
    ]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.cluster.now(object).status?.["retiring"]).toBeUndefined();
  });

  it.each([
    ["an answer", undefined],
    ["a lost answer", "create"],
  ] as const)("leaves the old one of an object that retains its remotes, after %s", async (_, lost) => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls", deletionPolicy: "Retain" });
    scene.cluster.setSecret("tls", keyPair("second"));
    if (lost) scene.gateway.swallow(lost);
    await scene.settle(object, 5);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toHaveLength(2);
    expect(scene.cluster.now(object).status?.["retiring"]).toBeUndefined();
    if (!lost)
      expect(scene.cluster.events).toContainEqual(
        expect.objectContaining({ note: expect.stringContaining("which stays in the account") }),
      );
  });

  it("replaces the old one, also when the upload failed and the status was lost", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    const old = scene.idOf(object);
    scene.cluster.setSecret("tls", keyPair("second"));
    scene.gateway.swallow("create", "unsent");
    await scene.reconcile(object);
    scene.cluster.setSecret("tls", keyPair("third"));
    scene.cluster.loseStatus(object);
    scene.restart();
    await scene.settle(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.idOf(object)).not.toBe(old);
    // Nothing says any more that the old one was to be replaced.
    expect(scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id)).toEqual([old, scene.idOf(object)]);
  });

  it("replaces the old one, also when the status was lost and the process dies after the upload", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.loseStatus(object);
    scene.cluster.setSecret("tls", keyPair("second"));
    scene.restart();
    scene.gateway.loseAnswer("create");
    await scene.settle(object, 2);
    scene.restart();
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([
      { id: scene.idOf(object), certificate_pem: pem("second") },
    ]);
  });

  it("keeps the old one while a create of a domain may refer to it", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.gateway.swallow("create");
    const domain = await scene.apply(ReservedDomain, "web", {
      domain: "a.example.com",
      certificateRef: { name: "web" },
    });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toHaveLength(2);
    await scene.settle(domain, 5);
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toMatchObject([{ certificate: { id: "cert_2" } }]);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([{ id: "cert_2" }]);
  });

  it.each([
    ["by its id, which a renewal does not change", { id: "cert_1" }, ["cert_1", "cert_2"]],
    ["by name, which then means the new one", { name: "web" }, ["cert_2"]],
  ])("keeps the old one, or not, while an object without a remote refers to it %s", async (_, certificateRef, left) => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    const domain = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com", certificateRef });
    scene.cluster.annotateByHand(domain, annotations.paused, "true");
    await scene.reconcile(domain);
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.settle(object, 5);
    expect(scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id)).toEqual(left);
  });

  /** The old certificate stays beside the new one, for an object that names its id. */
  async function renewedInUse(): Promise<{ object: ManagedObject; user: ManagedObject }> {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    const user = scene.cluster.apply(ReservedDomain, "web", {
      domain: "a.example.com",
      certificateRef: { id: scene.idOf(object) },
    });
    await scene.settle(user, 3);
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.settle(object, 3);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "cert_3", retiring: ["cert_1"] });
    return { object, user };
  }

  it("asks at most every five minutes, in the end, whether something without an object uses the old one", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", certificate: { id: "cert_1" } });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.settle(object, 3);
    await scene.clock.advance(3_600_000);
    await scene.reconcile(object);
    scene.gateway.takeCalls();
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await scene.clock.advance(60_000);
      await scene.reconcile(object);
    }
    expect(scene.gateway.takeCalls().length).toBeLessThanOrEqual(13);
  });

  it("keeps the old one when it takes the place of the new one again, which somebody has deleted", async () => {
    const { object, user } = await renewedInUse();
    scene.gateway.drop(TLSCertificate.resource, "cert_3");
    scene.cluster.setSecret("tls", keyPair("first"));
    await scene.resync(TLSCertificate, object);
    await scene.settle(object, 3);
    expect(scene.idOf(object)).toBe("cert_1");
    await scene.deleteAndSettle(user);
    await scene.clock.advance(3_600_000);
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([{ id: "cert_1" }]);
  });

  it("is uploaded again when it is renewed again, and the one in between is deleted as well", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    scene.cluster.setSecret("tls", keyPair("third"));
    // Deletes the first certificate and uploads the third.
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "cert_3", retiring: ["cert_2"] });
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([
      { id: "cert_3", certificate_pem: pem("third") },
    ]);
  });

  it("stays as it is while its Secret has a pair that does not fit, and is replaced once it fits", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", { ...keyPair("second"), "tls.key": keyPair("third")["tls.key"] });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    const message = 'Correct Secret "tls": "tls.key" is the key of no certificate in key "tls.crt"';
    expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "SecretNotReady", message });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([
      { id: "cert_1" },
      { id: "cert_2", certificate_pem: pem("second") },
    ]);
  });

  it.each([
    [400, 'SecretNotReady: Correct Secret "tls": the service refused the new content: '],
    [402, "QuotaExceeded: Raise the limit of the account, or delete what you need no more in it: "],
  ])("stays Ready with the old one when the service answers %i to the new one", async (status, reported) => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    scene.gateway.refuse("create", status);
    for (let looks = 0; looks < 2; looks += 1) {
      await scene.reconcile(object);
      expect(scene.reason(object)).toMatch(/^Available/);
      const { reason, message } = scene.condition(object, "Synced") ?? {};
      expect(`${reason}: ${message}`).toContain(reported);
      await scene.clock.advance(60_000);
    }
    expect(scene.gateway.takeCalls().filter((call) => call === "create")).toHaveLength(1);
    scene.cluster.setSecret("tls", keyPair("third"));
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([{ certificate_pem: pem("third") }]);
  });

  it("is found after a create whose answer was lost, and not the first, which could not be deleted yet", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    scene.cluster.setSecret("tls", keyPair("third"));
    scene.gateway.refuse("delete", 400);
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "cert_2", retiring: ["cert_1"] });
    await scene.settle(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "cert_3" });
    await scene.clock.advance(3_600_000);
    await scene.settle(object);
    const certificates = scene.gateway.remotesOf(TLSCertificate.resource);
    expect(certificates).toMatchObject([{ id: "cert_3", certificate_pem: pem("third") }]);
  });

  it("is replaced again although the first cannot be deleted, which is tried less and less often", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    const inUse = () => scene.gateway.refuse("delete", 400);
    for (const name of ["second", "third", "fourth"] as const) {
      inUse();
      scene.cluster.setSecret("tls", keyPair(name));
      await scene.reconcile(object);
      await scene.clock.advance(3_000);
      for (let deletes = 0; deletes < 3; deletes += 1) inUse();
      await scene.reconcile(object);
    }
    expect(scene.cluster.now(object).status).toMatchObject({
      id: "cert_4",
      retiring: ["cert_1", "cert_2", "cert_3"],
    });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.gateway.takeCalls();
    const reads = scene.cluster.secretReads.length;
    for (let looks = 0; looks < 10; looks += 1) {
      for (let deletes = 0; deletes < 3; deletes += 1) inUse();
      const result = await scene.reconcile(object);
      await scene.clock.advance((result as { requeueAfterSeconds: number }).requeueAfterSeconds * 1000);
    }
    expect(scene.cluster.secretReads.length - reads).toBe(10);
    expect(scene.clock.now()).toBeGreaterThan(30 * 60_000);
  });

  it("is replaced however many cannot be deleted, and the oldest of too many is left with an event", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    const deletes = scene.gateway.asClient();
    deletes.delete = async () => {
      throw new GatewayError({
        kind: "refused",
        status: 400,
        method: "DELETE",
        route: "/tls_certificates",
        problem: "in use",
      });
    };
    for (let renewal = 0; renewal < 25; renewal += 1) {
      scene.cluster.setSecret("tls", keyPair(renewal % 2 === 0 ? "second" : "first"));
      await scene.settle(object, 2);
    }
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toHaveLength(26);
    const { status } = scene.cluster.now(object);
    const retiring = Array.from({ length: 20 }, (_, at) => `cert_${at + 6}`);
    expect(status).toMatchObject({ id: "cert_26", retiring });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    const left = scene.cluster.events.filter(({ reason }) => reason === "InUse").map(({ note }) => note);
    expect(left).toHaveLength(5);
    expect(left[0]).toMatch(/^Delete cert_1 in the account, once nothing uses it: /);
  });

  it("is deleted with its object, with all earlier ones that could not be deleted", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    for (const name of ["second", "third"] as const) {
      scene.cluster.setSecret("tls", keyPair(name));
      await scene.reconcile(object);
      scene.memory.of(object).deferDelete("cert_1", { base: 3600, cap: 3600, jitter: 0 });
    }
    scene.cluster.delete(object);
    await scene.settle(object, 3);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it.each(["the next reconcile", "a deletion"])(
    "leaves the old one at %s when another cluster has marked it",
    async (at) => {
      const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
      scene.cluster.setSecret("tls", keyPair("second"));
      await scene.reconcile(object);
      const metadata = withOwnerMark(undefined, { cluster: "c2", namespace: "team-b", name: "web" });
      scene.gateway.change(TLSCertificate.resource, "cert_1", { metadata });
      scene.restart();
      if (at === "a deletion") scene.cluster.delete(object);
      await scene.settle(object, 3);
      expect(scene.gateway.remote(TLSCertificate.resource, "cert_1")).toMatchObject({ metadata });
      if (at === "a deletion") expect(scene.cluster.exists(object)).toBe(false);
      else expect(scene.cluster.now(object).status?.retiring).toBeUndefined();
    },
  );

  const normalised = pem("fourth");

  it("is not uploaded again and again when the service normalises it", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, certificate_pem: normalised });
    const object = scene.cluster.apply(TLSCertificate, "web", { secretName: "tls" });
    await scene.settle(object, 30);
    expect(scene.gateway.takeCalls().filter((call) => call === "create").length).toBeLessThanOrEqual(2);
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteNormalises" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.restart();
    await scene.settle(object, 3);
    expect(scene.gateway.takeCalls()).not.toContain("create");
  });

  it("is uploaded when its Secret changes, also when the service normalises it", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, certificate_pem: normalised });
    const object = scene.cluster.apply(TLSCertificate, "web", { secretName: "tls" });
    await scene.settle(object, 10);
    scene.gateway.takeCalls();
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.settle(object, 10);
    expect(scene.gateway.takeCalls().filter((call) => call === "create")).toHaveLength(1);
  });
});

describe("a replacement during which the status was lost", () => {
  const renew = () => scene.cluster.setSecret("tls", keyPair("second"));

  /** Removes the status, as a restore from a backup does, and starts a new process. */
  function restore(object: ManagedObject): void {
    scene.cluster.loseStatus(object);
    scene.restart();
  }

  const certificates = () => scene.gateway.remotesOf(TLSCertificate.resource);

  /** An object whose replacement was carried out or not, and whose status was lost then. */
  async function interrupted(mishap: "swallow" | "loseAnswer", more: ManagedObject["spec"] = {}) {
    const object = await scene.given(TLSCertificate, "web", { ...more, secretName: "tls" });
    renew();
    scene.gateway[mishap]("create");
    await scene.reconcile(object);
    restore(object);
    return object;
  }

  describe.each([
    ["JSON", {}],
    ["a text that leaves no room for an owner mark", { metadata: "a text" }],
  ])("with %s as metadata", (_, more) => {
    it.each(["swallow", "loseAnswer"] as const)("makes one, and leaves the old one (%s)", async (mishap) => {
      const object = await interrupted(mishap, more);
      await scene.settle(object);
      const ids = certificates().map(({ id }) => id);
      expect(ids).toEqual(["cert_1", scene.idOf(object)]);
      expect(scene.gateway.remote(TLSCertificate.resource, scene.idOf(object))).toMatchObject({
        certificate_pem: pem("second"),
      });
    });

    it("deletes with the object what the create made, and nothing else", async () => {
      const object = await interrupted("loseAnswer", more);
      await scene.deleteAndSettle(object);
      expect(scene.cluster.exists(object)).toBe(false);
      expect(certificates()).toMatchObject([{ id: "cert_1" }]);
    });
  });

  it("tells of the old remote, which bears the mark as well", async () => {
    const object = await interrupted("loseAnswer");
    await scene.settle(object);
    expect(scene.cluster.events.map(({ note }) => note).join()).toContain("cert_1");
  });

  it.each(["swallow", "loseAnswer"] as const)("does not come back to one that was adopted (%s)", async (mishap) => {
    const { id } = scene.gateway.seed(TLSCertificate.resource, { certificate_pem: pem("first") });
    const object = await interrupted(mishap, { adopt: { id } });
    await scene.settle(object);
    const created = scene.idOf(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(certificates().map((one) => one.id)).toEqual(mishap === "swallow" ? [id, created] : [id, "cert_2"]);
    restore(object);
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(created);
    await scene.deleteAndSettle(object);
    expect(certificates().map((one) => one.id)).toEqual([id]);
  });

  it("leaves the old remote that was adopted also when the object is deleted and no new one was created", async () => {
    const { id } = scene.gateway.seed(TLSCertificate.resource, { certificate_pem: pem("first") });
    await scene.clock.advance(3_600_000);
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls", adopt: { id } });
    renew();
    scene.gateway.swallow("create");
    await scene.reconcile(object);
    restore(object);
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(certificates()).toMatchObject([{ id }]);
  });

  it("leaves the old remote alone when another cluster has marked it", async () => {
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    renew();
    scene.gateway.swallow("create");
    await scene.reconcile(object);
    restore(object);
    const metadata = withOwnerMark(undefined, { cluster: "c2", namespace: "team-b", name: "web" });
    scene.gateway.change(TLSCertificate.resource, "cert_1", { metadata });
    await scene.settle(object);
    expect(certificates()).toMatchObject([
      { id: "cert_1", certificate_pem: pem("first"), metadata },
      { id: "cert_2", certificate_pem: pem("second") },
    ]);
  });
});

describe("a remote with replacement: Recreate", () => {
  it("is not recreated again and again when the service normalises a value", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, region: "eu" });
    const object = scene.cluster.apply(ReservedAddress, "db", { region: "us", replacement: "Recreate" });
    await scene.settle(object, 30);
    expect(scene.gateway.takeCalls().filter((call) => call === "create").length).toBeLessThanOrEqual(4);
    expect(scene.condition(object, "Drifted")).toMatchObject({ reason: "RemoteNormalises" });
  });
});

it("a recreated remote is found again although spec.adopt.id names the old one", async () => {
  const { id } = scene.gateway.seed(ReservedAddress.resource, { region: "eu" });
  const spec = { region: "us", adopt: { id }, replacement: "Recreate" as const };
  const object = scene.cluster.apply(ReservedAddress, "db", spec);
  await scene.settle(object, 4);
  const recreated = scene.idOf(object);
  scene.cluster.loseStatus(object);
  scene.restart();
  await scene.settle(object, 4);
  expect(scene.idOf(object)).toBe(recreated);
  expect(scene.gateway.remotesOf(ReservedAddress.resource)).toMatchObject([{ id: recreated, region: "us" }]);
});

describe("an adopted certificate", () => {
  const adopting = async (undocumented: boolean, refusal?: number) => {
    scene = new Scene({ undocumented });
    scene.cluster.setSecret("tls", keyPair("first"));
    const { id } = scene.gateway.seed(TLSCertificate.resource, { certificate_pem: pem("first") });
    if (refusal) for (let calls = 0; calls < 5; calls += 1) scene.gateway.refuse("update", refusal);
    const object = scene.cluster.apply(TLSCertificate, "web", { secretName: "tls", adopt: { id } });
    await scene.settle(object, 3);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    return { remotes: scene.gateway.remotesOf(TLSCertificate.resource), id };
  };

  it.each<[string, boolean, number | undefined]>([
    ["may not be tried", false, undefined],
    ["is refused", true, 405],
  ])("is not replaced to get an owner mark when an update %s", async (_, undocumented, refusal) => {
    const { remotes, id } = await adopting(undocumented, refusal);
    expect(remotes).toMatchObject([{ id, metadata: null }]);
  });

  it("gets the owner mark when it can be updated", async () => {
    const { remotes, id } = await adopting(true);
    expect(remotes).toMatchObject([{ id, metadata: expect.stringContaining("c1/team-a/web") }]);
  });
});
