import { describe, expect, test } from "vitest";
import { parseBaseURL, resolvePage } from "./base-url.ts";

describe("parseBaseURL", () => {
  test.each([
    ["https://api.example.com", { origin: "https://api.example.com", prefix: "" }],
    ["https://api.example.com/", { origin: "https://api.example.com", prefix: "" }],
    ["https://API.example.com:443//", { origin: "https://api.example.com", prefix: "" }],
    ["http://127.0.0.1:8080/gate/way/", { origin: "http://127.0.0.1:8080", prefix: "/gate/way" }],
    [" https://api.example.com/v\n", { origin: "https://api.example.com", prefix: "/v" }],
  ])("reads %j", (text, expected) => {
    expect(parseBaseURL(text)).toEqual(expected);
  });

  test.each([
    ["", "not absolute"],
    ["api.example.com", "no scheme"],
    ["/api", "a path"],
    ["ftp://api.example.com", "another scheme"],
    ["file:///etc/passwd", "another scheme"],
    ["https://user@api.example.com", "a user"],
    ["https://user:hunter2-pass@api.example.com", "a password"],
    ["https://api.example.com/?key=hunter2-pass", "a query"],
    ["https://api.example.com/#top", "a fragment"],
  ])("refuses %j: %s", (text) => {
    const refusal = expect(() => parseBaseURL(text));
    refusal.toThrow(TypeError);
    refusal.not.toThrow(/hunter2/);
  });
});

describe("resolvePage", () => {
  const base = { origin: "https://api.example.com", prefix: "/gate" };
  const collection = "/gate/reserved_domains";

  test.each([
    ["https://api.example.com/gate/reserved_domains?before_id=rd_1", "an absolute address"],
    ["https://api.example.com:443/gate/reserved_domains?before_id=rd_1#x", "with the default port"],
    ["https://someone@api.example.com/gate/reserved_domains?before_id=rd_1", "with a user, who is dropped"],
    ["/gate/reserved_domains?before_id=rd_1", "a path"],
    ["/reserved_domains?before_id=rd_1", "a path without the prefix"],
    ["https://api.example.com/reserved_domains?before_id=rd_1", "an address without the prefix"],
    ["reserved_domains?before_id=rd_1", "relative to the base"],
    ["?before_id=rd_1", "a query"],
  ])("follows %s: %s", (next) => {
    expect(resolvePage(base, collection, next)).toBe("/gate/reserved_domains?before_id=rd_1");
  });

  test.each([
    ["https://evil.example/gate/reserved_domains?before_id=rd_1", "another host"],
    ["http://api.example.com/gate/reserved_domains", "no longer encrypted"],
    ["https://api.example.com:8443/gate/reserved_domains", "another port"],
    ["https://api.example.com.evil.example/", "a host that begins alike"],
    ["https://api.example.com@evil.example/", "a host in the clothes of a user"],
    ["//evil.example/reserved_domains", "without a scheme"],
    ["\\\\evil.example\\reserved_domains", "with backslashes"],
    ["data:text/plain,x", "no origin at all"],
    ["https://", "not an address"],
  ])("does not follow %s: %s", (next) => {
    expect(resolvePage(base, collection, next)).toBeUndefined();
  });

  test("keeps paths unchanged when the base has no prefix", () => {
    const bare = { origin: "https://api.example.com", prefix: "" };
    expect(resolvePage(bare, "/backends/weighted", "/backends/weighted?page=2")).toBe("/backends/weighted?page=2");
  });
});
