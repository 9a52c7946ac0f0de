import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { selfSigned } from "../simulator/certificates/self-signed.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { ed25519PublicKey } from "../simulator/testing/samples.ts";
import { accountTables } from "./account.ts";
import { plain } from "./screen/line.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ seed: 1 });
});
afterAll(() => simulator.stop());

const insert = (collection: string, members: Record<string, unknown>) =>
  String(simulator.control.insert(collection, members)["id"]);
const validity = { notBefore: new Date("2025-01-31T00:00:00Z"), notAfter: new Date("2040-01-31T00:00:00Z") };
const shown = () => accountTables(simulator.control).map((line) => plain(line).trim().replace(/ {2,}/g, " | "));

describe("the account", () => {
  it("shows what matters of each collection that is not empty", () => {
    expect(shown()).toEqual([]);

    const policy = insert("ip_policies", { description: "Office" });
    const address = insert("reserved_addrs", { region: "eu" });
    const addr = String(simulator.control.get(address)?.["addr"]);
    const domain = insert("reserved_domains", { domain: "shop.example.com" });
    const backend = insert("backends/tunnel_group", { labels: { app: "git", role: "replica" } });
    const open = insert("edges/tcp", {});
    const edge = insert("edges/tcp", {
      description: "Git",
      hostports: [addr],
      backend: { backend_id: backend },
      ip_restriction: { ip_policy_ids: [policy] },
    });
    const destination = insert("event_destinations", { format: "json", target: { monitoring: { api_key: "hush" } } });
    const sources = [{ type: "ip_policy_created.v0" }];
    const subscription = insert("event_subscriptions", { sources, destination_ids: [destination] });

    expect(shown()).toEqual([
      "ip_policies",
      `${policy} | Office`,
      "reserved_addrs",
      `${address} | ${addr}`,
      "reserved_domains",
      `${domain} | shop.example.com`,
      "backends/tunnel_group",
      `${backend} | app=git, role=replica`,
      "edges/tcp",
      open,
      `${edge} | ${addr}, to ${backend.slice(0, 12)}…, for 1 IP policy | Git`,
      "event_destinations",
      `${destination} | monitoring`,
      "event_subscriptions",
      `${subscription} | ip_policy_created.v0, to 1 destination`,
    ]);
  });

  it("shows where traffic goes, and who may come in", () => {
    simulator.control.reset();
    const stable = insert("backends/tunnel_group", { labels: { app: "shop" } });
    const sorry = insert("backends/http_response", { status_code: 503, headers: { "Retry-After": "9" } });
    const split = insert("backends/weighted", { backends: { [stable]: 95, [sorry]: 5 } });
    const either = insert("backends/failover", { backends: [split, sorry] });
    const authority = insert("certificate_authorities", {
      ca_pem: selfSigned({ commonName: "Partners", authority: true, ...validity }).certificatePem,
    });
    const edge = insert("edges/tls", {
      hostports: ["orders.example.com:443"],
      backend: { backend_id: either },
      mutual_tls: { certificate_authority_ids: [authority] },
    });
    const credential = insert("ssh_credentials", { public_key: ed25519PublicKey(), acl: ["bind:*.example.com"] });
    const host = insert("ssh_host_certificates", {
      ssh_certificate_authority_id: "sshca_1",
      public_key: ed25519PublicKey(),
      principals: ["bastion.example.com"],
      valid_until: "2040-06-30T00:00:00Z",
    });
    const ingress = insert("agent_ingresses", { domain: "agents.example.com" });
    const { certificatePem, privateKeyPem } = selfSigned({ commonName: "files.example.com", ...validity });
    const certificate = insert("tls_certificates", { certificate_pem: certificatePem, private_key_pem: privateKeyPem });
    const start = (id: string) => `${id.slice(0, 12)}…`;

    expect(shown()).toEqual([
      "agent_ingresses",
      `${ingress} | agents.example.com, 2 NS records`,
      "backends/tunnel_group",
      `${stable} | app=shop`,
      "backends/http_response",
      `${sorry} | 503, 1 header`,
      "backends/weighted",
      `${split} | 95 to ${start(stable)}, 5 to ${start(sorry)}`,
      "backends/failover",
      `${either} | ${start(split)}, then ${start(sorry)}`,
      "edges/tls",
      `${edge} | orders.example.com:443, to ${start(either)}, with client certificates of 1 authority`,
      "ssh_credentials",
      `${credential} | bind:*.example.com`,
      "ssh_host_certificates",
      `${host} | bastion.example.com, until 2040-06-30`,
      "certificate_authorities",
      `${authority} | Partners, until 2040-01-31`,
      "tls_certificates",
      `${certificate} | files.example.com, until 2040-01-31`,
    ]);
  });

  it("shows collections that nobody described", () => {
    const id = insert("api_keys", { description: "Nightly inventory" });
    expect(shown()).toEqual(expect.arrayContaining(["api_keys", `${id} | Nightly inventory`]));
  });
});
