import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds as definitions } from "../../src/kinds/index.ts";
import { STATE_SECRET } from "../../src/schema/contract.ts";
import { useStage } from "./support/stage.ts";
import { type Point, type StepName, stepTypeOf, traces } from "./support/steps.ts";
import { type Case, casesOf, creatingCases, type Subject, subjects } from "./support/subjects.ts";

const stage = useStage();

/** Those whose create is recorded before it is sent. */
const recorded = subjects.filter(({ steps }) => steps.create?.includes("intent"));

describe.each(["before", "after", "late"] as const)("killed %s a step of a delete", (at) => {
  const cases = casesOf("delete", at);

  beforeAll(async () => {
    await stage.create(cases);
    await stage.start();
    await stage.allReady(cases);
    await stage.killAt(
      cases.map(({ point }) => point),
      () => stage.world.kubectl("delete", "tunnelgateway", "--all", "--wait=false"),
    );
    await stage.restart();
    await stage.allGone();
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: neither object nor remote is left", (one) => {
    const { subject, name, point } = one;
    expect(stage.remotesOf(one)).toEqual([]);
    if (at !== "late") expect(traces(stage.stepsOf(name))).toEqual(expected(subject, point));
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
});

/** How a story ends whose objects are all gone. */
function nothingIsLeft(cases: readonly Case[]): void {
  afterAll(() => stage.clear());

  test.each(cases)("$name: neither object nor remote is left", (one) => {
    expect(stage.remotesOf(one)).toEqual([]);
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
}

/** What was not carried out yet. That a remote is gone is not written down, so it is asked to go once more. */
function expected({ steps: { delete: all = [] } }: Subject, { step, at }: Point): readonly StepName[] {
  const left = traces(all.slice(all.indexOf(step) + (at === "before" ? 0 : 1)));
  const [first] = all;
  return first && left.length > 0 && isOfWhole(first) ? [...new Set([first, ...left])] : left;
}

const isOfWhole = (step: StepName): boolean => stepTypeOf(step) !== "DELETE module";

/** What objects share is held for all of them. */
describe("killed while it asks whether a namespace or kind is being deleted", () => {
  const cases = casesOf("delete", "before").filter(({ subject, point }) => point.step === subject.steps.delete?.[0]);
  const destination = cases.find(({ subject }) => subject.sort === "destination") as Case;
  const kinds = (at: Point["at"]): Point[] =>
    definitions
      .filter(({ kind }) => cases.some(({ subject }) => subject.kind === kind))
      .map(({ plural }) => ({ of: plural, step: "kind", at }));
  const namespace = (at: Point["at"]): Point => ({ of: stage.world.namespace, step: "namespace", at });

  beforeAll(async () => {
    await stage.create(cases);
    await stage.start();
    const made = await stage.allReady(cases);
    const { id } = made.get(destination.name).status;
    // somebody else uses it, so it matters whether the whole namespace goes
    const user = stage.others.add("event_subscriptions", { description: "theirs", destination_ids: [id] });
    await stage.killAt(kinds("before"), () => stage.world.kubectl("delete", "tunnelgateway", "--all", "--wait=false"));
    await stage.killAt(kinds("after"));
    await stage.killAt([namespace("before")]);
    await stage.killAt([namespace("after")]);
    await stage.start();
    await stage.world.condition("EventDestination", destination.name, { type: "Ready", reason: "InUse" });
    stage.others.remove(String(user["id"]));
    await stage.allGone();
    await stage.world.quiet();
  });

  nothingIsLeft(cases);
});

describe("killed within a create, then deleted together with its Secret", () => {
  const cases = creatingCases(subjects, [
    { step: "intent", at: "after" },
    { step: "making", at: "after" },
    { step: "making", at: "late" },
    { step: "status", at: "before" },
  ]);

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    // the key of intents is here, since this operator has no namespace of its own
    const others = `--field-selector=metadata.name!=${STATE_SECRET}`;
    await stage.world.kubectl("delete", "tunnelgateway,secrets", others, "--wait=false");
    await stage.restart();
    await stage.allGone();
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: neither object nor remote is left, and no remote is created again", (one) => {
    const { subject, name, point } = one;
    expect(stage.remotesOf(one)).toEqual([]);
    expect(stage.createsOf(name)).toBe(point.step === "intent" || !recorded.includes(subject) ? 0 : 1);
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
});

describe("killed within an update, then deleted", () => {
  const changes: readonly string[] = ["PATCH", "PUT module"];
  const cases = (["after", "late"] as const).flatMap((at) =>
    casesOf("update", at).filter(({ point }) => changes.includes(stepTypeOf(point.step))),
  );

  beforeAll(async () => {
    await stage.create(cases);
    await stage.start();
    await stage.allReady(cases);
    await stage.killAt(
      cases.map(({ point }) => point),
      () => stage.apply(cases, ({ subject, name }) => subject.edited(name)),
    );
    await stage.world.kubectl("delete", "tunnelgateway", "--all", "--wait=false");
    await stage.restart();
    await stage.allGone();
    await stage.world.quiet();
  });

  nothingIsLeft(cases);
});
