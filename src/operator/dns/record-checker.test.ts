import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { DNSRecord } from "../../schema/dns.ts";
import { type Queries, RecordChecker } from "./record-checker.ts";

const cname: DNSRecord = { name: "web.example.com", type: "CNAME", targets: ["x.example.net"] };
const ns: DNSRecord = { name: "in.example.com", type: "NS", targets: ["ns1.example.net", "ns2.example.net"] };

let clock: VirtualClock;
let zone: Record<string, string[] | string>;
let asked: string[];
let checker: RecordChecker;

beforeEach(() => {
  [clock, zone, asked] = [new VirtualClock(), {}, []];
  const query = (type: string) => async (name: string) => {
    asked.push(`${type} ${name}`);
    const found = zone[`${type} ${name}`] ?? "ENODATA";
    if (typeof found === "string") throw Object.assign(new Error(found), { code: found });
    return found;
  };
  const resolver = {
    resolveCname: query("CNAME"),
    resolveNs: query("NS"),
    resolve4: query("A"),
    resolve6: query("AAAA"),
  } as unknown as Queries;
  checker = new RecordChecker({ resolver, clock, externalDNS: false, mayWrite: () => false });
});

describe("the check of a record", () => {
  it.each<[string, DNSRecord, Record<string, string[] | string>, object]>([
    ["there", cname, { "CNAME web.example.com": ["X.example.net."] }, { state: "right" }],
    ["missing", cname, {}, { state: "missing" }],
    ["missing in a zone that is not there", cname, { "CNAME web.example.com": "ENOTFOUND" }, { state: "missing" }],
    [
      "elsewhere",
      cname,
      { "CNAME web.example.com": ["old.example.org"] },
      { state: "elsewhere", there: ["old.example.org"], hasTarget: false },
    ],
    [
      "there as an alias with the addresses of the target",
      cname,
      { "A web.example.com": ["192.0.2.1", "192.0.2.2"], "A x.example.net": ["192.0.2.2"] },
      { state: "right" },
    ],
    [
      "elsewhere, as other addresses",
      cname,
      { "A web.example.com": ["192.0.2.9"], "A x.example.net": ["192.0.2.2"] },
      { state: "elsewhere", there: ["192.0.2.9"], hasTarget: false },
    ],
    [
      "there with all name servers",
      ns,
      { "NS in.example.com": ["ns2.example.net", "ns1.example.net"] },
      { state: "right" },
    ],
    [
      "elsewhere when a name server is missing",
      ns,
      { "NS in.example.com": ["ns1.example.net"] },
      { state: "elsewhere", there: ["ns1.example.net"], hasTarget: true },
    ],
    [
      "elsewhere when there is a name server too many",
      ns,
      { "NS in.example.com": ["ns1.example.net", "ns2.example.net", "a.example.org"] },
      { state: "elsewhere", there: ["a.example.org", "ns1.example.net", "ns2.example.net"], hasTarget: true },
    ],
    [
      "failed when the resolver fails",
      cname,
      { "CNAME web.example.com": "ESERVFAIL" },
      { state: "failed", message: "ESERVFAIL for web.example.com" },
    ],
  ])("is %s", async (_, record, found, check) => {
    zone = found;
    expect(await checker.check(record)).toEqual(check);
  });

  it("queries each name at most once a minute, also for checks at the same time", async () => {
    await Promise.all([checker.check(cname), checker.check(cname), checker.check(ns)]);
    const once = asked.length;
    zone = { "CNAME web.example.com": ["x.example.net"] };
    await clock.advance(59_000);
    expect(await checker.check(cname)).toEqual({ state: "missing" });
    expect(asked).toHaveLength(once);
    await clock.advance(1_000);
    expect(await checker.check(cname)).toEqual({ state: "right" });
  });

  it("returns when it may query again, if the last answer is too old", async () => {
    await checker.check(cname);
    await clock.advance(20_000);
    expect(await checker.check(cname, clock.now())).toEqual({ state: "later", afterSeconds: 40 });
    const since = clock.now();
    await clock.advance(40_000);
    expect(await checker.check(cname, since)).toEqual({ state: "missing" });
  });
});
