import { beforeEach, describe, expect, it } from "vitest";
import { FakeGateway } from "../../test/fakes/reconcile/fake-gateway.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { ipPolicies } from "../gateway/resources/index.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";

// Only modules of a route are recorded, which no list shows, and another key comes into use.

const { resource } = HTTPSEdgeRoute;
const saml = { enabled: true, idpMetadata: "<EntityDescriptor/>" };

let scene: Scene;
let strange: FakeGateway;
let key: { key: string; gateway: FakeGateway };
let routeId: string;
let route: ManagedObject;

const specOf = (id: string) => ({ edgeId: "edghts_1", routeId: id, saml });
const verbs = (gateway: FakeGateway) => gateway.calls.splice(0).map((call) => `${call.verb} ${call.resource}`);
const changes = (gateway: FakeGateway) => verbs(gateway).filter((call) => !/^(get|list|getModule) /.test(call));

function useKey(name: "right" | "rotated" | "wrong"): void {
  key = { key: name, gateway: name === "wrong" ? strange : scene.gateway };
  scene.readKey();
}

beforeEach(async () => {
  scene = new Scene({ keyNow: () => key });
  // The first process would list uncounted.
  scene.restart();
  strange = new FakeGateway(scene.clock);
  useKey("right");
  routeId = scene.gateway.seed(resource, {}).id;
  route = await scene.given(HTTPSEdgeRoute, "route", specOf(routeId));
});

const office = () => scene.apply(IPPolicy, "office");
const mismatch = /^AccountMismatch: Check the API key: its account does not show the one remote that objects stand for/;

describe.each([
  ["in the same process", () => {}],
  ["in the next process", () => scene.restart()],
])("a key of another account, %s", (_, next) => {
  beforeEach(() => {
    useKey("wrong");
    next();
  });

  it("creates nothing, and the right key does", async () => {
    const policy = await office();
    expect(scene.reason(policy)).toMatch(mismatch);
    expect(changes(strange)).toEqual([]);
    useKey("right");
    await scene.settle(policy);
    expect(scene.condition(policy, "Ready")?.status).toBe("True");
    expect(strange.remotesOf(ipPolicies)).toEqual([]);
    expect(scene.gateway.remotesOf(ipPolicies)).toHaveLength(1);
  });

  it("deletes nothing, and takes no module for deleted", async () => {
    await scene.delete(route);
    expect(scene.cluster.exists(route)).toBe(true);
    expect(scene.condition(route, "Synced")?.reason).toBe("AccountMismatch");
    expect([changes(strange), changes(scene.gateway)]).toEqual([[], []]);
    useKey("right");
    await scene.settle(route);
    expect(scene.cluster.exists(route)).toBe(false);
    expect(changes(scene.gateway)).toEqual(["deleteModule route_saml"]);
  });

  it("changes nothing either where that account has a route with this id and without modules", async () => {
    strange.put(resource, { id: routeId });
    scene.cluster.apply(HTTPSEdgeRoute, "route", { ...specOf(routeId), webhookVerification: { provider: "sns" } });
    await scene.reconcile(route);
    expect(scene.condition(route, "Synced")?.reason).toBe("AccountMismatch");
    expect(changes(strange)).toEqual([]);
  });
});

describe("a rotated key", () => {
  beforeEach(() => useKey("rotated"));

  it("is proved with one request", async () => {
    const policy = await office();
    expect(scene.condition(policy, "Ready")?.status).toBe("True");
    expect(verbs(scene.gateway)).toEqual(["list ip_policies", "getModule route_saml", "create ip_policies"]);
  });

  it("is proved by what a reconcile reads anyway", async () => {
    scene.restart();
    await scene.reconcile(route);
    await office();
    expect(verbs(scene.gateway)).toEqual(["getModule route_saml", "list ip_policies", "create ip_policies"]);
  });

  it("waits while the module is gone, until somebody has set it again", async () => {
    const removed = scene.gateway.remote(resource, routeId)?.["saml"];
    scene.gateway.change(resource, routeId, { saml: null });
    const policy = await office();
    expect(scene.reason(policy)).toMatch(mismatch);
    scene.gateway.change(resource, routeId, { saml: removed });
    await scene.settle(policy);
    expect(scene.condition(policy, "Ready")?.status).toBe("True");
  });
});

it("the right key stays the right one when somebody deletes the route", async () => {
  scene.gateway.drop(resource, routeId);
  const policy = await office();
  expect(scene.condition(policy, "Ready")?.status).toBe("True");
  await scene.deleteAndSettle(route);
  expect(scene.cluster.exists(route)).toBe(false);
});

it("a key under which a module was only found is not that of an account without it", async () => {
  await scene.deleteAndSettle(route);
  useKey("rotated");
  scene.restart();
  scene.mayAdopt = true;
  await scene.gateway.putModule(HTTPSEdgeRoute.modules["saml"] as never, { id: routeId } as never, {
    enabled: true,
    idp_metadata: saml.idpMetadata,
  });
  scene.resetCounts();
  await scene.given(HTTPSEdgeRoute, "found", specOf(routeId));
  useKey("wrong");
  expect(scene.reason(await office())).toMatch(mismatch);
  expect(changes(strange)).toEqual([]);
  useKey("rotated");
  const policy = await office();
  await scene.settle(policy);
  expect(scene.condition(policy, "Ready")?.status).toBe("True");
});

it("a route without modules proves nothing, and needs no proof", async () => {
  await scene.deleteAndSettle(route);
  await scene.apply(HTTPSEdgeRoute, "empty", { edgeId: "edghts_1", routeId });
  useKey("rotated");
  const policy = await office();
  expect(scene.condition(policy, "Ready")?.status).toBe("True");
});

it("a remote whose key was exchanged before the answer to its create is recorded, and nothing more is sent", async () => {
  scene.gateway.beforeCall = ({ verb }) => {
    if (verb === "create") useKey("wrong");
  };
  const policy = await office();
  const [made] = scene.gateway.remotesOf(ipPolicies);
  expect([scene.idOf(policy), scene.reason(policy)]).toEqual([
    made?.id,
    expect.stringMatching(/^Creating: Continuing/),
  ]);
  await scene.reconcile(policy);
  expect(changes(strange)).toEqual([]);
  scene.gateway.beforeCall = () => {};
  useKey("right");
  await scene.settle(policy);
  expect(scene.condition(policy, "Ready")?.status).toBe("True");
  expect(scene.gateway.remotesOf(ipPolicies)).toHaveLength(1);
});
