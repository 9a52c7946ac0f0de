import { describe, expect, it } from "vitest";
import { AgentIngress } from "../../kinds/agent-ingress.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { answerFieldsOf } from "../common.ts";
import { fromAnswer, MOST_SHOWN_BYTES, shownOf, toStatus } from "./answer.ts";

describe("fromAnswer", () => {
  it("turns references back into ids", () => {
    const answer = {
      backend: { enabled: true, backend: { id: "bkdtg_1", uri: "u" } },
      ip_restriction: { enabled: false, ip_policies: [{ id: "ipp_1" }, { id: "ipp_2" }] },
    };
    expect(fromAnswer(TCPEdge.spec, answer)).toEqual({
      backend: { enabled: true, backend_id: "bkdtg_1" },
      ip_restriction: { enabled: false, ip_policy_ids: ["ipp_1", "ipp_2"] },
    });
  });

  it("leaves out null, missing and unknown members", () => {
    const answer = { id: "edgtcp_1", description: null, hostports: null, backend: null, color: "blue" };
    expect(fromAnswer(TCPEdge.spec, answer)).toEqual({});
  });

  it("leaves out secrets that the service echoes", () => {
    const answer = { format: "json", target: { monitoring: { api_key: "hush", ddtags: "a:b" }, logs: null } };
    expect(fromAnswer(EventDestination.spec, answer)).toEqual({
      format: "json",
      target: { monitoring: { ddtags: "a:b" } },
    });
  });

  it("sees destinations and sources of a subscription as they are sent", () => {
    const answer = { sources: [{ type: "a_b.v0", uri: "u" }], destinations: [{ id: "ed_1", uri: "u" }] };
    expect(fromAnswer(EventSubscription.spec, answer)).toEqual({
      sources: [{ type: "a_b.v0" }],
      destination_ids: ["ed_1"],
    });
  });

  it("sees an attached endpoint configuration by its id", () => {
    expect(fromAnswer(ReservedAddress.spec, { endpoint_configuration: { id: "ec_1", uri: "u" } })).toEqual({
      endpoint_configuration_id: "ec_1",
    });
  });

  it.each([
    ["an uploaded certificate counts as the spec's", null, "cert_1"],
    ["one that was issued automatically does not", { authority: "freeca", private_key_type: "rsa" }, undefined],
  ])("of a domain: %s", (_, policy, expected) => {
    const answer = { domain: "a.example.com", certificate: { id: "cert_1" }, certificate_management_policy: policy };
    expect(fromAnswer(ReservedDomain.spec, answer)["certificate_id"]).toBe(expected);
  });
});

describe("toStatus", () => {
  it("has no half of a surrogate pair, which the API server would change", () => {
    const answer = { uri: "a\ud800b", region_domains: ["eu.\udc00", "us"] };
    expect(toStatus(answerFieldsOf(AgentIngress), answer)).toEqual({
      uri: "a\ufffdb",
      regionDomains: ["eu.\ufffd", "us"],
    });
  });

  it("keeps the members of the status in its own names, however deep", () => {
    const answer = {
      id: "rd_1",
      created_at: "2026-01-01T00:00:00Z",
      domain: "a.example.com",
      description: "not in the status",
      cname_target: "x.example.net",
      certificate_management_status: { renews_at: null, provisioning_job: { error_code: "DNS_ERROR", msg: "no" } },
    };
    expect(toStatus(answerFieldsOf(ReservedDomain), answer)).toEqual({
      id: "rd_1",
      createdAt: "2026-01-01T00:00:00Z",
      domain: "a.example.com",
      cnameTarget: "x.example.net",
      dnsRecords: [{ name: "a.example.com", type: "CNAME", targets: ["x.example.net"] }],
      certificateManagementStatus: { provisioningJob: { errorCode: "DNS_ERROR", msg: "no" } },
    });
  });

  it("shows the first 20 of many tunnels, in the order of their ids, and how many there are", () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `tn_${1999 - index}`);
    const status = toStatus(answerFieldsOf(TunnelGroupBackend), { id: "bkdtg_1", tunnels: ids.map((id) => ({ id })) });
    const shown = ids.slice(-20).reverse();
    expect(status).toEqual({ id: "bkdtg_1", tunnels: shown.map((id) => ({ id })), tunnelCount: 1000 });
  });

  it("has a count of zero", () => {
    expect(toStatus(answerFieldsOf(TunnelGroupBackend), { id: "bkdtg_1", tunnels: [] })).toMatchObject({
      tunnelCount: 0,
    });
  });

  it("keeps the members of references that the schema knows", () => {
    const answer = { id: "rd_1", certificate: { id: "cert_1", uri: "u", color: "blue" } };
    expect(toStatus(answerFieldsOf(ReservedDomain), answer)).toEqual({
      id: "rd_1",
      certificate: { id: "cert_1", uri: "u" },
    });
  });

  it.each([
    ["null", null],
    ["an empty text", ""],
    ["missing", undefined],
  ])("has no member for one that is %s", (_, value) => {
    expect(toStatus(answerFieldsOf(ReservedAddress), { id: "ra_1", addr: value })).toEqual({ id: "ra_1" });
  });
});

describe("shownOf", () => {
  const targets = (bytes: number) => ["x".repeat(bytes - 4)];

  it("leaves out a whole field that is too large, so that no part is taken for the whole", () => {
    const answer = { id: "agin_1", ns_targets: targets(MOST_SHOWN_BYTES + 1), region_domains: ["us.example.com"] };
    expect(shownOf(answerFieldsOf(AgentIngress), answer)).toEqual({
      status: { id: "agin_1", regionDomains: ["us.example.com"] },
      tooLarge: ["nsTargets"],
    });
  });

  it("shows what just fits", () => {
    const answer = { id: "agin_1", ns_targets: targets(MOST_SHOWN_BYTES) };
    expect(shownOf(answerFieldsOf(AgentIngress), answer).tooLarge).toEqual([]);
  });
});
