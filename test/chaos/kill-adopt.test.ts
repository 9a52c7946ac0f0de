import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Members } from "../../tools/simulator/shape/members.ts";
import { useStage } from "./support/stage.ts";
import { type Point, type StepName, traces } from "./support/steps.ts";
import { type Case, casesOf, type Subject } from "./support/subjects.ts";

const stage = useStage({ patient: true });

const ids = new Map<string, string>();

/** Takes over what somebody has made before. */
const adopting = ({ subject, name }: Case): Members => {
  const adopt = subject.sort === "domain" ? { existing: true } : { id: ids.get(name) };
  return { ...subject.edited(name), adopt };
};

const existing = ({ subject, name }: Case): Members => {
  const made = subject.lookalike(name);
  return subject.sort === "domain" ? { ...made, domain: subject.spec(name)["domain"] } : made;
};

describe.each(["before", "after", "late"] as const)("killed %s a step of an adoption", (at) => {
  const cases = casesOf("adopt", at);

  beforeAll(async () => {
    for (const one of cases) {
      stage.others.add(one.subject.collection, one.subject.lookalike(one.name));
      const { id } = stage.world.simulator.control.insert(one.subject.collection, existing(one));
      ids.set(one.name, String(id));
    }
    await stage.apply(cases, adopting);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.restart();
    await stage.allReady(cases);
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process has adopted the existing remote", async (one) => {
    const { subject, name, point } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(({ id }) => id)).toEqual([ids.get(name)]);
    expect(subject.isEdited(rows[0] ?? {})).toBe(true);
    expect((await stage.objects()).get(name).status.id).toBe(ids.get(name));
    if (at !== "late") expect(traces(stage.stepsOf(name))).toEqual(expected(subject, point));
  });

  test("no remote is created, and no remote of others is changed", () => {
    expect(stage.world.simulator.control.requests({ method: "POST" })).toEqual([]);
    stage.others.expectUntouched();
  });
});

/** Looks again, and does what was not carried out yet; a Secret's value is sent until the status says that it was. */
function expected({ steps: { adopt = [] } }: Subject, { step, at }: Point): readonly StepName[] {
  const left = adopt.slice(adopt.indexOf(step) + (at === "before" ? 0 : 1));
  if (left.length === 0) return [];
  const again = adopt.filter((one) => one === "GET" || (one === "PATCH" && adopt.includes("secret")));
  return traces(adopt.filter((one) => left.includes(one) || again.includes(one)));
}
