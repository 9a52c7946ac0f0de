import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { useStage } from "./support/stage.ts";
import { type Point, type StepName, stepTypeOf, traces } from "./support/steps.ts";
import { casesOf, type Subject, sought, subjects } from "./support/subjects.ts";

const stage = useStage();

const [domain, route] = ["domain", "route"].map((name) => subjects.find(({ sort }) => sort === name)) as [
  Subject,
  Subject,
];
const claim: Subject = {
  ...domain,
  sort: "claim",
  spec: (name) => ({ ...domain.spec(name), adopt: { existing: true }, deletionPolicy: "Delete" }),
};

const [destination, others] = [true, false].map((is) =>
  sought.filter(({ sort }) => (sort === "destination") === is),
) as [Subject[], Subject[]];

// To be late, a request has to be on one of sixteen connections, and a read that is late is no other read.
describe.each([
  ["before", [...sought, claim, route]],
  ["after", [...sought, claim, route]],
  ["late", [...others, route]],
  ["late", destination],
] as const)("killed %s a step of a create", (at, some) => {
  const all = casesOf("create", at, some);
  const cases = at === "late" ? all.filter(({ point }) => traces([point.step]).length > 0) : all;
  let objects: Map<string, KubeJSON>;

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.restart();
    objects = await stage.allReady(cases);
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with one remote", (one) => {
    const { subject, name, point } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(({ id }) => id)).toEqual([objects.get(name).status.id]);
    expect(stage.createsOf(name)).toBe(subject === route ? 0 : 1);
    if (at === "late") return;
    expect(traces(stage.stepsInTime(name))).toEqual(expected(subject, point));
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
});

describe("killed while creates wait for their turn", () => {
  const names = Array.from({ length: 12 }, (_, index) => `waiting-${index}`);
  const made = () => stage.world.simulator.control.objects("ip_policies");

  beforeAll(async () => {
    await stage.world.kube.apply(...names.map((name) => manifest("IPPolicy", name, { description: name })));
    // six at once, of which the list is one, and then one every two seconds
    await stage.start({ REQUESTS_PER_MINUTE: "30" });
    await stage.world.until("one had its turn", async () => made().length > 0);
    await stage.world.operator.stop("SIGKILL");
  });

  afterAll(() => stage.clear());

  test("no create is recorded for the objects that were waiting", async () => {
    const waiting = [...(await stage.objects()).values()].filter(({ metadata }) => !metadata.finalizers);
    expect(waiting.length).toBeGreaterThan(0);
    for (const { metadata } of waiting) expect(metadata.annotations ?? {}).not.toHaveProperty(annotations.createIntent);
  });

  test("the next process ends with one remote for each object", async () => {
    await stage.start();
    const objects = await stage.allReady(names.map((name) => ({ name })));
    const ids = [...objects.values()].map(({ status }) => status.id);
    expect(new Set(made().map(({ id }) => id))).toEqual(new Set(ids));
    expect(made()).toHaveLength(names.length);
    expect(names.map((name) => stage.createsOf(name))).toEqual(names.map(() => 1));
  });
});

/** What the next process does, by the last step that was carried out. `waits`: until an open create is settled. */
function expected({ steps: { create = [] } }: Subject, { step, at }: Point): readonly StepName[] {
  const index = create.indexOf(step) + (at === "before" ? 0 : 1);
  const left = traces(create.slice(index));
  switch (create[index - 1] && stepTypeOf(create[index - 1] as StepName)) {
    case "intent":
      // says that it waits until the request can no longer be under way, looks once more, and creates
      return ["status", "intent", ...left];
    case "POST":
      // finds it in the list; before its owner mark is taken off, the status has to have the id
      return create.includes("unmark") ? ["status", ...left.filter((one) => one !== "id")] : left;
    default:
      return left;
  }
}
