import { describe, expect, it, test } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { legal, nameSourceOf, namesOf } from "./names.ts";

test.each([
  ["www.Example.org", "www-example-org"],
  ["*.example.org", "wildcard-example-org"],
  ["  Office & home ", "office-home"],
  ["日本", ""],
  ["a".repeat(80), "a".repeat(63)],
])("%s as a name of Kubernetes is %s", (text, name) => {
  expect(legal(text)).toBe(name);
});

describe("names", () => {
  const one = { id: "ipp_B", created_at: "2026-01-01T00:00:00Z", description: "Office" };
  const two = { id: "ipp_A", created_at: "2026-01-02T00:00:00Z", description: "office!" };

  it("are unique, and those of the oldest remotes do not change when others are added", () => {
    const alone = namesOf(IPPolicy, [one], "description");
    const both = namesOf(IPPolicy, [two, one], "description");
    expect(alone.get("ipp_B")).toBe("office");
    expect(both.get("ipp_B")).toBe("office");
    expect(both.get("ipp_A")).toMatch(/^office-[0-9a-f]{4}$/);
  });

  it("of existing objects are not used again", () => {
    expect(namesOf(IPPolicy, [one], "description", new Set(["office"])).get("ipp_B")).toMatch(/^office-/);
  });

  it("have a suffix that is no longer than needed", () => {
    const [short = ""] = namesOf(IPPolicy, [one], "description", new Set(["office"])).values();
    const [longer] = namesOf(IPPolicy, [one], "description", new Set(["office", short])).values();
    expect(longer).toMatch(new RegExp(`^${short}[0-9a-f]$`));
  });

  it.each([
    ["domain", ReservedDomain, { id: "rd_1", domain: "a.example.org" }, "a-example-org"],
    ["domain", ReservedAddress, { id: "ra_1", addr: "1.tcp.eu.gateway.example:9" }, "1-tcp-eu-gateway-example-9"],
    ["domain", IPPolicy, one, "office"],
    ["description", IPPolicy, { id: "ipp_Ab" }, "ipp-ab"],
    ["id", IPPolicy, one, "ipp-b"],
    ["metadata:team", IPPolicy, { ...one, metadata: '{"team": "Red"}' }, "red"],
    ["metadata:team", IPPolicy, { ...one, metadata: "text" }, "ipp-b"],
  ])("come from %s", (source, kind, remote, name) => {
    expect([...namesOf(kind, [remote], nameSourceOf(source)).values()]).toEqual([name]);
  });
});

test("an unknown source is refused", () => {
  expect(() => nameSourceOf("owner")).toThrow("--name-from must be");
});
