import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomFrom } from "../../tools/shared/random.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import { seeds } from "../fakes/runtime/seed.ts";
import { useWorld } from "../support/world.ts";
import { ForeignRemotes } from "./support/foreign-remotes.ts";
import { Population } from "./support/population.ts";
import { RandomKills } from "./support/random-kills.ts";

const KILLING_SECONDS = 10;

const env = { REQUEST_TIMEOUT: "2s", RESYNC_INTERVAL: "3s", MAX_DELETES_PER_MINUTE: "0" };

// CHAOS_SEED repeats a run as far as time allows
describe.each(seeds(2))("killed again and again, with CHAOS_SEED=%d", (seed) => {
  const world = useWorld({ process: true, startOperator: false, simulator: { seed, pageSize: 20 }, env });
  const random = randomFrom(seed);
  const population = new Population(world, random);
  const kills = new RandomKills(world, random);
  let others: ForeignRemotes;

  beforeAll(() => kills.open());
  afterAll(() => kills.close());

  test("the account ends as the objects say, with no other remotes", async () => {
    others = new ForeignRemotes(world.simulator);
    for (const { of, name } of Population.labels) others.add(of.collection, of.lookalike(`${name}-1`));
    await population.begin();

    const end = Date.now() + KILLING_SECONDS * 1000;
    const isOver = () => Date.now() > end;
    const changing = async () => {
      while (!isOver()) {
        await population.change();
        await sleep(random.below(40));
      }
    };
    await Promise.all([kills.run(isOver), changing()]);
    console.log(`seed ${seed}: killed ${kills.killed} times, ${population.wanted.length} objects wanted`);

    let problems: string[] = [];
    await world.startOperator();
    const calm = world.until(
      "account and objects agree",
      async () => {
        problems = await population.problems((collection) => others.except(collection));
        return problems.length === 0;
      },
      45,
    );
    await calm.catch((cause) => expect.fail([...problems, cause.message].join("\n")));
  });

  test("no remote was created twice", () => {
    const labels = world.simulator.control
      .requests({ method: "POST", status: 201 })
      .map(({ body }) => (body as Members)["description"]);
    expect(labels.length).toBeGreaterThan(10);
    expect(labels.filter((label, index) => labels.indexOf(label) !== index)).toEqual([]);
  });

  test("no remote of others is changed", () => others.expectUntouched());
});
