import { describe, expect, it } from "vitest";
import { EventDestination } from "../../kinds/event-destination.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import { needsOf, sentPath, targetKindsOf } from "./needs.ts";

describe("needsOf", () => {
  it("names each reference by its path, in the order of the fields", () => {
    const spec = {
      ipRestriction: { ipPolicyRefs: [{ name: "office" }, { id: "ipp_1" }] },
      addressRefs: [{ name: "db" }],
      backend: { backendRef: { kind: "TunnelGroupBackend", name: "db" } },
    };
    expect(needsOf(TCPEdge.spec, spec).map(({ path }) => path)).toEqual([
      "addressRefs[0]",
      "backend.backendRef",
      "ipRestriction.ipPolicyRefs[0]",
      "ipRestriction.ipPolicyRefs[1]",
    ]);
  });

  it("says what a reference may name and which status field it sends", () => {
    const [need] = needsOf(TCPEdge.spec, { addressRefs: [{ name: "db" }] });
    expect(need).toEqual({
      type: "reference",
      path: "addressRefs[0]",
      to: { name: "db" },
      trait: { kinds: ["ReservedAddress"], statusField: "addr", exposes: true },
    });
  });

  it("finds Secrets at any depth", () => {
    const creds = { cloudAccessKeyId: "A", cloudSecretAccessKeyRef: { name: "aws", key: "secret" } };
    const spec = { target: { delivery: { auth: { creds }, deliveryStreamArn: "arn" } } };
    expect(needsOf(EventDestination.spec, spec)).toEqual([
      { type: "secret", path: "target.delivery.auth.creds.cloudSecretAccessKeyRef", name: "aws", key: "secret" },
    ]);
  });

  it.each([
    ["a spec that refers to nothing", { domain: "a.example.com" }],
    ["a reference that is null", { domain: "a.example.com", certificateRef: null }],
    ["an empty spec", {}],
  ])("finds none in %s", (_, spec) => {
    expect(needsOf(ReservedDomain.spec, spec)).toEqual([]);
  });
});

describe("targetKindsOf", () => {
  it("finds the kinds that a spec can refer to, however deep", () => {
    const backends = ["TunnelGroupBackend", "HTTPResponseBackend", "WeightedBackend", "FailoverBackend"];
    expect(targetKindsOf(ReservedDomain.spec)).toEqual(["TLSCertificate"]);
    expect(targetKindsOf(TCPEdge.spec)).toEqual(["ReservedAddress", ...backends, "IPPolicy"]);
    expect(targetKindsOf(WeightedBackend.spec)).toEqual(backends);
    expect(targetKindsOf(EventDestination.spec)).toEqual([]);
  });
});

describe("sentPath", () => {
  it.each([
    ["target.monitoring.apiKeyRef", "target.monitoring.api_key"],
    ["field#certificate_pem", "certificate_pem"],
  ])("%s is %s", (path, sent) => {
    expect(sentPath(EventDestination.spec, path)).toBe(sent);
  });

  it("keeps the index in a list", () => {
    expect(sentPath(WeightedBackend.spec, "backends[1].backendRef")).toMatch(/^backends\[1\]\.backend/);
  });
});
