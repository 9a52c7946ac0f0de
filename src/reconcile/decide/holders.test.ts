import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { annotations } from "../../schema/contract.ts";
import { otherHolder } from "./holders.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const conflictWith = (name: string) => new RegExp(`^OwnershipConflict: .* team-[ab]/${name}, which has `);

describe("a route that an object has", () => {
  const webhookVerification = { enabled: true, provider: "sns" };
  let routeId: string;
  const specOf = (more: object) => ({ edgeId: "edghts_1", routeId, ...more });

  beforeEach(() => {
    routeId = scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id;
  });

  const verification = () => scene.gateway.remote(HTTPSEdgeRoute.resource, routeId)?.["webhook_verification"];

  it.each([
    ["sets the same module", { webhookVerification }],
    ["sets nothing", {}],
    ["only observes", { webhookVerification, managementPolicy: "ObserveOnly" }],
    ["is of another account", { webhookVerification, accountRef: { name: "other" } }],
  ])("is carried out when another object %s", async (_, more) => {
    const first = await scene.given(HTTPSEdgeRoute, "first", specOf({ webhookVerification }));
    await scene.apply(HTTPSEdgeRoute, "second", specOf(more), { namespace: "team-b" });
    scene.cluster.apply(
      HTTPSEdgeRoute,
      "first",
      specOf({ webhookVerification: { enabled: true, provider: "github" } }),
    );
    await scene.settle(first, 2);
    expect(scene.reason(first)).toMatch(/^Available/);
    expect(verification()).toMatchObject({ provider: "github" });
  });

  it("goes on, and no other object takes one, while not all objects of its kind can be read", async () => {
    const first = await scene.given(HTTPSEdgeRoute, "first", specOf({ webhookVerification }));
    scene.cluster.visibility.set("HTTPSEdgeRoute", "Unreadable");
    const edited = { webhookVerification: { enabled: true, provider: "github" } };
    await scene.apply(HTTPSEdgeRoute, "first", specOf(edited));
    await scene.settle(first, 2);
    expect(verification()).toMatchObject({ provider: "github" });
    routeId = scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id;
    for (const more of [{}, { ...edited, managementPolicy: "ObserveOnly" as const }]) {
      const other = await scene.apply(HTTPSEdgeRoute, "other", specOf(more));
      expect(scene.reason(other)).toMatch(/^Available/);
    }
    const taker = await scene.apply(HTTPSEdgeRoute, "taker", specOf(edited));
    expect(scene.reason(taker)).toMatch(/^OwnershipConflict: Let the operator list and watch all HTTPSEdgeRoute/);
  });

  it("is not held by an older object that sets none of its modules, is paused, or is released", async () => {
    const empty = await scene.given(HTTPSEdgeRoute, "empty", specOf({}));
    const paused = scene.cluster.apply(HTTPSEdgeRoute, "paused", specOf({ webhookVerification }), {
      annotations: { [annotations.paused]: "true" },
    });
    const released = scene.cluster.apply(HTTPSEdgeRoute, "released", specOf({ webhookVerification }), {
      annotations: { [annotations.releaseTo]: "team-b/route" },
    });
    for (const object of [paused, released]) await scene.reconcile(object);
    await scene.clock.advance(5_000);
    const object = await scene.given(HTTPSEdgeRoute, "route", specOf({ webhookVerification }));
    expect(scene.reason(object)).toMatch(/^Available/);
    await scene.apply(HTTPSEdgeRoute, "empty", specOf({ webhookVerification }));
    expect(scene.reason(empty)).toMatch(conflictWith("route"));
  });

  it("goes to the oldest of those that never had it", async () => {
    const first = scene.cluster.apply(HTTPSEdgeRoute, "first", specOf({ webhookVerification }));
    await scene.clock.advance(5_000);
    const second = await scene.apply(HTTPSEdgeRoute, "second", specOf({ webhookVerification }));
    expect(scene.reason(second)).toMatch(conflictWith("first"));
    await scene.reconcile(first);
    expect(scene.reason(first)).toMatch(/^Available/);
  });

  it("goes to the oldest also where that may not adopt, since setting modules takes nothing over", async () => {
    scene.cluster.accounts.mayAdopt = ({ metadata }) => metadata.namespace === "team-a";
    const first = scene.cluster.apply(HTTPSEdgeRoute, "first", specOf({ webhookVerification }), {
      namespace: "team-b",
    });
    await scene.clock.advance(5_000);
    const second = await scene.apply(HTTPSEdgeRoute, "second", specOf({ webhookVerification }));
    expect(scene.reason(second)).toMatch(conflictWith("first"));
    await scene.reconcile(first);
    expect(scene.reason(first)).toMatch(/^Available/);
  });

  it("goes to the one whose uid sorts first, if both are of the same second", async () => {
    const [b, a] = ["b", "a"].map((name) =>
      scene.cluster.apply(HTTPSEdgeRoute, name, specOf({ webhookVerification })),
    ) as [ManagedObject, ManagedObject];
    expect(a.metadata.creationTimestamp).toBe(b.metadata.creationTimestamp);
    await scene.reconcile(b);
    expect(scene.reason(b)).toMatch(conflictWith("a"));
    await scene.reconcile(a);
    expect(scene.reason(a)).toMatch(/^Available/);
  });
});

