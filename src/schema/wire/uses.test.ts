import { describe, expect, it } from "vitest";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import type { Answer, Kind } from "../define.ts";
import { referencedValues, valuesReferencing } from "./uses.ts";

const ref = (id: string) => ({ id, uri: `https://service.test/${id}` });

const uses = ({ spec }: Kind, answer: Answer, value: string): boolean => referencedValues(spec, answer).has(value);

describe("referencedValues", () => {
  it.each<[string, Kind, Answer, string]>([
    ["a policy", TCPEdge, { ip_restriction: { enabled: true, ip_policies: [ref("ipp_1"), ref("ipp_2")] } }, "ipp_2"],
    ["a policy of a module without `enabled`", TCPEdge, { ip_restriction: { ip_policies: [ref("ipp_1")] } }, "ipp_1"],
    ["a backend", TCPEdge, { backend: { enabled: true, backend: ref("bkdtg_1") } }, "bkdtg_1"],
    ["an authority", TLSEdge, { mutual_tls: { enabled: true, certificate_authorities: [ref("ca_1")] } }, "ca_1"],
    ["a key of a map of weights", WeightedBackend, { backends: { bkdtg_1: 0 } }, "bkdtg_1"],
    ["an entry of a list", FailoverBackend, { backends: ["bkdtg_1", "bkdwd_2"] }, "bkdwd_2"],
    ["an address, in any case", TCPEdge, { hostports: ["1.TCP.example:1"] }, "1.tcp.example:1"],
    [
      "the certificate of a domain, also the one that was issued",
      ReservedDomain,
      { certificate: ref("cert_1"), certificate_management_policy: { authority: "freeca" } },
      "cert_1",
    ],
    [
      "what an action of a traffic policy is given",
      TCPEdge,
      { policy: { inbound: [{ config: { of: ["ipp_1"] } }] } },
      "ipp_1",
    ],
    ["what a member that nobody knows refers to", TCPEdge, { allow: { enabled: true, of: [ref("ipp_1")] } }, "ipp_1"],
  ])("has %s", (_, kind, answer, value) => {
    expect(uses(kind, { id: "x_1", ...answer }, value)).toBe(true);
  });

  it.each<[string, Kind, Answer]>([
    ["a module that is switched off", TCPEdge, { ip_restriction: { enabled: false, ip_policies: [ref("one")] } }],
    ["a module that is not set", TCPEdge, { ip_restriction: null, backend: null }],
    ["a member that nobody knows and is switched off", TCPEdge, { allow: { enabled: false, of: ["one"] } }],
    ["texts", TCPEdge, { description: "one", metadata: "one" }],
    ["labels", TunnelGroupBackend, { labels: { one: "one" } }],
    ["a longer id", TCPEdge, { backend: { enabled: true, backend: ref("one2") } }],
    ["the id of the remote itself", TCPEdge, { id: "one" }],
  ])("has nothing of %s", (_, kind, answer) => {
    expect(uses(kind, answer, "one")).toBe(false);
  });
});

it("valuesReferencing has the status field that a reference sends, normalized as its field says", () => {
  const status = { id: "ra_1", addr: "1.TCP.example:1" };
  expect(valuesReferencing(TCPEdge.spec, { kind: "ReservedAddress", status })).toEqual(["1.tcp.example:1"]);
  expect(valuesReferencing(TCPEdge.spec, { kind: "IPPolicy", status })).toEqual(["ra_1"]);
  expect(valuesReferencing(WeightedBackend.spec, { kind: "FailoverBackend", status })).toEqual(["ra_1"]);
  expect(valuesReferencing(TCPEdge.spec, { kind: "TLSCertificate", status })).toEqual([]);
  expect(valuesReferencing(TCPEdge.spec, { kind: "ReservedAddress", status: { id: "ra_1" } })).toEqual([]);
});
