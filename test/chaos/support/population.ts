import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isNotFound, isUnreachable, KubeError } from "../../../src/runtime/connection/errors.ts";
import { isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { Random } from "../../../tools/shared/random.ts";
import type { World } from "../../support/world.ts";
import { type ObjectTemplate, SECRET, templates } from "./templates.ts";

const MOST = 80;

/** An object that is wanted, or was. */
interface Individual {
  readonly of: ObjectTemplate;
  readonly name: string;
  /** Counts the objects that had the name, one after the other. */
  readonly life: number;
  revision: number;
  state: "wanted" | "deleted" | "gone";
}

/** The description of the remote: it tells which life of which object it is of. */
const labelOf = ({ name, life }: Individual): string => `${name}-${life}`;

/** Objects that are made, edited and deleted as if by many people. */
export class Population {
  readonly #world: World;
  readonly #random: Random;
  readonly #all: Individual[] = [];

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** All labels that there may ever be are known before: those of the first lives. */
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

  /** One change by somebody. */
  async change(): Promise<void> {
    const { of, name } = this.#random.of(Population.labels);
    const last = this.#all.findLast((one) => one.name === name);
    if (!last || last.state === "gone") return this.#create({ of, name, life: (last?.life ?? 0) + 1 });
    if (last.state === "deleted") return this.#bury(last);
    if (this.#random() < 0.3) return this.#delete(last);
    last.revision += 1;
    await this.#apply(last);
  }

  /** Whether account and cluster have nothing but what is wanted, in every field. `rows`: without those of others. */
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
    // its answer may have been lost
    await insist(() => this.#world.kube.delete(one.of.kind, one.name)).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async #bury(one: Individual): Promise<void> {
    const object = await insist(() => this.#world.kube.get(one.of.kind, one.name));
    if (object === undefined) one.state = "gone";
  }
}

/** While the API server is away or starting, people try again. */
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
