import { describe, expect, it } from "vitest";
import * as z from "zod";
import { EventDestination } from "../../kinds/event-destination.ts";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import { mark } from "../traits.ts";
import { needsOf } from "./needs.ts";
import { toRequest } from "./request.ts";

const nothing = new Map<string, unknown>();

describe("toRequest", () => {
  it("leaves out what is unset, and keeps what is empty", () => {
    expect(toRequest(ReservedAddress.spec, { description: "", metadata: null, region: undefined }, nothing)).toEqual({
      description: "",
    });
  });

  it("fills in the defaults of an object that may be empty, where the API server does not", () => {
    expect(toRequest(TCPEdge.spec, { policy: {} }, nothing)).toEqual({ policy: { enabled: true } });
    expect(toRequest(TCPEdge.spec, { policy: { enabled: false } }, nothing)).toEqual({ policy: { enabled: false } });
  });

  it("leaves out fields that the kind does not have, such as the policies of every spec", () => {
    expect(toRequest(ReservedAddress.spec, { region: "eu", deletionPolicy: "Retain" }, nothing)).toEqual({
      region: "eu",
    });
  });

  it("leaves out a field that is not in the body", () => {
    const schema = z.object({ renewBefore: mark(z.string(), { notInBody: true }), principals: z.array(z.string()) });
    expect(toRequest(schema, { renewBefore: "720h", principals: ["a"] }, nothing)).toEqual({ principals: ["a"] });
  });

  it("never renames keys of the user's own", () => {
    const labels = { appName: "db", "team/Name": "X" };
    expect(toRequest(TunnelGroupBackend.spec, { labels }, nothing)).toEqual({ labels });
  });

  it("never renames settings of a policy action, at any depth", () => {
    const config = { statusCode: 403, nested: { someKey: [{ otherKey: null }] } };
    const policy = { enabled: true, inbound: [{ actions: [{ type: "deny", config }] }] };
    expect(toRequest(TCPEdge.spec, { policy }, nothing)).toEqual({
      policy: { enabled: true, inbound: [{ actions: [{ type: "deny", config }] }] },
    });
  });

  it("replaces references with their resolved values", () => {
    const spec = {
      backend: { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "db" } },
      ipRestriction: { enabled: false, ipPolicyRefs: [{ name: "office" }, { id: "ipp_2" }] },
    };
    const resolved = new Map([
      ["backend.backendRef", "bkdtg_1"],
      ["ipRestriction.ipPolicyRefs[0]", "ipp_1"],
      ["ipRestriction.ipPolicyRefs[1]", "ipp_2"],
    ]);
    expect(toRequest(TCPEdge.spec, spec, resolved)).toEqual({
      backend: { enabled: true, backend_id: "bkdtg_1" },
      ip_restriction: { enabled: false, ip_policy_ids: ["ipp_1", "ipp_2"] },
    });
  });

  it("joins two fields that feed one list", () => {
    const spec = { hostports: ["a.example:1"], addressRefs: [{ name: "db" }] };
    const resolved = new Map([["addressRefs[0]", "b.example:2"]]);
    expect(toRequest(TCPEdge.spec, spec, resolved)).toEqual({ hostports: ["a.example:1", "b.example:2"] });
  });

  it("names an address once, however often it is named", () => {
    const spec = { hostports: ["a.example:1"], addressRefs: [{ name: "db" }] };
    const resolved = new Map([["addressRefs[0]", "a.example:1"]]);
    expect(toRequest(TCPEdge.spec, spec, resolved)).toEqual({ hostports: ["a.example:1"] });
  });

  it("names a remote once that is named by its object and by its id", () => {
    const spec = { backendRefs: [{ kind: "TunnelGroupBackend", name: "web" }, { id: "bkdtg_2" }, { id: "bkdtg_1" }] };
    const resolved = new Map(["bkdtg_1", "bkdtg_2", "bkdtg_1"].map((id, index) => [`backendRefs[${index}]`, id]));
    expect(toRequest(FailoverBackend.spec, spec, resolved)).toEqual({ backends: ["bkdtg_1", "bkdtg_2"] });
  });

  it("adds the weights of a backend that is named by its object and by its id", () => {
    const backendRefs = [{ kind: "TunnelGroupBackend", name: "web" }, { id: "bkdtg_1" }];
    const spec = { backends: backendRefs.map((backendRef, index) => ({ backendRef, weight: index + 1 })) };
    const resolved = new Map([0, 1].map((index) => [`backends[${index}].backendRef`, "bkdtg_1"]));
    expect(toRequest(WeightedBackend.spec, spec, resolved)).toEqual({ backends: { bkdtg_1: 3 } });
  });

  it("replaces the reference to a Secret with the value", () => {
    const spec = { format: "json", target: { monitoring: { apiKeyRef: { name: "dd", key: "api" }, ddtags: "a:b" } } };
    const resolved = new Map([["target.monitoring.apiKeyRef", "hush"]]);
    expect(toRequest(EventDestination.spec, spec, resolved)).toEqual({
      format: "json",
      target: { monitoring: { api_key: "hush", ddtags: "a:b" } },
    });
  });

  it("encodes a value as its field says", () => {
    const shares = mark(z.array(z.object({ id: z.string(), weight: z.int() })), {
      encode: (list: { id: string; weight: number }[]) =>
        Object.fromEntries(list.map(({ id, weight }) => [id, weight])),
    });
    const schema = z.object({ backends: shares.optional() });
    expect(toRequest(schema, { backends: [{ id: "b1", weight: 3 }] }, nothing)).toEqual({ backends: { b1: 3 } });
  });

  it("fills several members from the keys of one Secret", () => {
    const members = {
      certificate_pem: { key: "tls.crt" },
      private_key_pem: { key: "tls.key", secret: true },
    } as const;
    const schema = z.object({ secretName: mark(z.string(), { secretName: { members } }) });
    const resolved = new Map(needsOf(schema, { secretName: "tls" }).map(({ path }, index) => [path, `value ${index}`]));
    expect(toRequest(schema, { secretName: "tls" }, resolved)).toEqual({
      certificate_pem: "value 0",
      private_key_pem: "value 1",
    });
  });
});
