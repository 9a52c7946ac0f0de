import { expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { GatewayError } from "../gateway/errors.ts";
import type { Intent } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import { Retry } from "../objects/reconcile-error.ts";
import { Failures } from "./failures.ts";
import { digestOf } from "./key-proof.ts";
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
  memory.claim("ipp_2", other);
  memory.forget("a");
  expect(memory.isClaimedByOther("ipp_1", other)).toBe(false);
  expect(memory.isClaimedByOther("ipp_2", one)).toBe(true);
  expect(memory.isClaimedByOther("ipp_3", one)).toBe(false);
});

it("a refused create counts for its intent and its object alone", () => {
  const { memory } = given();
  const [one, other] = ["a", "b"].map((uid) => ({ metadata: { uid } })) as [ManagedObject, ManagedObject];
  const [intent, next] = [1, 2].map((last) => ({ signed: true, first: 1, last }) as const) as [Intent, Intent];
  memory.recordFutileCreate(one, intent);
  const asked = [
    memory.isCreateFutile(one, intent),
    memory.isCreateFutile(one, next),
    memory.isCreateFutile(other, intent),
  ];
  expect(asked).toEqual([true, false, false]);
  memory.forget("a");
  expect(memory.isCreateFutile(one, intent)).toBe(false);
});

it("modules that were left are those of one remote, until somebody takes them", () => {
  const { memory } = given();
  memory.leaveModules("edghts_1/a", ["saml", "oidc"]);
  memory.forgetLeftModules("edghts_1/a", ["saml"]);
  memory.forgetLeftModules("edghts_1/b", ["oidc"]);
  const left = (id: string) => ["saml", "oidc", "oauth"].map((field) => memory.isLeftModule(id, field));
  expect([left("edghts_1/a"), left("edghts_1/b")]).toEqual([
    [false, true, false],
    [false, false, false],
  ]);
});

it("the token of each remote is recognized, and only its digest is kept", () => {
  const { memory } = given();
  memory.recordToken("ak_1", "hush");
  expect(memory.tokenDigestOf("ak_1")).toBe(digestOf("hush"));
  expect(memory.tokenDigestOf("ak_2")).toBeUndefined();
});
