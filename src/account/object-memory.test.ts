import { beforeEach, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import type { ManagedObject } from "../objects/object.ts";
import { digestOf } from "./key-proof.ts";
import { ObjectMemory } from "./object-memory.ts";
import type { ObjectRecord } from "./object-record.ts";

let clock: VirtualClock;
let memory: ObjectMemory;

beforeEach(() => {
  clock = new VirtualClock();
  memory = new ObjectMemory({ clock, deadlineMs: 30_000 });
});

const [one, other] = ["a", "b"].map((uid) => ({ metadata: { uid } }) as ManagedObject) as [
  ManagedObject,
  ManagedObject,
];

it("an object has one record until its work ends, and then a new one", () => {
  const record = memory.of(one);
  expect([memory.of(one), memory.known("a"), memory.known("b")]).toEqual([record, record, undefined]);
  expect(memory.of(other)).not.toBe(record);
  memory.end("a");
  expect([record.isEnded, memory.known("a")]).toEqual([true, undefined]);
  expect(memory.of(one)).not.toBe(record);
});

/** Until nothing that was sent for the object can be carried out any more. */
const secondsLeft = ({ settledAt }: ObjectRecord): number => Math.max(settledAt - clock.now(), 0) / 1000;

it("a create that made nothing counts for itself and its object alone", () => {
  const [intent, next] = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z"] as const;
  memory.of(one).recordFutileCreate(intent);
  const asked = [memory.of(one).isCreateFutile(intent), memory.of(one).isCreateFutile(next)];
  expect([...asked, memory.of(other).isCreateFutile(intent)]).toEqual([true, false, false]);
  memory.end("a");
  expect(memory.of(one).isCreateFutile(intent)).toBe(false);
});

it("3.8: changes of a process before may arrive until 37 s after the first reconcile, whatever the account", async () => {
  const both = () => [secondsLeft(memory.of(one)), secondsLeft(memory.of(other))];
  await clock.advance(3_600_000);
  expect(secondsLeft(memory.of(one))).toBe(37);
  await clock.advance(36_000);
  expect(both()).toEqual([1, 1]);
  memory.of(one).recordUnansweredChange();
  expect(both()).toEqual([37, 1]);
  await clock.advance(38_000);
  expect(both()).toEqual([0, 0]);
});

it("an object that is restored with another uid waits for what was sent for the former one", async () => {
  memory.of(one);
  await clock.advance(60_000);
  memory.end("a");
  expect(secondsLeft(memory.of(other))).toBe(0);
  memory.of(one).recordUnansweredChange();
  await clock.advance(7_000);
  memory.end("a");
  const restored = { metadata: { uid: "c" } } as ManagedObject;
  expect([memory.of(restored), memory.of(other)].map(secondsLeft)).toEqual([30, 0]);
});

it("nothing is under way once a create has been recorded, or was answered", async () => {
  const record = memory.of(one);
  await clock.advance(1_000);
  record.recordSettled();
  expect([secondsLeft(record), record.settledAt]).toEqual([0, clock.now()]);
});

it("changes of another installation may arrive until 37 s after the object has passed to this one", async () => {
  memory.of(one).corrections.record(one, ["labels"], true);
  await clock.advance(60_000);
  memory.take("a");
  await clock.advance(7_000);
  expect([secondsLeft(memory.of(one)), secondsLeft(memory.of(other))]).toEqual([30, 0]);
  expect(memory.of(one).corrections.count(one, ["labels"])).toBe(0);
});

it("changes of a leader before may arrive, also if an object came and went while this process was on standby", async () => {
  memory.take("a");
  memory.end("a");
  await clock.advance(3_600_000);
  expect([memory.of(one), memory.of(other)].map(secondsLeft)).toEqual([37, 37]);
});

it("modules that were left are those of one remote, until somebody takes them", () => {
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
  memory.recordToken("ak_1", "hush");
  expect(memory.tokenDigestOf("ak_1")).toBe(digestOf("hush"));
  expect(memory.tokenDigestOf("ak_2")).toBeUndefined();
});