describe("a remote that two objects adopt", () => {
  let id: string;
  const spec = (more: object = {}) => ({ adopt: { id }, ...more });

  beforeEach(() => {
    id = scene.gateway.seed(IPPolicy.resource, { description: "by hand" }).id;
  });

  const mark = () => ownerIn(scene.gateway.remote(IPPolicy.resource, id) ?? {});

  async function two(): Promise<[ManagedObject, ManagedObject]> {
    const first = await scene.given(IPPolicy, "first", spec());
    const second = await scene.apply(IPPolicy, "second", spec({ description: "second" }));
    expect(scene.reason(second)).toMatch(conflictWith("first"));
    return [first, second];
  }

  it("is the second's when the first has ended and is to be deleted, although its mark names the first", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const first = await scene.given(IPPolicy, "first", { adopt: { id }, deletionPolicy: "Delete" });
    const second = scene.cluster.apply(IPPolicy, "second", { adopt: { id } });
    scene.cluster.vanish(first);
    scene.cluster.unfinalized.push(first);
    await scene.reconcile(second);
    const owner = { cluster: "c1", namespace: "team-a", name: "first" };
    scene.gateway.change(IPPolicy.resource, id, { metadata: withOwnerMark(undefined, owner) });
    await scene.resync(IPPolicy);
    const holder = await otherHolder({ ...scene.contextFor(second), object: first }, id);
    expect(holder?.metadata.name).toBe("second");
  });

  it("stays with the first while that is about to have it by a replacement", async () => {
    const first = await scene.given(CertificateAuthority, "first", { caPem: keyPair("first")["tls.crt"] });
    const caPem = keyPair("second")["tls.crt"];
    scene.cluster.apply(CertificateAuthority, "first", { caPem });
    scene.gateway.loseAnswer("create");
    await scene.reconcile(first);
    const made = scene.gateway.remotesOf(CertificateAuthority.resource).find((one) => one.id !== scene.idOf(first));
    const second = await scene.apply(CertificateAuthority, "second", { caPem, adopt: { id: made?.id ?? "" } });
    expect(scene.reason(second)).toMatch(/^OwnershipConflict: .* it belongs to c1\/team-a\/first/);
  });

  it("goes to the second when the first has ended, although it carries the mark of the first", async () => {
    const [first, second] = await two();
    await scene.deleteAndSettle(first);
    expect(scene.cluster.exists(first)).toBe(false);
    expect(mark()).toBe("c1/team-a/first");
    await scene.settle(second, 2);
    expect(scene.reason(second)).toMatch(/^Available/);
    expect(mark()).toBe("c1/team-a/second");
  });

  it("stays with the mark of the first while nobody knows whether the first has ended", async () => {
    const [first, second] = await two();
    await scene.deleteAndSettle(first);
    scene.cluster.knowsEnds = false;
    scene.restart();
    await scene.reconcile(second);
    expect(scene.reason(second)).toMatch(/^OwnershipConflict: Ask the owner/);
    expect(mark()).toBe("c1/team-a/first");
  });

  it("stays with the one that the mark names when both have its id, and the other leaves it when it goes", async () => {
    const [first, second] = await two();
    const { status } = scene.cluster.now(first);
    await scene.cluster.writeStatus(IPPolicy, scene.cluster.now(second), { ...status });
    scene.gateway.change(IPPolicy.resource, id, {
      metadata: withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "second" }),
    });
    scene.restart();
    await scene.settle(first);
    await scene.settle(second);
    expect(scene.reason(first)).toMatch(conflictWith("second"));
    expect(scene.reason(second)).toMatch(/^Available/);
    scene.cluster.apply(IPPolicy, "first", spec({ deletionPolicy: "Delete" }));
    await scene.deleteAndSettle(first);
    expect(scene.cluster.exists(first)).toBe(false);
    expect(scene.gateway.remote(IPPolicy.resource, id)).toBeDefined();
  });

  it("stays with the first when no mark says whose it is, and the second has its id from a copied status", async () => {
    const metadata = "opaque";
    const first = await scene.given(IPPolicy, "first", { metadata });
    await scene.clock.advance(5_000);
    const second = await scene.given(IPPolicy, "second", { metadata, description: "another" });
    const made = scene.idOf(second);
    scene.cluster.restore({ ...second, ...(first.status && { status: first.status }) });
    await scene.deleteAndSettle(second);
    expect(scene.cluster.exists(second)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource).map((one) => one.id)).toEqual([id, scene.idOf(first), made]);
  });

  it.each([
    ["with a mark", {}],
    ["without room for a mark", { metadata: "opaque" }],
  ])("stays with its holder while that is paused, %s", async (_, more) => {
    const first = await scene.given(IPPolicy, "first", spec(more));
    scene.cluster.annotateByHand(first, annotations.paused, "true");
    await scene.reconcile(first);
    const second = await scene.apply(IPPolicy, "second", spec({ description: "second", ...more }));
    expect(scene.reason(second)).toMatch(conflictWith("first"));
    expect(scene.idOf(second)).toBe("");
  });

  it("never goes to a second one while another cluster's mark is on it", async () => {
    scene.gateway.change(IPPolicy.resource, id, { metadata: '{"tunnelgateway.dev/owner":"c2/team-a/gone"}' });
    const object = await scene.apply(IPPolicy, "second", spec());
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: Ask the owner/);
  });
});

