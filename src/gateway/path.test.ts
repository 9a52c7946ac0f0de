import { describe, expect, test } from "vitest";
import { Unsent } from "./http/unsent.ts";
import { expandPath, moduleOwnerOf } from "./path.ts";

describe("expandPath", () => {
  test.each([
    ["/ip_policies", {}, "/ip_policies"],
    ["/ip_policies/{id}", { id: "ipp_1" }, "/ip_policies/ipp_1"],
    ["/edges/https/{edge_id}/routes/{id}/oidc", { id: "r", edge_id: "e" }, "/edges/https/e/routes/r/oidc"],
    ["/ip_policies/{id}", { id: "../api_keys?x#y" }, "/ip_policies/..%2Fapi_keys%3Fx%23y"],
    ["/ip_policies/{id}", { id: "$& é" }, "/ip_policies/%24%26%20%C3%A9"],
  ])("fills %s with %j", (template, ids, expected) => {
    expect(expandPath(template, ids)).toBe(expected);
  });

  test.each([
    [{ id: "" }, "would name the collection"],
    [{ id: " " }, "is as good as empty"],
    [{}, "is missing"],
    [{ id: undefined }, "is missing"],
    [{ id: "." }, "proxies resolve it"],
    [{ id: ".." }, "proxies resolve it"],
    [{ id: "\ud800" }, "is not text"],
  ])("refuses %j: %s", (ids, _why) => {
    expect(() => expandPath("/ip_policies/{id}", ids)).toThrow(Unsent);
  });
});

test.each([
  ["/edges/https/{edge_id}/routes/{id}/oidc", "edghts_1/edghtsrt_2", { edge_id: "edghts_1", id: "edghtsrt_2" }],
  ["/edges/tcp/{id}/backend", "edgtcp_1", { id: "edgtcp_1" }],
  ["/edges/https/{edge_id}/routes/{id}/oidc", "edghts_1", { edge_id: "edghts_1", id: undefined }],
])("a module at %s of %s has the owner %j", (path, id, expected) => {
  expect(moduleOwnerOf({ path }, id)).toEqual(expected);
});
