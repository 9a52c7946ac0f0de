import { describe, expect, it } from "vitest";
import { AgentIngress } from "../kinds/agent-ingress.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import { answerFieldsOf } from "./common.ts";
import type { Answer, Kind } from "./define.ts";
import { toStatus } from "./wire/answer.ts";

const shown = (kind: Kind, answer: Answer) =>
  (toStatus(answerFieldsOf(kind), answer) as { dnsRecords?: unknown }).dnsRecords;

describe("the DNS records of a remote", () => {
  it.each<[string, Kind, Answer, unknown]>([
    [
      "one CNAME for a host name",
      ReservedDomain,
      { domain: "Shop.example.com", cname_target: "x.example.net.", acme_challenge_cname_target: null },
      [{ name: "shop.example.com", type: "CNAME", targets: ["x.example.net"] }],
    ],
    [
      "a second CNAME for the challenge of a wildcard",
      ReservedDomain,
      { domain: "*.example.com", cname_target: "x.example.net", acme_challenge_cname_target: "y.example.net" },
      [
        { name: "*.example.com", type: "CNAME", targets: ["x.example.net"] },
        { name: "_acme-challenge.example.com", type: "CNAME", targets: ["y.example.net"] },
      ],
    ],
    [
      "a challenge of a host name, should the service ask for one",
      ReservedDomain,
      { domain: "a.example.com", cname_target: "x.example.net", acme_challenge_cname_target: "y.example.net" },
      [
        { name: "a.example.com", type: "CNAME", targets: ["x.example.net"] },
        { name: "_acme-challenge.a.example.com", type: "CNAME", targets: ["y.example.net"] },
      ],
    ],
    ["none for a name of the service", ReservedDomain, { domain: "a.gateway.example", cname_target: null }, undefined],
    [
      "the same NS records in whatever order the service shows them",
      AgentIngress,
      { domain: "in.example.com", ns_targets: ["ns2.example.net.", "ns1.example.net"] },
      [{ name: "in.example.com", type: "NS", targets: ["ns1.example.net", "ns2.example.net"] }],
    ],
    ["none while the service shows no name servers", AgentIngress, { domain: "in.example.com" }, undefined],
  ])("are %s", (_, kind, answer, records) => {
    expect(shown(kind, answer)).toEqual(records);
    expect(kind.dnsRecords?.(answer)).toEqual(records ?? []);
  });

  it("are there whatever the state of the certificate", () => {
    const answer = { domain: "a.example.com", cname_target: "x.example.net" };
    const policy = { certificate_management_policy: { authority: "freeca" }, certificate_management_status: null };
    expect(shown(ReservedDomain, { ...answer, ...policy })).toEqual(shown(ReservedDomain, answer));
  });
});
