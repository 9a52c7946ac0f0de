import { expect, test } from "vitest";
import { object } from "../../../test/fakes/cli/graph.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { annotations } from "../../schema/contract.ts";
import { nextLookOf } from "./next-look.ts";

test.each([
  ["is Ready", {}, undefined],
  ["needs a person", { reason: "InvalidSpec" }, /changes, else by itself in about an hour/],
  ["waits for another object", { reason: "ReferenceNotReady" }, /what it refers to changes/],
  ["waits for a Secret", { reason: "SecretNotReady" }, /Secret/],
  ["waits for the end of a pause", { reason: "RateLimited" }, /when the pause that the service has asked for is over/],
  ["waits for the service", { reason: "ServiceUnavailable" }, /by itself, after some minutes/],
])("an object that %s", (_, given, when) => {
  const found = nextLookOf(object(IPPolicy, "office", given));
  if (when) expect(found).toMatch(when);
  else expect(found).toBeUndefined();
});

test.each([annotations.paused, annotations.releaseTo])("an object with the annotation %s is not reconciled", (name) => {
  const office = object(IPPolicy, "office", { reason: "InvalidSpec" });
  const metadata = { ...office.metadata, annotations: { [name]: "true" } };
  expect(nextLookOf({ ...office, metadata })).toContain(name);
});

test("an object that was never reconciled has no next time", () => {
  const { status: _, ...office } = object(IPPolicy, "office", {});
  expect(nextLookOf(office)).toBeUndefined();
});

test("a failure behind a Ready object counts as well", () => {
  const office = object(IPPolicy, "office", {});
  const synced = { type: "Synced", status: "False", reason: "ServiceUnavailable", message: "" } as const;
  const conditions = [...(office.status?.conditions ?? []), { ...synced, lastTransitionTime: "" }];
  expect(nextLookOf({ ...office, status: { ...office.status, conditions } })).toContain("some minutes");
});
