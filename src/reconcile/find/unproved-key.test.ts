import { beforeEach, expect, it } from "vitest";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

// Somebody has put the key of another account into the Secret. A recorded id proves a key, so what only this key shows
// must not be recorded: neither ids that specs name, nor remotes that look like ours.

let scene: Scene;
let theirs: FakeGateway;
let isWrong: boolean;
let office: ManagedObject;

const domain = "a.example.com";
const opaque = "no room for a mark";
const observed = { managementPolicy: "ObserveOnly" } as const;

beforeEach(async () => {
  isWrong = false;
  scene = new Scene({
    keyNow: () => (isWrong ? { key: "wrong", gateway: theirs } : { key: "right", gateway: scene.gateway }),
  });
  // The first process would list by the way.
  scene.restart();
  office = await scene.given(IPPolicy, "office");
  theirs = new FakeGateway(scene.clock);
  theirs.put(IPPolicy.resource, { id: "ipp_theirs", metadata: opaque });
  const mark = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "one" });
  theirs.put(IPPolicy.resource, { id: "ipp_alike", metadata: mark });
  theirs.put(ReservedDomain.resource, { id: "rd_theirs", domain });
  theirs.put(EventSubscription.resource, { id: "esb_theirs", sources: [{ type: "a_created.v0" }] });
  theirs.put(HTTPSEdgeRoute.resource, { id: "edghtsrt_theirs", saml: { enabled: true, idp_metadata: "<Theirs/>" } });
  isWrong = true;
});

const route = { edgeId: "edghts_theirs", routeId: "edghtsrt_theirs", saml: { idpMetadata: "<Theirs/>" } };

it.each<[string, Kind, ManagedObject["spec"]]>([
  ["is observed by its id", IPPolicy, { adopt: { id: "ipp_theirs" }, ...observed }],
  ["is adopted by its id", IPPolicy, { adopt: { id: "ipp_theirs" }, metadata: opaque, description: "ours" }],
  ["is adopted by its id and needs no change", IPPolicy, { adopt: { id: "ipp_theirs" }, metadata: opaque }],
  ["is observed by its name", ReservedDomain, { domain, ...observed }],
  ["is adopted by its name", ReservedDomain, { domain, adopt: { existing: true } }],
  ["carries the owner mark of an object", IPPolicy, {}],
  ["is an entry of a list", EventSource, { subscriptionRef: { id: "esb_theirs" }, type: "a_created.v0" }],
  ["is a route whose modules are observed", HTTPSEdgeRoute, { ...route, ...observed }],
  ["is a route whose modules are set as they are", HTTPSEdgeRoute, route],
])("3.7: a remote of another account that %s is not recorded, and does not prove the key", async (_, kind, spec) => {
  const requested = { annotations: { [annotations.reconcileRequestedAt]: "now" } };
  const object = await scene.apply(kind, "one", spec, requested);
  await scene.settle(object, 3);
  expect(scene.reason(object)).toMatch(/^AccountMismatch: /);
  expect(scene.idOf(object)).toBe("");
  await scene.apply(IPPolicy, "office", { description: "edited" });
  await scene.settle(office, 3);
  expect(scene.account.keyProof.isProved).toBe(false);
  const changes = theirs.everyCall.filter(({ verb }) => !["get", "list", "getModule"].includes(verb));
  expect(changes).toEqual([]);
  isWrong = false;
  await scene.settle(office, 3);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id: scene.idOf(office), description: "edited" }]);
});

it("an id that an object only observes proves a new key of its account as well as any other", async () => {
  isWrong = false;
  const { id } = scene.gateway.seed(ReservedDomain.resource, { domain });
  await scene.given(ReservedDomain, "watched", { domain, ...observed });
  await scene.deleteAndSettle(office);
  theirs.put(ReservedDomain.resource, { id, domain });
  isWrong = true;
  const policy = scene.cluster.apply(IPPolicy, "new");
  await scene.settle(policy, 3);
  expect(theirs.remote(IPPolicy.resource, scene.idOf(policy))).toBeDefined();
});

// An object without an id records nothing that could show that the account is another one, so this is accepted.
it("3.11: a create that was not answered leaves what it made, with its mark, when the next key is one of another account", async () => {
  isWrong = false;
  await scene.deleteAndSettle(office);
  scene.gateway.loseAnswer("create");
  const object = await scene.apply(IPPolicy, "first");
  isWrong = true;
  scene.restart();
  await scene.settle(object, 3);
  expect(theirs.remote(IPPolicy.resource, scene.idOf(object))).toBeDefined();
  expect(scene.gateway.remotesOf(IPPolicy.resource).map(ownerIn)).toEqual(["c1/team-a/first"]);
});
