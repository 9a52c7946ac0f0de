import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { replacementCases } from "./support/replacements.ts";
import { useStage } from "./support/stage.ts";

const stage = useStage();

describe.each(["before", "after", "late"] as const)("killed %s a step of a replacement", (at) => {
  const cases = replacementCases(at);
  const sorts = Map.groupBy(cases, ({ replacement }) => replacement);

  beforeAll(async () => {
    const objects = cases.flatMap(({ replacement, name }) => replacement.manifests(name));
    await stage.world.kube.apply(...objects);
    await stage.start();
    await stage.allReady(
      objects.filter(({ kind }) => !["Secret", "ConfigMap"].includes(kind)).map(({ metadata }) => metadata),
    );
    const begin = async () => {
      for (const [{ begin: change }, same] of sorts)
        await change(
          stage.world,
          same.map(({ name }) => name),
        );
    };
    await stage.killAt(
      cases.map(({ point }) => point),
      begin,
    );
    await stage.restart();
    let left: string[] = [];
    const through = stage.world.until(
      "the new one of each is left",
      async () => {
        const objects = await stage.objects();
        left = [];
        for (const one of cases) if (!(await isThrough(one, objects.get(one.name)))) left.push(one.name);
        return left.length === 0;
      },
      40,
    );
    await through.catch((cause) => {
      throw new Error(`Not through: ${left.join(", ")}`, { cause });
    });
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  async function isThrough({ replacement, name }: (typeof cases)[number], { status }: KubeJSON): Promise<boolean> {
    const [row, ...more] = replacement.remotes(stage.world, name);
    if (!row || more.length > 0 || status.retiring !== undefined || status.id !== row["id"]) return false;
    return replacement.isWanted(stage.world, name, row);
  }

  test.each(cases)("$name: one remote in the end, and its referrers use it", async (one) => {
    const { replacement, name, point } = one;
    expect(await isThrough(one, (await stage.objects()).get(name))).toBe(true);
    expect(stage.createsOf(name)).toBe(replacement.isLost?.(point) ? 3 : 2);
  });

  test("no delete was sent for a remote that another one used", () => {
    const refused = stage.world.simulator.control.requests({ method: "DELETE", status: 400 });
    expect(refused.map(({ path }) => path)).toEqual([]);
  });
});
