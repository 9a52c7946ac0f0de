import { expect, it } from "vitest";
import { GatewayError } from "../gateway/errors.ts";
import type { ManagedObject } from "../objects/object.ts";
import { Retry } from "../objects/reconcile-error.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { Failures } from "./failures.ts";
import { ObjectMemory } from "./object-memory.ts";

const cause = new GatewayError({
  kind: "failed",
  method: "PATCH",
  route: "/ip_policies/{id}",
  status: 500,
  problem: "no",
});
const failure = { error: new Retry("ServiceUnavailable", "no"), cause, asked: "1", inputs: "1", isTransient: true };

function given() {
  const clock = new VirtualClock();
  return { memory: new ObjectMemory(clock, 30_000), former: new Failures(clock), next: new Failures(clock) };
}

it("the failure of an object in its former account is forgotten when the object is tried in another account", () => {
  const { memory, former, next } = given();
  for (const uid of ["a", "b"]) memory.recordFailure(former, uid, failure);
  memory.tryIn(next, "a");
  expect(former.of("a")).toBeUndefined();
  memory.tryIn(former, "b");
  expect(former.of("b")).toBeDefined();
});

it("an object has one failure, in the account where it failed last, and none when it is gone", () => {
  const { memory, former, next } = given();
  memory.recordFailure(former, "a", failure);
  memory.recordFailure(next, "a", failure);
  expect([former.of("a"), next.of("a")]).toEqual([undefined, expect.anything()]);
  memory.forget("a");
  expect(next.of("a")).toBeUndefined();
});

it("a remote that an object has claimed is free again when the object is gone", () => {
  const { memory } = given();
  const [one, other] = ["a", "b"].map((uid) => ({ metadata: { uid } }) as ManagedObject) as [
    ManagedObject,
    ManagedObject,
  ];
  memory.claim("ipp_1", one);
  expect([memory.isClaimedByOther("ipp_1", one), memory.isClaimedByOther("ipp_1", other)]).toEqual([false, true]);
  memory.forget("a");
  expect(memory.isClaimedByOther("ipp_1", other)).toBe(false);
});
