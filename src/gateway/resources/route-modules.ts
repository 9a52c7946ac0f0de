import { defineModule } from "../resource.ts";
import { answer, flag, number, text, texts } from "../wire.ts";
import { ipRestrictionModule } from "./module-shapes.ts";

const route = "/edges/https/{edge_id}/routes/{id}";

/** Times are seconds. `cookie_prefix` is `""` when unset. */
const session = {
  enabled: flag,
  options_passthrough: flag,
  cookie_prefix: text,
  inactivity_timeout: number,
  maximum_duration: number,
};
const sessionMembers = Object.keys(session);

export const routeOidc = defineModule({
  name: "route_oidc",
  title: "OIDC module of a route",
  path: `${route}/oidc`,
  wire: answer({ ...session, issuer: text, client_id: text, client_secret: text, scopes: texts }),
  put: [...sessionMembers, "issuer", "client_id", "client_secret", "scopes"],
  secrets: ["client_secret"],
});

const samlWritable = {
  ...session,
  idp_metadata: text,
  force_authn: flag,
  allow_idp_initiated: flag,
  authorized_groups: texts,
  nameid_format: text,
};

export const routeSaml = defineModule({
  name: "route_saml",
  title: "SAML module of a route",
  path: `${route}/saml`,
  wire: answer({
    ...samlWritable,
    entity_id: text,
    assertion_consumer_service_url: text,
    single_logout_url: text,
    request_signing_certificate_pem: text,
    metadata_url: text,
    idp_metadata_url: text,
  }),
  put: Object.keys(samlWritable),
  verbs: { delete: "undocumented" },
});

export const routeIPRestriction = defineModule({
  name: "route_ip_restriction",
  title: "IP restriction module of a route",
  path: `${route}/ip_restriction`,
  wire: ipRestrictionModule,
  put: ["enabled", "ip_policy_ids"],
});

export const routeWebhookVerification = defineModule({
  name: "route_webhook_verification",
  title: "webhook verification module of a route",
  path: `${route}/webhook_verification`,
  wire: answer({ enabled: flag, provider: text, secret: text }),
  put: ["enabled", "provider", "secret"],
  secrets: ["secret"],
});
