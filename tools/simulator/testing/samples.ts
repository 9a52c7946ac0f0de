import { generateKeyPairSync } from "node:crypto";
import { selfSigned } from "../certificates/self-signed.ts";
import { collections } from "../collections.ts";
import type { Collection } from "../resource/collection.ts";
import type { Members } from "../shape/members.ts";
import type { Control } from "../simulator.ts";

/** A public key in authorized-keys format. */
export function ed25519PublicKey(): string {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const part = (data: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, data.length]), data]);
  const blob = Buffer.concat([part(Buffer.from("ssh-ed25519")), part(Buffer.from(x, "base64url"))]);
  return `ssh-ed25519 ${blob.toString("base64")} someone@host`;
}

const leaf = selfSigned({ commonName: "www.example.org", dnsNames: ["www.example.org"] });
const authority = selfSigned({ commonName: "Example Authority", authority: true });

/** A text for each required member. */
const leastOf = ({ fields }: Collection): Members =>
  Object.fromEntries(Object.keys(fields).flatMap((name) => (fields[name]?.required ? [[name, `a ${name}`]] : [])));

/** A valid body for the create of each collection. Creates what the bodies refer to. */
export const sampleBodies = (control: Control): Record<string, Members> => ({
  ...Object.fromEntries(collections.map((collection) => [collection.name, leastOf(collection)])),
  ...ownBodies(control),
});

/** The bodies of collections whose members have to be more than a text. */
function ownBodies(control: Control): Record<string, Members> {
  const backend = control.insert("backends/tunnel_group", { labels: { app: "web" } });
  const policy = control.insert("ip_policies", {});
  const ca = control.insert("certificate_authorities", { ca_pem: authority.certificatePem });
  const destination = control.insert("event_destinations", monitoring);
  const modules = {
    backend: { backend_id: backend.id },
    ip_restriction: { ip_policy_ids: [policy.id] },
    policy: { inbound: [{ expressions: ["true"], actions: [{ type: "deny" }] }] },
  };
  return {
    agent_ingresses: { domain: "agents.example.org" },
    reserved_addrs: { region: "eu" },
    reserved_domains: { domain: "www.example.org" },
    "backends/tunnel_group": { labels: { app: "web" } },
    "backends/http_response": { body: "hello", headers: { "Content-Type": "text/plain" }, status_code: 418 },
    "backends/weighted": { backends: { [String(backend.id)]: 100 } },
    "backends/failover": { backends: [backend.id] },
    "edges/tcp": { hostports: ["1.tcp.eu.gateway.example:12345"], ...modules },
    "edges/tls": {
      hostports: ["www.example.org:443"],
      ...modules,
      mutual_tls: { certificate_authority_ids: [ca.id] },
      tls_termination: { terminate_at: "edge", min_version: "1.3" },
    },
    ssh_credentials: { public_key: ed25519PublicKey(), acl: ["bind:*.example.org"] },
    ssh_host_certificates: { ssh_certificate_authority_id: "sshca_1", public_key: ed25519PublicKey() },
    certificate_authorities: { ca_pem: authority.certificatePem },
    tls_certificates: { certificate_pem: leaf.certificatePem, private_key_pem: leaf.privateKeyPem },
    event_destinations: monitoring,
    event_subscriptions: { sources: [{ type: "ip_policy_created.v0" }], destination_ids: [destination.id] },
  };
}

export const monitoring: Members = {
  format: "json",
  target: { monitoring: { api_key: "dd-key", ddtags: "env:test", service: "gateway", ddsite: "site.example" } },
};

/** A valid body for the PUT of each module, by the name of the module. */
export function sampleModules(control: Control): Record<string, Members> {
  const { "edges/tls": edge = {} } = sampleBodies(control);
  const { backend, ip_restriction, policy, mutual_tls, tls_termination } = edge as Record<string, Members>;
  return {
    backend: backend ?? {},
    ip_restriction: ip_restriction ?? {},
    policy: policy ?? {},
    mutual_tls: mutual_tls ?? {},
    tls_termination: tls_termination ?? {},
    oidc: { issuer: "https://login.example.org", client_id: "web", client_secret: "s3cret", scopes: ["openid"] },
    saml: { idp_metadata: '<md:EntityDescriptor entityID="x"></md:EntityDescriptor>' },
    webhook_verification: { provider: "github", secret: "hush" },
  };
}
