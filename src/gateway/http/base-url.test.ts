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
    ["http://internal:8080/reserved_domains?before_id=rd_1", "of the service behind a proxy"],
    ["http://internal:8080/v7/reserved_domains?before_id=rd_1", "below another prefix of the service behind a proxy"],
    ["http://api.example.com/gate/reserved_domains?before_id=rd_1", "of the service behind a TLS terminator"],
    ["https://api.example.com:8443/gate/reserved_domains?before_id=rd_1", "with another port"],
    ["//evil.example/reserved_domains?before_id=rd_1", "without a scheme"],
    ["\\\\evil.example\\reserved_domains?before_id=rd_1", "with backslashes"],
    ["https://api.example.com@evil.example/reserved_domains?before_id=rd_1", "of a host in the clothes of a user"],
  ])("follows %s: %s", (next) => {
    expect(resolvePage(base, collection, next)).toBe("/gate/reserved_domains?before_id=rd_1");
  });

  test.each([
    ["data:text/plain,x", "no origin at all"],
    ["ftp://api.example.com/reserved_domains", "another protocol"],
    ["https://", "not an address"],
  ])("does not follow %s: %s", (next) => {
    expect(resolvePage(base, collection, next)).toBeUndefined();
  });

  test("takes no more than path and query of an address elsewhere", () => {
    expect(resolvePage(base, collection, "https://user:word@evil.example/other/path?page=2#x")).toBe(
      "/gate/other/path?page=2",
    );
  });

  test("keeps paths unchanged when the base has no prefix", () => {
    const bare = { origin: "https://api.example.com", prefix: "" };
    expect(resolvePage(bare, "/backends/weighted", "/backends/weighted?page=2")).toBe("/backends/weighted?page=2");
  });
});
