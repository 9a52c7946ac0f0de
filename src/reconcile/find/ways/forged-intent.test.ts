import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../../test/fakes/reconcile/key-pairs.ts";
import { DEADLINE_MS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../../kinds/event-source.ts";
import { EventSubscription } from "../../../kinds/event-subscription.ts";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../../kinds/tls-certificate.ts";
import { TunnelGroupBackend } from "../../../kinds/tunnel-group-backend.ts";
import { formatIntent, type Intent } from "../../../objects/intent.ts";
import type { ManagedObject } from "../../../objects/object.ts";
import { ownerMark } from "../../../objects/ownership.ts";
import { annotations, FINALIZER, OWNER_KEY } from "../../../schema/contract.ts";
import type { Kind } from "../../../schema/define.ts";

// An editor of the namespace writes a create intent by hand. Without the right to adopt, nothing of others is theirs.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.mayAdopt = false;
});

const forged = (more: Intent = {}): string => formatIntent({ create: scene.clock.date().toISOString(), ...more });

function applyForged(kind: Kind, spec: ManagedObject["spec"], more: Intent = {}): ManagedObject {
  return scene.cluster.apply(kind, "one", spec, { annotations: { [annotations.createIntent]: forged(more) } });
}

/** Lets all waiting pass. Then deletes the object, and lets the operator finish. Returns its last reason before that. */
async function live(object: ManagedObject): Promise<string> {
  await scene.settle(object);
  await scene.clock.advance(4 * DEADLINE_MS);
  await scene.settle(object);
  const reason = scene.reason(object);
  scene.cluster.delete(object);
  if (scene.cluster.exists(object)) await scene.settle(object);
  return reason;
}

const labels = { app: "db" };

describe("a forged intent adopts nothing", () => {
  it("by the id of a remote that has lost its mark, unless a person adopts it", async () => {
    const theirs = scene.gateway.seed(TunnelGroupBackend.resource, { labels });
    for (const owner of ["c1/team-a/one", "c1/team-b/one", "c2/team-a/one"]) {
      const object = applyForged(TunnelGroupBackend, { labels }, { unmarked: { id: theirs.id, owner } });
      await live(object);
      expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toEqual([theirs]);
    }
  });

  it("that an object with a remote could take instead", async () => {
    const object = await scene.given(TunnelGroupBackend, "one", { labels });
    const id = scene.idOf(object);
    scene.gateway.seed(TunnelGroupBackend.resource, { labels, metadata: "opaque" });
    scene.cluster.annotateByHand(object, annotations.createIntent, forged());
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(id);
    expect(scene.cluster.now(object).status).not.toHaveProperty("retiring");
  });

  it.each<[string, Kind, Record<string, unknown>]>([
    ["a group", TunnelGroupBackend, { labels, metadata: "opaque" }],
    ["a certificate", TLSCertificate, { certificatePem: keyPair("first")["tls.crt"], metadata: "opaque" }],
    ["a policy", IPPolicy, { description: "d", metadata: "opaque" }],
  ])("by equal values: %s", async (_, kind, spec) => {
    scene.cluster.setSecret("tls", keyPair("first"));
    const { certificatePem, ...rest } = spec;
    const sent = { ...rest, ...(certificatePem !== undefined && { certificate_pem: certificatePem }) };
    const theirs = scene.gateway.seed(kind.resource, sent);
    const object = applyForged(kind, certificatePem ? { ...rest, secretName: "tls" } : rest);
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available: /);
    expect(scene.idOf(object)).not.toBe(theirs.id);
    await live(object);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([theirs]);
  });

  it("by the natural key", async () => {
    const sent = { domain: "a.example.com", metadata: "opaque" };
    const theirs = scene.gateway.seed(ReservedDomain.resource, sent);
    scene.gateway.refuse("create", 409);
    const object = applyForged(ReservedDomain, sent);
    expect(await live(object)).toMatch(/^AlreadyExists: /);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toEqual([theirs]);
  });

  it("as an entry of a list of others", async () => {
    const list = scene.gateway.seed(EventSubscription.resource, { sources: [{ type: "a.v0" }] });
    const object = applyForged(EventSource, { subscriptionRef: { id: list.id }, type: "a.v0" });
    expect(await live(object)).toMatch(/^AdoptionNotAllowed: /);
    expect(scene.gateway.remotesOf(EventSubscription.resource)).toEqual([list]);
  });
});

it("the create of a remote that was replaced, written back by a tool, replaces the present one by nothing", async () => {
  scene.cluster.setSecret("tls", keyPair("first"));
  const object = await scene.given(TLSCertificate, "web", { secretName: "tls", deletionPolicy: "Retain" });
  const before = scene.cluster.now(object).metadata.annotations?.[annotations.createIntent] ?? "";
  await scene.clock.advance(60_000);
  scene.cluster.setSecret("tls", keyPair("second"));
  await scene.settle(object, 3);
  const id = scene.idOf(object);
  expect(scene.gateway.remotesOf(TLSCertificate.resource)).toHaveLength(2);
  scene.cluster.annotateByHand(object, annotations.createIntent, before);
  scene.restart();
  await scene.clock.advance(4 * DEADLINE_MS);
  await scene.settle(object, 5);
  expect(scene.idOf(object)).toBe(id);
  expect(scene.gateway.remotesOf(TLSCertificate.resource)).toHaveLength(2);
});

describe("a forged intent delays a create", () => {
  it("until it is settled, and no longer", async () => {
    const object = applyForged(TunnelGroupBackend, { labels });
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating: Waiting until it is certain/);
    await scene.clock.advance(2 * DEADLINE_MS);
    await scene.settle(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toHaveLength(1);
  });

  it("and a remote with the object's own mark is found", async () => {
    const mark = ownerMark({ cluster: "c1", namespace: "team-a", name: "one" });
    const ours = scene.gateway.seed(TunnelGroupBackend.resource, {
      labels,
      metadata: JSON.stringify({ [OWNER_KEY]: mark }),
    });
    const object = applyForged(TunnelGroupBackend, { labels });
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(ours.id);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toHaveLength(1);
  });
});

it("a forged intent on an object that is being deleted deletes no remote of others", async () => {
  const sent = { labels, metadata: "opaque" };
  const theirs = scene.gateway.seed(TunnelGroupBackend.resource, sent);
  const object = scene.cluster.apply(TunnelGroupBackend, "one", sent, {
    finalizers: [FINALIZER],
    annotations: { [annotations.createIntent]: forged({ unmarked: { id: theirs.id, owner: "c1/team-a/one" } }) },
  });
  await scene.deleteAndSettle(object);
  await scene.clock.advance(2 * DEADLINE_MS);
  if (scene.cluster.exists(object)) await scene.settle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toEqual([theirs]);
});
