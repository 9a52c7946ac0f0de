import { describe, expect, it } from "vitest";
import * as z from "zod";
import { EventDestination } from "../../kinds/event-destination.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { OWNER_KEY } from "../contract.ts";
import { trafficPolicyModule } from "../modules/traffic-policy.ts";
import { mark } from "../traits.ts";
import { differences, membersOf, same, withoutExclusions } from "./compare.ts";
import type { Body } from "./request.ts";

const domain = ReservedDomain.spec;
const edge = TCPEdge.spec;

interface Row {
  why: string;
  schema: z.ZodObject;
  wanted: Body;
  seen: Body;
}

const policy = (...actions: object[]) => ({ policy: { enabled: true, inbound: [{ actions }] } });
const owned = (text: string) => ({ metadata: text });

const equal: Row[] = [
  { why: "an empty text and none", schema: domain, wanted: { description: "" }, seen: {} },
  { why: "an empty text and null", schema: domain, wanted: { description: "" }, seen: { description: null } },
  { why: "an empty list and none", schema: edge, wanted: { hostports: [] }, seen: {} },
  { why: "an empty map and none", schema: TunnelGroupBackend.spec, wanted: { labels: {} }, seen: {} },
  {
    why: "lists whose order means nothing",
    schema: edge,
    wanted: { hostports: ["a:1", "b:2"] },
    seen: { hostports: ["b:2", "a:1"] },
  },
  {
    why: "ids whose order means nothing, inside a module",
    schema: edge,
    wanted: { ip_restriction: { enabled: true, ip_policy_ids: ["b", "a"] } },
    seen: { ip_restriction: { enabled: true, ip_policy_ids: ["a", "b"] } },
  },
  {
    why: "objects in a list whose order means nothing",
    schema: EventSubscription.spec,
    wanted: { sources: [{ type: "b_c.v0" }, { type: "a_c.v0" }] },
    seen: { sources: [{ type: "a_c.v0" }, { type: "b_c.v0" }] },
  },
  {
    why: "host names in another case, with a final dot",
    schema: domain,
    wanted: { domain: "A.Example.com" },
    seen: { domain: "a.example.com." },
  },
  {
    why: "metadata with the owner beside the user's keys, in other spacing",
    schema: domain,
    wanted: owned('{"a": 1, "b": [2]}'),
    seen: owned(`{"b":[2],"a":1,"${OWNER_KEY}":"c/n/o"}`),
  },
  {
    why: "metadata with the owner alone, and none",
    schema: domain,
    wanted: owned(`{"${OWNER_KEY}":"c/n/o"}`),
    seen: {},
  },
  {
    why: "a module whose unset member came back null",
    schema: edge,
    wanted: { policy: { enabled: true, inbound: [] } },
    seen: { policy: { enabled: true, outbound: null } },
  },
  {
    why: "an action without settings, and one with none",
    schema: edge,
    wanted: policy({ type: "deny" }),
    seen: policy({ type: "deny", config: null }),
  },
  {
    why: "a target that only lacks the secret that is never answered",
    schema: EventDestination.spec,
    wanted: { target: { monitoring: { api_key: "hush", ddtags: "a:b" } } },
    seen: { target: { monitoring: { ddtags: "a:b" } } },
  },
];

const different: Row[] = [
  { why: "another text", schema: domain, wanted: { description: "a" }, seen: { description: "b" } },
  { why: "a text and none", schema: domain, wanted: { description: "a" }, seen: {} },
  {
    why: "opaque metadata, by a space",
    schema: domain,
    wanted: owned("hello world"),
    seen: owned("hello  world"),
  },
  { why: "metadata whose user keys differ", schema: domain, wanted: owned('{"a":1}'), seen: owned('{"a":2}') },
  {
    why: "metadata whose numbers differ beyond what a number holds",
    schema: domain,
    wanted: owned('{"a":9007199254740993}'),
    seen: owned('{"a":9007199254740992}'),
  },
  { why: "metadata that is no JSON after all", schema: domain, wanted: owned('{"a":1'), seen: owned('{"a":1}') },
  {
    why: "labels by the case of a key",
    schema: TunnelGroupBackend.spec,
    wanted: { labels: { App: "db" } },
    seen: { labels: { app: "db" } },
  },
  {
    why: "rules whose order is their meaning",
    schema: edge,
    wanted: policy({ type: "a" }, { type: "b" }),
    seen: policy({ type: "b" }, { type: "a" }),
  },
  {
    why: "settings of an action",
    schema: edge,
    wanted: policy({ type: "a", config: { n: 1 } }),
    seen: policy({ type: "a", config: { n: "1" } }),
  },
  {
    why: "a module that is switched off",
    schema: edge,
    wanted: { backend: { enabled: true, backend_id: "b" } },
    seen: { backend: { enabled: false, backend_id: "b" } },
  },
  {
    why: "false and none",
    schema: edge,
    wanted: { policy: { enabled: false } },
    seen: {},
  },
  {
    why: "a target of another sort, though secrets are not compared",
    schema: EventDestination.spec,
    wanted: { target: { monitoring: { api_key: "hush" } } },
    seen: { target: { logs: { log_group_arn: "arn" } } },
  },
];

