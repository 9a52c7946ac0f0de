import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isNotFound, isUnreachable, KubeError } from "../../../src/runtime/connection/errors.ts";
import { isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { Random } from "../../../tools/shared/random.ts";
import type { World } from "../../support/world.ts";
import { type ObjectTemplate, SECRET, templates } from "./templates.ts";

const MOST = 80;

/** An object that exists, or that existed before. */
interface Individual {
  readonly of: ObjectTemplate;
  readonly name: string;
  /** Counts the objects that have had this name. */
  readonly life: number;
  revision: number;
  state: "wanted" | "deleted" | "gone";
}

/** The description of the remote. It names the object and its life. */
const labelOf = ({ name, life }: Individual): string => `${name}-${life}`;

/** Objects that are created, edited and deleted at random, as by many people. */
export class Population {
  readonly #world: World;
  readonly #random: Random;
  readonly #all: Individual[] = [];

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** The labels of the first lives, before any object exists. */
  static readonly labels = templates.flatMap((of) =>
    Array.from({ length: MOST / templates.length }, (_, index) => ({ of, name: `${of.sort}-${index}` })),
  );

  get wanted(): readonly Individual[] {
    return this.#all.filter(({ state }) => state === "wanted");
  }

  async begin(): Promise<void> {
    const stringData = { apiKey: "a key" };
    await this.#world.kube.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: SECRET }, stringData });
  }

  /** Makes one random change. */
  async change(): Promise<void> {
    const { of, name } = this.#random.of(Population.labels);
    const last = this.#all.findLast((one) => one.name === name);
    if (!last || last.state === "gone") return this.#create({ of, name, life: (last?.life ?? 0) + 1 });
    if (last.state === "deleted") return this.#bury(last);
    if (this.#random() < 0.3) return this.#delete(last);
    last.revision += 1;
    await this.#apply(last);
  }

  /**
   * The differences between the wanted objects and what account and cluster have, in every field. `rows`: the rows of a
   * collection without those of others.
   */
  async problems(rows: (collection: string) => KubeJSON[]): Promise<string[]> {
    const objects = await this.#world.kube.all();
    const ids = new Map(objects.map(({ metadata, status }) => [metadata.name, status?.id]));
    const unready = objects.filter((object) => !isReady(object)).map(({ metadata }) => `${metadata.name} is not ready`);
    const names = this.wanted.map(({ name }) => name).sort();
    const there = objects.map(({ metadata }) => metadata.name).sort();
    const census = isDeepStrictEqual(names, there) ? [] : [`there are ${there}, wanted are ${names}`];
    return [...census, ...unready, ...templates.flatMap((of) => this.#differences(of, rows(of.collection), ids))];
  }

  #differences(of: ObjectTemplate, rows: KubeJSON[], ids: Map<string, string>): string[] {
    const text = (one: unknown) => JSON.stringify(one);
    const seen = rows.map((row) => text({ id: row.id, ...of.shown(row) })).sort();
    const wanted = this.wanted
      .filter((one) => one.of === of)
      .map((one) => text({ id: ids.get(one.name), ...of.remote(labelOf(one), one.revision) }))
      .sort();
    return isDeepStrictEqual(seen, wanted) ? [] : [`${of.kind}: the account has ${seen}, wanted is ${wanted}`];
  }

  async #create(given: Pick<Individual, "of" | "name" | "life">): Promise<void> {
    const born: Individual = { ...given, revision: 0, state: "wanted" };
    this.#all.push(born);
    await this.#apply(born);
  }

  async #apply(one: Individual): Promise<void> {
    const { of, name, revision } = one;
    await insist(() => this.#world.kube.apply(manifest(of.kind, name, of.spec(labelOf(one), revision))));
  }

  async #delete(one: Individual): Promise<void> {
    one.state = "deleted";
    // The answer to the first attempt may have been lost.
    await insist(() => this.#world.kube.delete(one.of.kind, one.name)).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async #bury(one: Individual): Promise<void> {
    const object = await insist(() => this.#world.kube.get(one.of.kind, one.name));
    if (object === undefined) one.state = "gone";
  }
}

/** Repeats a request while the API server is away or starting, as people do. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnreachable(error) && !(error instanceof KubeError && error.status >= 500)) throw error;
      await sleep(200);
    }
  }
}
