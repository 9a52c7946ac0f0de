import { describe, expect, it } from "vitest";
import { plain } from "./screen/line.ts";
import { writes } from "./writes.ts";

type LoggedRequest = Parameters<typeof writes>[0][number];

const request = (members: Partial<LoggedRequest>): LoggedRequest => ({
  seq: 1,
  time: 0,
  method: "GET",
  path: "/ip_policies",
  query: {},
  status: 200,
  headers: {},
  body: undefined,
  handled: true,
  ...members,
});

describe("writes to the account", () => {
  it("are what is not a GET", () => {
    const requests = [request({}), request({ method: "DELETE", path: "/ip_policies/ipp_1", status: 204 })];
    expect(writes(requests).map(plain)).toEqual(["account  DELETE /ip_policies/ipp_1 → 204"]);
  });

  it("name the members that were sent, and no value", () => {
    const [line = []] = writes([request({ method: "POST", status: 201, body: { description: "d", api_key: "hush" } })]);
    expect(plain(line)).toBe("account  POST /ip_policies {description, api_key} → 201");
  });

  it("may have no answer", () => {
    expect(writes([request({ method: "POST", status: null })]).map(plain)).toEqual([
      "account  POST /ip_policies → no answer",
    ]);
  });
});
