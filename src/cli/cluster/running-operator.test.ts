import { expect, test } from "vitest";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { KubeError } from "../../runtime/connection/errors.ts";
import type { LeaseSpec } from "../../runtime/process/lease.ts";
import { runningOperator } from "./running-operator.ts";

const now = Date.parse("2026-01-01T00:00:20Z");

const own = { podNamespace: "own", installation: "default" };

const withLease = (spec: LeaseSpec) => ({ get: async () => ({ spec }) }) as unknown as KubeClient;
const without = {
  get: async () => {
    throw new KubeError({ status: 404, reason: "NotFound", message: "" });
  },
} as unknown as KubeClient;

test.each([
  ["renewed in time", { holderIdentity: "a", renewTime: "2026-01-01T00:00:10.000000Z" }, { holder: "a" }],
  ["run out", { holderIdentity: "a", renewTime: "2026-01-01T00:00:01.000000Z" }, "none"],
  ["given back", { holderIdentity: "", renewTime: "2026-01-01T00:00:19.000000Z" }, "none"],
  ["never held", {}, "none"],
])("a lease that is %s", async (_, spec, expected) => {
  expect(await runningOperator(withLease({ leaseDurationSeconds: 15, ...spec }), own, now)).toEqual(expected);
});

test("is unknown when there is no Lease, or when its namespace is unknown", async () => {
  expect(await runningOperator(without, own, now)).toBe("unknown");
  expect(await runningOperator(without, { ...own, podNamespace: undefined }, now)).toBe("unknown");
});