describe("differences", () => {
  it.each(equal)("has none for $why", ({ schema, wanted, seen }) => {
    expect(differences(schema, wanted, seen, [])).toEqual([]);
  });

  it.each(different)("tells $why", ({ schema, wanted, seen }) => {
    const [member = ""] = Object.keys(wanted);
    expect(differences(schema, wanted, seen, [])).toMatchObject([{ member, how: "change", value: wanted[member] }]);
  });

  it("leaves a member alone that is unset and was never set by this object", () => {
    expect(differences(domain, {}, { description: "theirs", region: "eu" }, ["domain"])).toEqual([]);
  });

  it("reports as frozen what the service accepts on create only", () => {
    expect(differences(domain, { domain: "a.com" }, { domain: "b.com" }, [])).toEqual([
      { member: "domain", fields: ["domain"], how: "frozen", value: "a.com" },
    ]);
  });

  it("has none for a default of the service where the field says so", () => {
    const schema = z.object({ minVersion: mark(z.string(), { serverDefault: true }).optional() });
    const nested = z.object({ tls: schema });
    expect(differences(nested, { tls: {} }, { tls: { min_version: "1.2" } }, [])).toEqual([]);
    expect(differences(nested, { tls: { min_version: "1.3" } }, { tls: { min_version: "1.2" } }, [])).toHaveLength(1);
  });
});

describe("differences, where a field was set and is removed", () => {
  const removed = (schema: z.ZodObject, field: string, seen: Body) => differences(schema, {}, seen, [field]);

  it.each<[string, z.ZodObject, string, Body, unknown]>([
    ["a text", domain, "description", { description: "a" }, ""],
    ["a list", EventSubscription.spec, "sources", { sources: [{ type: "a_b.v0" }] }, []],
    ["a map", TunnelGroupBackend.spec, "labels", { labels: { a: "b" } }, {}],
    ["a policy", domain, "certificateManagementPolicy", { certificate_management_policy: { authority: "x" } }, null],
    ["a reference", domain, "certificateRef", { certificate_id: "cert_1" }, null],
  ])("clears %s with the empty value of its type", (_, schema, field, seen, value) => {
    expect(removed(schema, field, seen)).toMatchObject([{ fields: [field], how: "change", value }]);
  });

  it.each<[string, Body]>([
    ["unset", {}],
    ["null", { description: null }],
    ["empty", { description: "" }],
  ])("clears nothing when the member is %s", (_, seen) => {
    expect(removed(domain, "description", seen)).toEqual([]);
  });

  it("clears a member that two fields feed only when both are gone", () => {
    const seen = { hostports: ["a:1", "b:2"] };
    expect(differences(edge, { hostports: ["a:1"] }, seen, ["hostports", "addressRefs"])).toMatchObject([
      { value: ["a:1"] },
    ]);
    expect(removed(edge, "addressRefs", seen)).toMatchObject([{ fields: ["hostports", "addressRefs"], value: [] }]);
  });

  it("switches a module off and keeps its settings, which the service accepted once", () => {
    expect(removed(edge, "backend", { backend: { enabled: true, backend_id: "b" } })).toMatchObject([
      { how: "change", value: { enabled: false, backend_id: "b" } },
    ]);
  });

  it("changes nothing when the module is off already", () => {
    expect(removed(edge, "backend", { backend: { enabled: false, backend_id: "b" } })).toEqual([]);
  });

  it("deletes a module that has an operation for it, on or off", () => {
    for (const enabled of [true, false]) {
      expect(removed(edge, "policy", { policy: { enabled } })).toEqual([
        { member: "policy", fields: ["policy"], how: "remove" },
      ]);
    }
  });

  it("says that it is frozen where the service takes it on create only", () => {
    expect(removed(ReservedDomain.spec, "region", { region: "eu" })).toMatchObject([{ how: "frozen" }]);
  });
});

describe("membersOf", () => {
  it("names the fields that feed each member", () => {
    expect(membersOf(edge).get("hostports")?.fields).toEqual(["hostports", "addressRefs"]);
  });

  it("leaves out what is not in the body", () => {
    const schema = z.object({ renewBefore: mark(z.string(), { notInBody: true }) });
    expect(membersOf(schema).size).toBe(0);
  });
});

describe("same", () => {
  it("keeps the order of a list that is not marked", () => {
    const rules = trafficPolicyModule("delete");
    const named = (...names: string[]) => ({ inbound: names.map((name) => ({ name, actions: [] })) });
    expect(same(rules, named("a", "b"), named("a", "b"))).toBe(true);
    expect(same(rules, named("a", "b"), named("b", "a"))).toBe(false);
  });
});

describe("members that exclude each other", () => {
  const policy = { authority: "freeca" };

  it.each([
    ["to uploaded", "cert_1", null, [{ certificate_management_policy: null }, { certificate_id: "cert_1" }]],
    ["to managed", null, policy, [{ certificate_id: null }, { certificate_management_policy: policy }]],
  ])("are sent one after another: %s", (_, id, managed, expected) => {
    const body = { description: "d", certificate_id: id, certificate_management_policy: managed };
    expect(withoutExclusions(domain, body)).toEqual(expected.map((one) => ({ description: "d", ...one })));
  });

  it("are sent at once when there is only one of them", () => {
    const body = { description: "d", certificate_id: "cert_1" };
    expect(withoutExclusions(domain, body)).toEqual([body]);
  });
});

it("takes an immutable member that an answer leaves out for kept, and no other", () => {
  expect(differences(domain, { domain: "a.example", region: "eu" }, { domain: "a.example" }, [])).toEqual([]);
  expect(differences(domain, { region: "eu" }, { region: "us" }, [])).toMatchObject([{ how: "frozen" }]);
  expect(differences(domain, { description: "d" }, {}, [])).toMatchObject([{ how: "change" }]);
});
