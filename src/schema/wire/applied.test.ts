import { describe, expect, it } from "vitest";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { appliedEntries, appliedPaths, withoutHidden } from "./applied.ts";
import { differences } from "./compare.ts";

describe("appliedPaths", () => {
  it("has the names of the fields that are set", () => {
    expect(appliedPaths(ReservedDomain.spec, { domain: "a.example", description: undefined, region: null })).toEqual([
      "domain",
    ]);
  });

  it("has the entries of a shared list", () => {
    const applied = appliedPaths(EventSubscription.spec, { sources: [{ type: "a.v0" }, { type: "b.v1" }] });
    expect(applied).toEqual(["sources", "sources/a.v0", "sources/b.v1"]);
    expect(appliedEntries("sources", applied)).toEqual(["a.v0", "b.v1"]);
  });

  it("has the hidden members", () => {
    const oidc = { enabled: true, clientId: "web", clientSecretRef: { name: "a", key: "b" }, maximumDuration: 60 };
    const webhookVerification = { provider: "github", secretRef: { name: "a", key: "b" } };
    const applied = appliedPaths(HTTPSEdgeRoute.spec, { oidc, webhookVerification });
    expect(applied).toEqual(["oidc", "oidc.maximumDuration", "webhookVerification", "webhookVerification.secretRef"]);
    expect(withoutHidden(applied)).toEqual(["oidc", "webhookVerification"]);
  });
});

describe("a hidden member: a secret, or a default of the service", () => {
  const seen = { oidc: { client_id: "web", maximum_duration: 60 } };

  it.each([
    ["was never set", ["oidc"], { client_id: "web" }, []],
    ["is still wanted", ["oidc", "oidc.maximumDuration"], { client_id: "web", maximum_duration: 60 }, []],
    ["was ours and is not wanted", ["oidc", "oidc.maximumDuration"], { client_id: "web" }, ["oidc"]],
    ["went with its module", ["oidc", "oidc.maximumDuration"], undefined, ["oidc"]],
  ])("%s", (_, applied, oidc, members) => {
    const found = differences(HTTPSEdgeRoute.spec, oidc ? { oidc } : {}, seen, applied);
    expect(found.map(({ member }) => member)).toEqual(members);
    if (oidc) for (const { how, value } of found) expect([how, value]).toEqual(["change", oidc]);
    else expect(found).toMatchObject([{ how: "remove" }]);
  });
});
