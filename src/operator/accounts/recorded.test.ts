import { expect, it } from "vitest";
import { routeOidc } from "../../gateway/resources/index.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { Store } from "../../runtime/cache/store.ts";
import type { Kind } from "../../schema/define.ts";
import { recordedIn } from "./recorded.ts";

const kinds = [IPPolicy, EventSubscription, EventSource, HTTPSEdgeRoute];

function recorded(...objects: readonly [Kind, Status, ManagedObject["spec"]?][]) {
  const stores = new Map(kinds.map(({ kind }) => [kind, { store: new Store<ManagedObject>() }]));
  for (const [index, [{ kind }, status, spec = {}]] of objects.entries()) {
    const metadata = { namespace: "n", name: `o${index}`, uid: `u${index}`, generation: 1 };
    stores.get(kind)?.store.put({ apiVersion: "tunnelgateway.dev/v1", kind, spec, status, metadata });
  }
  return [...recordedIn("n/a", kinds, stores)].map(([{ name }, ids]) => `${name} ${[...ids].join(" ")}`);
}

const account = "a";
const id = "edghts_1/edghtsrt_1";
const oidc = { oidc: { issuer: "https://login.example.org" } };

it("remotes are recorded by the list that shows them, and each once", () => {
  expect(recorded([IPPolicy, { id: "ipp_1", account }], [IPPolicy, { id: "ipp_2", account }])).toEqual([
    "ip_policies ipp_1 ipp_2",
  ]);
  const sources = ["x.v0", "y.v0"].map((type): [Kind, Status] => [EventSource, { id: `esb_1/${type}`, account }]);
  expect(recorded([EventSubscription, { id: "esb_1", account }], ...sources)).toEqual(["event_subscriptions esb_1"]);
});

it("a route is recorded by the modules of its spec and by those that were set before", () => {
  expect(recorded([HTTPSEdgeRoute, { id, account }, oidc])).toEqual([`${routeOidc.name} ${id}`]);
  expect(recorded([HTTPSEdgeRoute, { id, account, appliedFields: ["saml"] }, oidc])).toEqual([
    `route_oidc ${id}`,
    `route_saml ${id}`,
  ]);
});

it.each([
  ["of another account", IPPolicy, { id: "ipp_1" }],
  ["without an id", IPPolicy, { account }],
  ["of a route that has no module", HTTPSEdgeRoute, { id, account }],
  ["of a route that has no id yet", HTTPSEdgeRoute, { account }, oidc],
] as [string, Kind, Status, ManagedObject["spec"]?][])("an object %s counts for nothing", (_, ...object) => {
  expect(recorded(object)).toEqual([]);
});
