import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../kinds/api-key.ts";
import { EventSource } from "../kinds/event-source.ts";
import { EventSubscription } from "../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import { TLSCertificate } from "../kinds/tls-certificate.ts";
import type { ManagedObject } from "../objects/object.ts";
import { refuseUnseen } from "./unseen.ts";

// The objects are in team-a. Of team-b nothing can be read: it may have, use or want whatever is in the account.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const lose = () => void scene.cluster.unread.push("team-b");
const find = () => void scene.cluster.unread.splice(0);
const wayTo = (kind: string) =>
  `Let the operator list and watch the ${kind} objects of namespace "team-b", or take it out of WATCH_NAMESPACES: `;
const changes = () => scene.gateway.takeCalls().filter((call) => !/^(list|get|read)/.test(call));
const saml = { enabled: true, idpMetadata: "<EntityDescriptor/>" };

it("a message names the namespace that is meant, or how many there are", () => {
  scene.cluster.unread.push("team-b", "team-c");
  const refuse =
    (...namespace: string[]) =>
    () =>
      refuseUnseen(scene.cluster, "IPPolicy", "InUse", "why", ...namespace);
  expect(refuse("team-a")).not.toThrow();
  expect(refuse("team-c")).toThrow(/ of namespace "team-c", or take it out of WATCH_NAMESPACES: why$/);
  expect(refuse()).toThrow(/ of namespace "team-b" and 1 more, or take them out of WATCH_NAMESPACES: why$/);
});

async function deleted(object: ManagedObject): Promise<ManagedObject> {
  scene.cluster.delete(object);
  await scene.reconcile(object);
  return object;
}

/** Nothing tells in the account whose it is. */
function unmark({ kind: { resource }, object }: { kind: typeof TCPEdge; object: ManagedObject }): void {
  scene.gateway.change(resource, scene.idOf(object), { metadata: "" });
}

/** Each begins something that somebody in team-b may forbid, and returns the object that has to wait. */
const decisions: [what: string, kind: string, reason: string, begin: () => Promise<ManagedObject>][] = [
  [
    "to adopt by id",
    "IPPolicy",
    "OwnershipConflict",
    async () => {
      const { id } = scene.gateway.seed(IPPolicy.resource, {});
      lose();
      return scene.apply(IPPolicy, "one", { adopt: { id } });
    },
  ],
  [
    "to adopt what has the name",
    "ReservedDomain",
    "OwnershipConflict",
    async () => {
      scene.gateway.seed(ReservedDomain.resource, { domain: "a.example" });
      lose();
      return scene.apply(ReservedDomain, "one", { domain: "a.example", adopt: { existing: true } });
    },
  ],
  [
    "to set modules of a route for the first time (8.3)",
    "HTTPSEdgeRoute",
    "OwnershipConflict",
    async () => {
      const { id } = scene.gateway.seed(HTTPSEdgeRoute.resource, {});
      lose();
      return scene.apply(HTTPSEdgeRoute, "one", { edgeId: "edghts_1", routeId: id, saml });
    },
  ],
  [
    "to delete what others may use",
    "TCPEdge",
    "InUse",
    async () => {
      const object = await scene.given(IPPolicy, "one");
      lose();
      return deleted(object);
    },
  ],
  [
    "to delete what bears no mark",
    "TCPEdge",
    "InUse",
    async () => {
      const object = await scene.given(TCPEdge, "one");
      unmark({ kind: TCPEdge, object });
      await scene.resync(TCPEdge);
      lose();
      return deleted(object);
    },
  ],
  [
    "to delete an API key",
    "GatewayAccount",
    "InUse",
    async () => {
      scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
      const object = await scene.given(APIKey, "one", { tokenSecretName: "token" });
      lose();
      return deleted(object);
    },
  ],
  [
    "to remove the modules of a route",
    "HTTPSEdgeRoute",
    "InUse",
    async () => {
      const { id } = scene.gateway.seed(HTTPSEdgeRoute.resource, {});
      const object = await scene.given(HTTPSEdgeRoute, "one", { edgeId: "edghts_1", routeId: id, saml });
      lose();
      return deleted(object);
    },
  ],
  [
    "to take an entry out of a list, which an unseen object may stand for (8.3)",
    "EventSource",
    "InUse",
    async () => {
      const sources = [{ type: "a.v0" }, { type: "b.v0" }];
      await scene.given(EventSubscription, "audit", { sources });
      lose();
      return scene.apply(EventSubscription, "audit", { sources: sources.slice(1) });
    },
  ],
  [
    "to take over an entry that is there",
    "EventSubscription",
    "OwnershipConflict",
    async () => {
      const subscription = await scene.given(EventSubscription, "audit");
      scene.gateway.change(EventSubscription.resource, scene.idOf(subscription), { sources: [{ type: "a.v0" }] });
      await scene.resync(EventSubscription);
      lose();
      return scene.apply(EventSource, "one", { subscriptionRef: { name: "audit" }, type: "a.v0" });
    },
  ],
  [
    "to delete an entry of a list",
    "EventSubscription",
    "InUse",
    async () => {
      await scene.given(EventSubscription, "audit");
      const spec = { subscriptionRef: { name: "audit" }, type: "a.v0" };
      const object = await scene.given(EventSource, "one", spec);
      lose();
      return deleted(object);
    },
  ],
];

