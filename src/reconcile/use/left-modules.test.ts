import { beforeEach, describe, expect, it } from "vitest";
import { RESYNC_SECONDS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { reconcile } from "../reconcile.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

async function deleted(object: ManagedObject): Promise<ReturnType<Scene["reconcile"]>> {
  scene.cluster.delete(object);
  return scene.reconcile(object);
}

const restricted = (...names: string[]) => ({
  ipRestriction: { enabled: true, ipPolicyRefs: names.map((name) => ({ name })) },
});

const restrictedByID = (id: string) => ({ ipRestriction: { enabled: true, ipPolicyRefs: [{ id }] } });

/** As requests name what edges have. */
const restriction = (id: string) => ({ ip_restriction: { enabled: true, ip_policy_ids: [id] } });

const exists = (kind: Kind, id: string): boolean => scene.gateway.remote(kind.resource, id) !== undefined;

describe("a route that has the policy in a module, and no object any more", () => {
  let policy: ManagedObject;
  let routeId: string;
  const idOfRoute = () => `edghts_1/${routeId}`;
  const route = (more: object) => ({ edgeId: "edghts_1", routeId, ...restricted("office"), ...more });

  beforeEach(async () => {
    policy = await scene.given(IPPolicy, "office");
    routeId = scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id;
  });

  async function end(object: ManagedObject): Promise<void> {
    await deleted(object);
    expect(scene.cluster.exists(object)).toBe(false);
  }

  /** For an object whose last edit was not carried out. */
  async function endLate(object: ManagedObject, meanwhile: () => void = () => {}): Promise<void> {
    await deleted(object);
    expect(scene.reason(object)).toMatch(/^Deleting: Waiting until it is certain that no interrupted change arrives/);
    meanwhile();
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
  }

  it.each<[string, object, (object: ManagedObject) => void]>([
    ["its object retained it", { deletionPolicy: "Retain" }, () => {}],
    ["its object was an orphan", {}, (object) => scene.cluster.annotateByHand(object, annotations.orphan, "true")],
    ["its kind went away", {}, () => scene.cluster.kindsDeleting.add("HTTPSEdgeRoute")],
  ])("keeps the policy: %s", async (_, more, prepare) => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route(more));
    prepare(object);
    await end(object);
    expect(scene.cluster.now(policy).status?.leftOn).toEqual([idOfRoute()]);
    scene.restart();
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(
      new RegExp(`^InUse: Ask who runs HTTPS edge route ${idOfRoute()} to change it first`),
    );
    await scene.settle(policy, 20);
    expect(exists(IPPolicy, scene.idOf(policy))).toBe(true);
    scene.gateway.change(HTTPSEdgeRoute.resource, routeId, { ip_restriction: null });
    await scene.settle(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  /** Deletes the policy, which the route still has. */
  async function isKept(object: ManagedObject): Promise<void> {
    await deleted(object);
    expect(scene.reason(object)).toMatch(
      new RegExp(`^InUse: Ask who runs HTTPS edge route ${idOfRoute()} to change it first`),
    );
    expect(exists(IPPolicy, scene.idOf(object))).toBe(true);
  }

  const retained = { deletionPolicy: "Retain" } as const;

  it.each<[string, object, () => void]>([
    ["to another policy", restricted("branch"), () => {}],
    ["to another policy, and this process knows nothing of the route", restricted("branch"), () => scene.restart()],
    ["to no policy", { ipRestriction: undefined }, () => {}],
  ])("keeps the policy: an edit was not carried out that sets it %s", async (_, more, prepare) => {
    await scene.given(IPPolicy, "branch");
    const object = await scene.given(HTTPSEdgeRoute, "route", route(retained));
    scene.cluster.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...more }));
    prepare();
    await endLate(object);
    await isKept(policy);
  });

  it("keeps the policy that an edit has set which nobody answered, and which arrived late", async () => {
    const branch = await scene.given(IPPolicy, "branch");
    await scene.given(IPPolicy, "last");
    const object = await scene.given(HTTPSEdgeRoute, "route", route(retained));
    scene.gateway.swallow("putModule");
    await scene.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("branch") }));
    scene.cluster.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("last") }));
    await endLate(object, () =>
      scene.gateway.change(HTTPSEdgeRoute.resource, routeId, restriction(scene.idOf(branch))),
    );
    await isKept(branch);
  });

  it("keeps the policy that an edit has set which nobody answered, and which arrived after a later edit was carried out", async () => {
    const branch = await scene.given(IPPolicy, "branch");
    await scene.given(IPPolicy, "last");
    const object = await scene.given(HTTPSEdgeRoute, "route", route(retained));
    scene.gateway.swallow("putModule");
    await scene.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("branch") }));
    await scene.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("last") }));
    expect(scene.reason(object)).toMatch(/^Available/);
    await endLate(object, () =>
      scene.gateway.change(HTTPSEdgeRoute.resource, routeId, restriction(scene.idOf(branch))),
    );
    await isKept(branch);
  });

  it("3.8: waits for an edit that nobody answered also when its key is one of another account by now", async () => {
    const other = new Scene({ beside: scene }).account;
    other.remotes(HTTPSEdgeRoute);
    await scene.clock.advance(3_600_000);
    await scene.given(IPPolicy, "branch");
    const object = await scene.given(HTTPSEdgeRoute, "route", route(retained));
    scene.gateway.swallow("putModule");
    await scene.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("branch") }));
    scene.cluster.delete(object);
    await reconcile({ ...scene.contextFor(object), account: other }, { resyncSeconds: RESYNC_SECONDS });
    expect(scene.reason(object)).toMatch(/^Deleting: Waiting until it is certain that no interrupted change arrives/);
  });

  it("keeps the policy: the service refused the edit", async () => {
    await scene.given(IPPolicy, "branch");
    const object = await scene.given(HTTPSEdgeRoute, "route", route(retained));
    scene.gateway.refuse("putModule", 422);
    await scene.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("branch") }));
    await end(object);
    await isKept(policy);
  });

  it.each<[string, () => void, (object: ManagedObject) => Promise<void>, number]>([
    ["the service does not tell which", () => scene.gateway.refuse("getModule", 503), endLate, 1],
    ["its account is declared gone, which is asked nothing", () => (scene.cluster.isAccountAbandoned = true), end, 0],
  ])("keeps each policy that it may have when %s", async (_, prepare, ending, requests) => {
    const branch = await scene.given(IPPolicy, "branch");
    const object = await scene.given(HTTPSEdgeRoute, "route", route(retained));
    scene.cluster.apply(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("branch") }));
    prepare();
    await ending(object);
    expect(scene.gateway.takeCalls()).toHaveLength(requests);
    for (const one of [policy, branch]) expect(scene.cluster.now(one).status?.leftOn).toEqual([idOfRoute()]);
  });

  it("keeps the policy: the process died when it had set the module", async () => {
    const hasModule = () => Boolean(scene.gateway.remote(HTTPSEdgeRoute.resource, routeId)?.["ip_restriction"]);
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus" && hasModule()) throw new Outdated("killed");
    };
    const object = await scene.apply(HTTPSEdgeRoute, "route", route(retained));
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await endLate(object);
    await isKept(policy);
  });

  it.each<[string, (object: ManagedObject) => Promise<unknown>]>([
    ["its object", end],
    ["an edit", () => scene.apply(HTTPSEdgeRoute, "route", route({ ipRestriction: undefined }))],
  ])("keeps the policy: %s left it to another object, which went without setting it", async (_, leave) => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route({}));
    const next = await scene.apply(HTTPSEdgeRoute, "next", route({}));
    await leave(object);
    scene.cluster.delete(next);
    expect(scene.cluster.exists(next)).toBe(false);
    if (scene.cluster.exists(object)) await end(object);
    await isKept(policy);
  });

  it("keeps the policy: its object named one that only observes the policy", async () => {
    const watching = { adopt: { id: scene.idOf(policy) }, managementPolicy: "ObserveOnly" } as const;
    await scene.given(IPPolicy, "watcher", watching);
    const object = await scene.given(HTTPSEdgeRoute, "route", route({ ...retained, ...restricted("watcher") }));
    await end(object);
    await isKept(policy);
  });

  it("keeps the policy also after that has moved to another object", async () => {
    await end(await scene.given(HTTPSEdgeRoute, "route", route(retained)));
    scene.cluster.annotateByHand(policy, annotations.releaseTo, "team-b/other");
    await scene.reconcile(policy);
    const adopt = { id: scene.idOf(policy), from: "team-a/office" };
    const other = await scene.apply(IPPolicy, "other", { adopt }, { namespace: "team-b" });
    await end(policy);
    await isKept(other);
  });

  it("is written down once", async () => {
    for (const name of ["route", "again"]) {
      const object = await scene.given(HTTPSEdgeRoute, name, route({ deletionPolicy: "Retain" }));
      await end(object);
      expect(scene.cluster.writes).toEqual([...(name === "route" ? ["writeStatus"] : []), "removeFinalizer"]);
    }
    expect(scene.cluster.now(policy).status?.leftOn).toEqual([idOfRoute()]);
  });

  it("is written down also where the status of the policy was lost", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route({ deletionPolicy: "Retain" }));
    scene.cluster.loseStatus(policy);
    await end(object);
    expect(scene.cluster.now(policy).status?.leftOn).toEqual([idOfRoute()]);
  });

  it("keeps the policy: the module was there before its object", async () => {
    const theirs = scene.gateway.seed(IPPolicy.resource, {});
    scene.gateway.change(HTTPSEdgeRoute.resource, routeId, restriction(theirs.id));
    await end(await scene.given(HTTPSEdgeRoute, "route", route({})));
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
  });

  it("keeps the policy of another namespace, which it names by its id", async () => {
    const office = await scene.apply(IPPolicy, "branch", {}, { namespace: "team-b" });
    await scene.reconcile(office);
    const spec = { ...restrictedByID(scene.idOf(office)), deletionPolicy: "Retain" };
    await end(await scene.given(HTTPSEdgeRoute, "route", route(spec)));
    await deleted(office);
    expect(scene.reason(office)).toMatch(/^InUse: /);
  });

  it("does not count as about to end with its object", async () => {
    const theirs = scene.gateway.seed(IPPolicy.resource, {});
    scene.gateway.change(HTTPSEdgeRoute.resource, routeId, restriction(theirs.id));
    const object = await scene.given(HTTPSEdgeRoute, "route", route({}));
    scene.cluster.delete(object);
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: Delete or change HTTPSEdgeRoute "route" first/);
  });

  it("keeps the policy in the account when both go with their namespace, in any order", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route({ deletionPolicy: "Retain" }));
    const id = scene.idOf(policy);
    scene.cluster.namespaceDeleting = true;
    scene.cluster.delete(policy);
    await scene.delete(object);
    await scene.settle(policy);
    expect([object, policy].map((one) => scene.cluster.exists(one))).toEqual([false, false]);
    expect(exists(IPPolicy, id)).toBe(true);
    expect(scene.cluster.events).toMatchObject([{ type: "Warning", reason: "InUse" }]);
  });

  it("goes on standing behind its object while the policy that it names by its id may be one of a namespace that cannot be read", async () => {
    const named = await scene.given(HTTPSEdgeRoute, "route", route({ deletionPolicy: "Retain" }));
    const byID = { ...restrictedByID("ipp_elsewhere"), deletionPolicy: "Retain" };
    const object = await scene.given(HTTPSEdgeRoute, "by-id", {
      ...route(byID),
      routeId: scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id,
    });
    scene.cluster.unread.push("team-b");
    await end(named);
    await deleted(object);
    expect(scene.reason(object)).toMatch(
      /^InUse: Let the operator list and watch the IPPolicy objects of namespace "team-b"/,
    );
    scene.cluster.unread.length = 0;
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("goes on standing behind its object while policies cannot be read", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route({ deletionPolicy: "Retain" }));
    scene.cluster.visibility.set("IPPolicy", "Unreadable");
    await deleted(object);
    expect(scene.reason(object)).toMatch(/^InUse: Let the operator list and watch all IPPolicy objects/);
    scene.cluster.visibility.clear();
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.cluster.now(policy).status?.leftOn).toEqual([idOfRoute()]);
  });

  it("goes on standing behind its object until the policy says so", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route({ deletionPolicy: "Retain" }));
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus") throw new Outdated("somebody else wrote first");
    };
    expect(await deleted(object)).toMatchObject({ stale: true });
    expect(scene.cluster.exists(object)).toBe(true);
    scene.cluster.beforeWrite = () => {};
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.cluster.now(policy).status?.leftOn).toEqual([idOfRoute()]);
  });

  it("does not keep the policy where the module goes with its object, which costs no write", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", route({}));
    await end(object);
    expect(scene.cluster.writes).toEqual(["removeFinalizer"]);
    await end(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });
});
