import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Account, openAccount } from "../../tools/simulator/testing/account.ts";
import { DNSServer } from "./dns-server.ts";

let dns: DNSServer;
let account: Account;
beforeAll(async () => {
  dns = await DNSServer.start();
});
afterAll(() => dns[Symbol.asyncDispose]());
beforeEach(async () => {
  dns.zone.clear();
  account = await openAccount({ certificates: { resolver: dns.address } });
});
afterEach(() => account[Symbol.asyncDispose]());

const policy = { authority: "freeca" };
const create = async (domain: string) =>
  (await account.send("POST", "/reserved_domains", { domain, certificate_management_policy: policy })).body;

/** The job runs, or tries again. Its question takes a moment of real time. */
const until = (id: string, isSo: (members: Record<string, unknown>) => boolean) =>
  expect
    .poll(async () => {
      account.pass(300);
      return isSo((await account.send("GET", `/reserved_domains/${id}`)).body);
    })
    .toBe(true);

// biome-ignore lint/suspicious/noExplicitAny: an answer of the simulator
const errorOf = (members: any) => members.certificate_management_status.provisioning_job?.error_code;

describe("a job that asks a DNS server", () => {
  it.each([
    ["www.example.org", "CNAME www.example.org", "cname_target"],
    ["*.example.org", "CNAME _acme-challenge.example.org", "acme_challenge_cname_target"],
  ])("fails until the record of %s is there", async (domain, question, member) => {
    const made = await create(domain);
    await until(made.id, (members) => errorOf(members) === "DNS_ERROR");
    expect(dns.asked).toContain(question);
    dns.zone.set(question, ["elsewhere.example.net"]);
    const asked = dns.asked.length;
    await until(made.id, () => dns.asked.length > asked + 1);
    await until(made.id, (members) => errorOf(members) === "DNS_ERROR");
    dns.zone.set(question, [made[member]]);
    await until(made.id, (members) => members["certificate"] !== null);
  });

  it("succeeds for a name of the service, and asks nobody", async () => {
    const before = dns.asked.length;
    const made = await create("app.gateway.example");
    await until(made.id, (members) => members["certificate"] !== null);
    expect(dns.asked).toHaveLength(before);
  });
});
