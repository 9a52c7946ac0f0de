import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { ed25519PublicKey } from "../../tools/simulator/testing/samples.ts";
import { authorityPem, configMap, secret, tlsSecret } from "./samples.ts";

const group = (name: string) => ({ kind: "TunnelGroupBackend", name });
const named = (...names: string[]) => names.map((name) => ({ name }));

/** The route that `everything` configures. */
export const route = { edgeId: "edghts_everything", routeId: "edghtsrt_everything" };

/** The objects of one team: every kind, and nearly every way in which one kind refers to another. */
export const everything = (): KubeJSON[] => [
  tlsSecret("shop-tls", { commonName: "shop.example.com", dnsNames: ["shop.example.com"] }),
  secret("keys", { monitoring: "a-monitoring-key", cloud: "a-cloud-secret", client: "a-client-secret" }),
  secret("operations", { "ca.crt": authorityPem("Operations") }),
  configMap("partners", { "ca.pem": `${authorityPem("Partners 1")}${authorityPem("Partners 2")}` }),

  manifest("TLSCertificate", "shop", { secretName: "shop-tls" }),
  manifest("ReservedDomain", "shop", { domain: "shop.example.com", certificateRef: { name: "shop" } }),
  manifest("ReservedDomain", "docs", { domain: "docs.example.com", certificateManagementPolicy: {} }),
  manifest("AgentIngress", "agents", { domain: "agents.example.com", certificateManagementPolicy: {} }),

  manifest("CertificateAuthority", "inline", { caPem: authorityPem("Inline") }),
  manifest("CertificateAuthority", "partners", {
    caPemFrom: { configMapKeyRef: { name: "partners", key: "ca.pem" } },
  }),
  manifest("CertificateAuthority", "operations", {
    caPemFrom: { secretKeyRef: { name: "operations", key: "ca.crt" } },
  }),

  manifest("IPPolicy", "office", {}),
  manifest("IPPolicy", "vpn", {}),
  manifest("ReservedAddress", "orders", { region: "eu" }),
  manifest("ReservedAddress", "database", {}),

  manifest("TunnelGroupBackend", "stable", { labels: { app: "shop", track: "stable" } }),
  manifest("TunnelGroupBackend", "canary", { labels: { app: "shop", track: "canary" } }),
  manifest("HTTPResponseBackend", "sorry", { statusCode: 503, body: "Soon" }),
  manifest("FailoverBackend", "stable", {
    backendRefs: [group("stable"), { kind: "HTTPResponseBackend", name: "sorry" }],
  }),
  manifest("FailoverBackend", "canary", { backendRefs: [group("canary"), group("stable")] }),
  manifest("WeightedBackend", "shop", {
    backends: [
      { backendRef: { kind: "FailoverBackend", name: "stable" }, weight: 95 },
      { backendRef: { kind: "FailoverBackend", name: "canary" }, weight: 5 },
    ],
  }),

  manifest("TLSEdge", "orders", {
    addressRefs: named("orders"),
    backend: { backendRef: { kind: "WeightedBackend", name: "shop" } },
    tlsTermination: { terminateAt: "edge", minVersion: "1.3" },
    mutualTls: { certificateAuthorityRefs: named("inline", "partners", "operations") },
    ipRestriction: { ipPolicyRefs: named("office", "vpn") },
    policy: { inbound: [{ expressions: ["true"], actions: [{ type: "log" }] }] },
  }),
  manifest("TCPEdge", "database", {
    addressRefs: named("database"),
    backend: { backendRef: group("stable") },
    ipRestriction: { ipPolicyRefs: named("office") },
  }),
  manifest("HTTPSEdgeRoute", "console", {
    ...route,
    ipRestriction: { ipPolicyRefs: named("vpn") },
    oidc: {
      issuer: "https://login.example.com",
      clientId: "console",
      clientSecretRef: { name: "keys", key: "client" },
    },
  }),

  manifest("EventDestination", "watched", {
    target: { monitoring: { apiKeyRef: { name: "keys", key: "monitoring" } } },
  }),
  manifest("EventDestination", "kept", {
    target: {
      logs: {
        auth: { creds: { cloudAccessKeyId: "AKIA", cloudSecretAccessKeyRef: { name: "keys", key: "cloud" } } },
        logGroupArn: "arn:aws:logs:eu-west-1:1:log-group:kept",
      },
    },
  }),
  manifest("EventSubscription", "audit", {
    sources: [{ type: "ip_policy_created.v0" }],
    destinationRefs: named("watched", "kept"),
  }),
  manifest("EventSource", "updates", { subscriptionRef: { name: "audit" }, type: "ip_policy_updated.v0" }),

  manifest("APIKey", "inventory", { tokenSecretName: "inventory-key" }),
  manifest("SSHCredential", "branches", { publicKey: ed25519PublicKey(), acl: ["bind:*.example.com"] }),
  manifest("SSHHostCertificate", "bastion", {
    sshCertificateAuthorityId: "sshca_1",
    publicKey: ed25519PublicKey(),
    principals: ["bastion.example.com"],
    certificateSecretName: "bastion-certificate",
  }),
];