describe.each(decisions)("a decision %s", (_, kind, reason, begin) => {
  it("waits until the namespace can be read, says so, and sends nothing", async () => {
    const object = await begin();
    scene.gateway.takeCalls();
    await scene.reconcile(object);
    expect(scene.reason(object)).toContain(`${reason}: ${wayTo(kind)}`);
    expect(changes()).toEqual([]);

    find();
    await scene.settle(object);
    const isReady = () => scene.condition(object, "Ready")?.status === "True";
    expect(!scene.cluster.exists(object) || isReady()).toBe(true);
  });
});

describe("what concerns nobody else", () => {
  beforeEach(lose);

  it("is created, changed, and found again after a crash (8.2)", async () => {
    const object = await scene.given(TCPEdge, "one", { description: "first" });
    await scene.apply(TCPEdge, "one", { description: "second" });
    expect(scene.gateway.remote(TCPEdge.resource, scene.idOf(object))).toMatchObject({ description: "second" });
    const other = scene.cluster.apply(TCPEdge, "two");
    scene.gateway.loseAnswer("create");
    await scene.reconcile(other);
    scene.restart();
    await scene.settle(other);
    expect(scene.reason(other)).toMatch(/^Available/);
    expect(scene.gateway.remotesOf(TCPEdge.resource)).toHaveLength(2);
  });

  it("is deleted when it bears the mark of its object and nothing can refer to it (8.1)", async () => {
    const object = await deleted(await scene.given(TCPEdge, "one"));
    expect([scene.cluster.exists(object), scene.gateway.remotesOf(TCPEdge.resource)]).toEqual([false, []]);
  });

  it("is told of as absent when it is referred to in the namespace", async () => {
    const restricted = { ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] } };
    const object = await scene.apply(TCPEdge, "one", restricted);
    expect(scene.reason(object)).toMatch(/^ReferenceNotReady: Create IPPolicy "office" in this namespace/);
  });

  it("is observed", async () => {
    const { id } = scene.gateway.seed(TCPEdge.resource, {});
    const object = await scene.apply(TCPEdge, "one", { adopt: { id }, managementPolicy: "ObserveOnly" });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});

it("a namespace that is deleted leaves nothing that bears the mark of its object and that nothing can refer to (8.1)", async () => {
  const objects = [await scene.given(TCPEdge, "one"), await scene.given(TCPEdge, "two")];
  lose();
  scene.cluster.namespaceDeleting = true;
  for (const object of objects) await deleted(object);
  expect(objects.filter((object) => scene.cluster.exists(object))).toEqual([]);
  expect(scene.gateway.remotesOf(TCPEdge.resource)).toEqual([]);
  expect(scene.cluster.events.filter(({ note }) => note.startsWith("Left"))).toEqual([]);
});

it("a kind that the cluster does not define hides no object (8.4)", async () => {
  const policy = await scene.given(IPPolicy, "one");
  for (const kind of ["TCPEdge", "TLSEdge", "HTTPSEdgeRoute"]) scene.cluster.visibility.set(kind, "NotDefined");
  await deleted(policy);
  expect([scene.cluster.exists(policy), scene.gateway.remotesOf(IPPolicy.resource)]).toEqual([false, []]);
});

it("a certificate is renewed, and the one before is deleted when the namespace can be read", async () => {
  scene.cluster.setSecret("tls", keyPair("first"));
  const object = await scene.given(TLSCertificate, "one", { secretName: "tls" });
  const before = scene.idOf(object);
  lose();
  scene.cluster.setSecret("tls", keyPair("second"));
  await scene.settle(object, 3);
  expect(scene.condition(object, "Ready")?.status).toBe("True");
  expect(scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id)).toEqual([before, scene.idOf(object)]);
  find();
  await scene.clock.advance(600_000);
  await scene.settle(object, 3);
  expect(scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id)).toEqual([scene.idOf(object)]);
});

it("a namespace that goes away does not wait for another one for ever, and an event tells what stays", async () => {
  const object = await scene.given(IPPolicy, "one");
  lose();
  scene.cluster.namespaceDeleting = true;
  await deleted(object);
  expect(scene.cluster.exists(object)).toBe(true);
  await scene.clock.advance(130_000);
  await scene.reconcile(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  const note = "Left ipp_1 in the account: not all objects that may use it can be read, and the namespace goes away";
  expect(scene.cluster.events.at(-1)).toMatchObject({ type: "Warning", reason: "InUse", note });
});