it("a mark counts no more when the object that it names has another remote", async () => {
  await scene.given(IPPolicy, "first");
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "first" });
  const { id } = scene.gateway.seed(IPPolicy.resource, { metadata });
  const second = await scene.apply(IPPolicy, "second", { adopt: { id } });
  expect(scene.reason(second)).toMatch(/^Available/);
  expect(ownerIn(scene.gateway.remote(IPPolicy.resource, id) ?? {})).toBe("c1/team-a/second");
});

it("a mark counts while the other remote of its object is not in the account, as after a restore", async () => {
  const first = await scene.given(IPPolicy, "first");
  scene.gateway.drop(IPPolicy.resource, scene.idOf(first));
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "first" });
  const { id } = scene.gateway.seed(IPPolicy.resource, { metadata });
  scene.restart();
  const second = await scene.apply(IPPolicy, "second", { adopt: { id } });
  expect(scene.reason(second)).toMatch(/^OwnershipConflict: .* it belongs to c1\/team-a\/first/);
  await scene.settle(first, 3);
  expect(scene.idOf(first)).toBe(id);
  await scene.settle(second, 3);
  expect(scene.reason(second)).toMatch(conflictWith("first"));
});

it("an object that only observes a remote does not keep its owner from finding it again", async () => {
  const owner = await scene.given(IPPolicy, "owner", {});
  const id = scene.idOf(owner);
  await scene.given(IPPolicy, "watcher", { adopt: { id }, managementPolicy: "ObserveOnly" });
  scene.cluster.loseStatus(owner);
  scene.restart();
  await scene.settle(owner, 3);
  expect(scene.idOf(owner)).toBe(id);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
});

it("a domain that another object has is not offered for adoption", async () => {
  const domain = "shop.example.com";
  await scene.given(ReservedDomain, "first", { domain });
  const second = scene.cluster.apply(ReservedDomain, "second", { domain }, { namespace: "team-b" });
  await scene.settle(second, 2);
  expect(scene.reason(second)).toMatch(conflictWith("first"));
});
