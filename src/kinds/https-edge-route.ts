import * as z from "zod";
import { defineResource } from "../gateway/resource.ts";
import { routeIPRestriction, routeOidc, routeSaml, routeWebhookVerification } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind, usable } from "../schema/define.ts";
import { immutable, unmanagedID } from "../schema/fields.ts";
import { routeIPRestrictionModule } from "../schema/modules/ip-restriction.ts";
import { oidcModule, oidcStatus } from "../schema/modules/oidc.ts";
import { samlModule, samlStatus } from "../schema/modules/saml.ts";
import { webhookVerificationModule } from "../schema/modules/webhook-verification.ts";
import { mark } from "../schema/traits.ts";

const modules = {
  ip_restriction: routeIPRestriction,
  oidc: routeOidc,
  saml: routeSaml,
  webhook_verification: routeWebhookVerification,
};

const answers = Object.fromEntries(Object.entries(modules).map(([member, { wire }]) => [member, wire.nullish()]));

/** Part of the path of each request, never of the body. */
const inPath = (prefix: string) => mark(immutable(unmanagedID(prefix)), { notInBody: true });

export const HTTPSEdgeRoute = defineKind({
  kind: "HTTPSEdgeRoute",
  shortNames: ["gwroute"],
  privilege: "The sign-on and IP restriction of any HTTPS edge route of the account.",
  categories: ["tunnelgateway-edges"],
  summary:
    "Modules of a route of an HTTPS edge. The operator creates neither the edge nor the route. " +
    "A module that the spec never had is left alone.",
  resource: defineResource({
    name: "https_edge_routes",
    title: "HTTPS edge route",
    path: "/edges/https/{edge_id}/routes/{id}",
    listKey: "",
    idPrefix: "edghts_",
    wire: z.object({ id: z.string(), ...answers }),
    create: [],
    update: Object.keys(modules),
    secrets: Object.values(modules).flatMap(({ secrets }) => secrets),
    verbs: { create: "none", get: "none", list: "none", delete: "none" },
  }),
  location: { type: "modules", idFields: ["edgeId", "routeId"] },
  modules,
  spec: z.object({
    edgeId: inPath("edghts_").describe("Id of the HTTPS edge."),
    routeId: inPath("edghtsrt_").describe("Id of the route of that edge."),
    // the order of these fields is the order of the requests: restriction before authentication
    ipRestriction: routeIPRestrictionModule,
    oidc: oidcModule,
    saml: samlModule,
    webhookVerification: webhookVerificationModule,
  }),
  status: z.object({ oidc: oidcStatus, saml: samlStatus }),
  columns: [
    textColumn("Route", { width: 36, value: ({ spec }) => spec["routeId"] }),
    textColumn("Modules", {
      width: 18,
      value: ({ spec }) => ["ipRestriction", "oidc", "saml", "webhookVerification"].filter((field) => spec[field]),
    }),
    textColumn("Edge", { width: 34, value: ({ spec }) => spec["edgeId"], wide: true }),
  ],
  readiness: () => ({ readiness: { ...usable, message: "The modules are as specified" } }),
});
