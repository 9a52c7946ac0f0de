import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { accountTables } from "./account.ts";
import { plain } from "./line.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ seed: 1 });
});
afterAll(() => simulator.stop());

const insert = (collection: string, members: Record<string, unknown>) =>
  String(simulator.control.insert(collection, members)["id"]);
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

  it("shows collections that nobody described", () => {
    const id = insert("backends/http_response", { description: "Down for repairs" });
    expect(shown()).toEqual(expect.arrayContaining(["backends/http_response", `${id} | Down for repairs`]));
  });
});
