import { describe, expect, it } from "vitest";
import { clusterRequests, sumOf } from "./metrics.ts";

const text = `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{method="GET",code="200"} 3
requests_total{method="POST",code="200"} 4 1700000000000
requests_total{method="POST",code="500",path="a \\"b\\", {c} d"} 1e1
requests_total_seconds{method="GET"} 100
up 1
rest_client_requests_total{method="GET"} 5
rest_client_requests_total{method="PATCH"} 2
rest_client_requests_total{method="DELETE"} 1
`;

describe("the sum of a metric", () => {
  it.each([
    ["all its series", "requests_total", {}, 17],
    ["the series with a label", "requests_total", { method: "POST" }, 14],
    ["the series with several labels", "requests_total", { method: "POST", code: "200" }, 4],
    ["the series with one of several values", "requests_total", { code: ["200", "500"] }, 17],
    ["a value with quotes and braces", "requests_total", { path: 'a \\"b\\", {c} d' }, 10],
    ["a series without labels", "up", {}, 1],
    ["no series", "down", {}, 0],
    ["no series with the label", "up", { method: "GET" }, 0],
  ])("is over %s", (_, name, labels, expected) => expect(sumOf(text, name, labels)).toBe(expected));

  it("tells reads of the cluster from writes", () => expect(clusterRequests(text)).toEqual({ reads: 5, writes: 3 }));
});
