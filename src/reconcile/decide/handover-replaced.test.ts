import { beforeEach, describe, expect, it } from "vitest";
import { keyPair, type PairName } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

// A certificate moves from team-a/old to team-b/new, and one of them replaces it.

let scene: Scene;
let old: ManagedObject;

beforeEach(async () => {
  scene = new Scene({ extraKinds: [TLSCertificate] });
  renew("first");
  old = await scene.given(TLSCertificate, "old", { secretName: "tls" });
});

const renew = (name: PairName) => scene.cluster.setSecret("tls", keyPair(name));
const release = () => scene.cluster.annotateByHand(old, annotations.releaseTo, "team-b/new");
const applyNew = (id = scene.idOf(old)) =>
  scene.cluster.apply(
    TLSCertificate,
    "new",
    { secretName: "tls", adopt: { id, from: "team-a/old" } },
    { namespace: "team-b" },
  );
const ids = () => scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id);

/** Something that refers to the present certificate, and goes on doing so. */
async function givenUser(): Promise<ManagedObject> {
  const spec = { domain: "a.example.com", certificateRef: { id: scene.idOf(old) } };
  const user = scene.cluster.apply(ReservedDomain, "web", spec);
  await scene.settle(user, 3);
  return user;
}

async function pass(...objects: readonly ManagedObject[]): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    await scene.clock.advance(60_000);
    for (const object of objects.filter((one) => scene.cluster.exists(one))) await scene.reconcile(object);
  }
}

describe("an object that is deleted and released, and has replaced a certificate that is still used", () => {
  let user: ManagedObject;

  beforeEach(async () => {
    user = await givenUser();
    renew("second");
    await scene.settle(old, 3);
    release();
  });

  it("deletes it as soon as it is free, and hands the present one over", async () => {
    const id = scene.idOf(old);
    const to = applyNew();
    await scene.delete(old);
    await pass(to, old);
    expect(scene.reason(old)).toBe('InUse: Delete or change ReservedDomain "web" first: it uses this TLSCertificate');
    await scene.deleteAndSettle(user);
    await pass(to, old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(scene.idOf(to)).toBe(id);
    expect(ids()).toEqual([id]);
  });

  it("does not wait for an object that refers to it by name, and has the present one", async () => {
    await scene.apply(ReservedDomain, "other", { domain: "b.example.com", certificateRef: { name: "old" } });
    await scene.deleteAndSettle(user);
    await scene.delete(old);
    await pass(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(ids()).toEqual(["cert_3"]);
  });

  it("leaves it when the operator is being uninstalled, and what uses it stays", async () => {
    scene.cluster.annotateByHand(old, annotations.uninstalling, "2026-01-01T00:00:00Z");
    await scene.delete(old);
    expect(scene.reason(old)).toMatch(/^InUse: /);
    scene.cluster.vanish(user);
    await pass(old);
    expect(scene.reason(old)).toMatch(/^LeftBehind: Leaving cert_1 in the account: /);
  });

  it("leaves it with a warning when its namespace goes away, and what uses it stays", async () => {
    scene.cluster.namespaceDeleting = true;
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(true);
    scene.cluster.vanish(user);
    await pass(old);
    expect(scene.cluster.exists(old)).toBe(false);
    expect(scene.cluster.events).toContainEqual(
      expect.objectContaining({ type: "Warning", note: expect.stringMatching(/^Left cert_1 in the account: /) }),
    );
  });

  it("deletes it in its turn when its namespace goes away, although many are deleted in that minute", async () => {
    scene = new Scene({ deletesPerMinute: 1, extraKinds: [TLSCertificate] });
    renew("first");
    old = await scene.given(TLSCertificate, "old", { secretName: "tls" });
    renew("second");
    await scene.reconcile(old);
    release();
    expect(scene.account.deleteLimiter.secondsUntilTurn("another", "team-c")).toBe(0);
    scene.cluster.namespaceDeleting = true;
    await scene.delete(old);
    expect([scene.cluster.exists(old), ids()]).toEqual([true, ["cert_1", "cert_2"]]);
    await scene.clock.advance(60_000);
    await scene.settle(old, 3);
    expect([scene.cluster.exists(old), ids()]).toEqual([false, ["cert_2"]]);
  });
});

it("a certificate whose upload was not answered before the release goes with the object that is released", async () => {
  renew("second");
  scene.gateway.loseAnswer("create");
  await scene.reconcile(old);
  release();
  await scene.deleteAndSettle(old);
  expect(scene.cluster.exists(old)).toBe(false);
  expect(ids()).toEqual(["cert_1"]);
});

it("a certificate whose upload was not answered stays with the release when the former one is gone", async () => {
  scene.gateway.drop(TLSCertificate.resource, "cert_1");
  await scene.resync(TLSCertificate);
  scene.gateway.loseAnswer("create");
  await scene.reconcile(old);
  release();
  await scene.deleteAndSettle(old);
  expect(scene.cluster.exists(old)).toBe(false);
  expect(ids()).toEqual(["cert_2"]);
});

describe("an object that takes a certificate and replaces it at once", () => {
  it("does not hold up the deletion of the former object", async () => {
    release();
    renew("second");
    const to = applyNew();
    await scene.settle(to, 5);
    await scene.reconcile(old);
    expect(scene.condition(old, "Paused")?.message).toBe(
      "Delete this object, or remove the annotation release-to to go on: TLSCertificate team-b/new has cert_2",
    );
    await scene.delete(old);
    expect(scene.cluster.exists(old)).toBe(false);
  });

  it("deletes it, although it bears the mark of the former object", async () => {
    release();
    renew("second");
    const to = applyNew();
    for (const object of [to, old, to]) await scene.reconcile(object);
    await pass(to);
    expect(scene.idOf(to)).toBe("cert_2");
    expect(ids()).toEqual(["cert_2"]);
  });
});
