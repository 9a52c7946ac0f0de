import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

// Users that are easily overlooked: those that are about to go, that another object observes, or that only name an id.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const restriction = (id: string) => ({ ip_restriction: { enabled: true, ip_policy_ids: [id] } });

describe("the edge of a policy, which an object manages and another one observes,", () => {
  let policy: ManagedObject;
  let edge: ManagedObject;

  beforeEach(async () => {
    policy = await scene.given(IPPolicy, "office");
    // the watcher is the older object
    scene.cluster.apply(TCPEdge, "watcher", {});
    edge = await scene.given(TCPEdge, "db");
    const id = scene.idOf(edge);
    await scene.apply(TCPEdge, "watcher", { managementPolicy: "ObserveOnly", adopt: { id } });
    scene.gateway.change(TCPEdge.resource, id, restriction(scene.idOf(policy)));
    await scene.resync(TCPEdge);
  });

  it("is named after the one that manages it", async () => {
    await scene.delete(policy);
    expect(scene.reason(policy)).toBe('InUse: Delete or change TCPEdge "db" first: it uses this IPPolicy');
  });

  it("is waited for while the one that manages it is being deleted, and nobody is asked to act", async () => {
    scene.gateway.refuse("delete", 503);
    await scene.delete(edge);
    await scene.delete(policy);
    expect(scene.reason(policy)).toBe('Deleting: Waiting for TCPEdge "db" to be deleted first: it uses this IPPolicy');
    await scene.settle(edge);
    await scene.settle(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
  });
});

it.each<[string, Record<string, unknown>]>([
  ["that the account has", {}],
  ["that somebody has taken out of it", { sources: [] }],
])(
  "a subscription waits for a paused event source %s, also under a process that has not seen it",
  async (_, change) => {
    const subscription = await scene.given(EventSubscription, "audit");
    const source = await scene.given(EventSource, "one", { subscriptionRef: { name: "audit" }, type: "a_created.v0" });
    scene.cluster.annotateByHand(source, annotations.paused, "true");
    scene.cluster.delete(source);
    scene.gateway.change(EventSubscription.resource, scene.idOf(subscription), change);
    scene.restart();
    await scene.delete(subscription);
    expect(scene.reason(subscription)).toMatch(/^InUse: Delete or change EventSource "one" first/);
    scene.cluster.annotateByHand(source, annotations.paused, "false");
    await scene.settle(source);
    await scene.settle(subscription);
    expect(scene.cluster.exists(subscription)).toBe(false);
    expect(scene.gateway.remotesOf(EventSubscription.resource)).toEqual([]);
  },
);

it("a policy that has to be recreated is not deleted while a route with secrets has it", async () => {
  const policy = await scene.given(IPPolicy, "office", { description: "one", replacement: "Recreate" });
  const { id: routeId } = scene.gateway.seed(HTTPSEdgeRoute.resource, {});
  scene.cluster.setSecret("sign-on", { secret: "s" });
  await scene.given(HTTPSEdgeRoute, "route", {
    edgeId: "edghts_1",
    routeId,
    ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] },
    oidc: { issuer: "https://issuer", clientId: "c", clientSecretRef: { name: "sign-on", key: "secret" } },
  });
  await scene.confirmLack(IPPolicy.resource, "update");
  await scene.apply(IPPolicy, "office", { description: "two", replacement: "Recreate" });
  expect(scene.reason(policy)).toMatch(/^InUse: Delete or change HTTPSEdgeRoute "route" first/);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id: scene.idOf(policy), description: "one" }]);
});
