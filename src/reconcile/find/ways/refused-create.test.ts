import { expect, it } from "vitest";
import { Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { ReservedDomain } from "../../../kinds/reserved-domain.ts";
import { withOwnerMark } from "../../../objects/ownership.ts";

const DAY_MS = 24 * 3_600_000;

it.each([
  ["of one process", false],
  ["of two processes", true],
])("a remote that somebody else made between two refused creates %s is not adopted", async (_, restarts) => {
  const scene = new Scene();
  scene.gateway.unique["reserved_domains"] = "domain";
  scene.gateway.refuse("create", 422);
  // such a text has no room for an owner mark
  const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com", metadata: "no JSON" });
  await scene.clock.advance(DAY_MS);
  const theirs = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
  await scene.clock.advance(DAY_MS);
  if (restarts) scene.restart();
  await scene.settle(object, 2);
  expect(scene.reason(object)).toMatch(/^AlreadyExists: /);

  // another process does not know that the create was refused, and searches for what it may have made
  scene.restart();
  await scene.settle(object, 2);
  expect(scene.idOf(object)).toBe("");
  expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
  scene.cluster.delete(object);
  await scene.settle(object).catch(() => undefined);
  expect(scene.gateway.remote(ReservedDomain.resource, theirs.id)).toBeDefined();
});

it.each([
  ["Created", "2026-01-01T00:00:00.000Z"],
  ["Adopted", undefined],
])("a remote of its own that is found by its name is %s, as its mark says", async (origin, create) => {
  const scene = new Scene();
  scene.gateway.unique["reserved_domains"] = "domain";
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "web", create });
  // with another region, it is not taken by its mark alone
  const { id } = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", region: "eu", metadata });
  await scene.clock.advance(DAY_MS);
  const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com", region: "us" });
  expect(scene.cluster.now(object).status).toMatchObject({ id, origin });
});

it("a remote with its own mark is not taken from another object that has it by now, which is named", async () => {
  const scene = new Scene();
  const other = await scene.given(ReservedDomain, "other", { domain: "a.example.com" });
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "web" });
  scene.gateway.change(ReservedDomain.resource, scene.idOf(other), { metadata });
  const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
  expect(scene.idOf(object)).toBe("");
  expect(scene.reason(object)).toBe(
    `OwnershipConflict: Delete this object, or ask for a release by ReservedDomain team-a/other, which has ${scene.idOf(other)}`,
  );
});
