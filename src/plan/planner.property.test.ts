import fc from "fast-check";
import { expect, test } from "vitest";
import { keyPairs } from "../../test/fakes/reconcile/key-pairs.ts";
import { type Subject, subjects } from "../../test/fakes/reconcile/random-subjects.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { seed } from "../../test/fakes/runtime/seed.ts";
import { kinds } from "../kinds/index.ts";
import type { ManagedObject } from "../objects/object.ts";
import { planChanges } from "./planner.ts";

// A plan is right if the operator then sends exactly the requests that the plan has shown.

interface Case {
  /** Its place in the list of subjects. */
  index: number;
  /** What the object was, with its remote in the account: another spec, the same one, or there was none. */
  was: number | undefined;
  /** What is applied; undefined: the object is deleted. */
  becomes: number | undefined;
  /** Somebody else has changed or deleted the remote since. */
  meanwhile: "nothing" | "changed" | "deleted";
}

const cases: fc.Arbitrary<Case[]> = fc.tuple(
  ...subjects.map((_, index) =>
    fc.record({
      index: fc.constant(index),
      was: fc.option(fc.nat(1), { nil: undefined }),
      becomes: fc.option(fc.nat(1), { nil: undefined, freq: 4 }),
      meanwhile: fc.constantFrom<Case["meanwhile"][]>("nothing", "nothing", "changed", "deleted"),
    }),
  ),
);

const subjectOf = ({ index }: Case): Subject => subjects[index] as Subject;

const WRITES = ["create", "update", "delete", "putModule", "deleteModule"];
const methods: Readonly<Record<string, string>> = { create: "POST", update: "PATCH", delete: "DELETE" };

async function everything(scene: Scene, objects: readonly ManagedObject[], rounds: number, seconds = 0): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const object of objects) if (scene.cluster.exists(object)) await scene.reconcile(object);
    await scene.clock.advance(seconds * 1000 + 1);
  }
}

async function given(scene: Scene, all: readonly Case[]): Promise<ManagedObject[]> {
  scene.cluster.setSecret("tls", { ...keyPairs[0] });
  const there = all.flatMap((one) => {
    const { kind, name, spec } = subjectOf(one);
    return one.was === undefined ? [] : [scene.cluster.apply(kind, name, spec(one.was))];
  });
  await everything(scene, there, 3, 60);
  for (const one of all) {
    const { meanwhile } = one;
    const subject = subjectOf(one);
    const object = there.find(({ metadata }) => metadata.name === subject.name);
    const id = object && scene.idOf(object);
    if (!id || meanwhile === "nothing") continue;
    if (meanwhile === "deleted") scene.gateway.drop(subject.kind.resource, id);
    else scene.gateway.change(subject.kind.resource, id, { description: "by hand" });
  }
  return all.flatMap((one) => {
    const { kind, name, spec } = subjectOf(one);
    const { becomes } = one;
    const object = there.find(({ metadata }) => metadata.name === name);
    if (becomes !== undefined) return [scene.cluster.apply(kind, name, spec(becomes))];
    if (object) scene.cluster.delete(object);
    return object && scene.cluster.exists(object) ? [scene.cluster.now(object)] : [];
  });
}

const planOf = (scene: Scene, objects: readonly ManagedObject[]) =>
  planChanges({
    kinds,
    objects,
    isInAccount: () => true,
    account: {
      list: async ({ name }) => scene.gateway.remotesOf({ name } as never) as never,
      module: async () => null,
    },
    cluster: {
      secret: async (_, name) => scene.cluster.secretNow(name),
      configMap: async (namespace, name) => scene.cluster.secrets.configMap(namespace, name),
    },
    clusterID: "c1",
    formerClusterIDs: [],
    isClusterIDSet: true,
    accountNameOf: () => "",
    mayAdopt: () => true,
    undocumented: true,
  });

/** Ids that are new in the plan and in the account have other values, so they are replaced by the name of the object. */
const named = (texts: readonly string[], names: ReadonlyMap<string, string>): string[] =>
  texts
    .map((text) => [...names].reduce((given, [id, name]) => given.replaceAll(new RegExp(`${id}\\b`, "g"), name), text))
    .sort();

/** A create has another time when it is sent than in the plan. */
const withoutCreates = (text: string): string => text.replace(/#2\d{3}-[\d:.TZ-]+/g, "");

const givenSeed = seed();

test(`what a plan shows is what is sent; CHAOS_SEED=${givenSeed}`, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, async (all) => {
      const scene = new Scene();
      const objects = await given(scene, all);
      scene.restart();
      const planned = await planOf(scene, objects);
      const shown = planned.flatMap(({ requests }) =>
        requests.map(({ method, path, body }) => `${method} ${path} ${withoutCreates(JSON.stringify(body ?? null))}`),
      );
      const plannedNames = new Map(
        planned.flatMap(({ changes, before }) =>
          changes.flatMap((change): [string, string][] =>
            change.type === "Created" ? [[change.id, `${before.kind}-${before.metadata.name}`]] : [],
          ),
        ),
      );

      const before = scene.gateway.everyCall.length;
      await everything(scene, objects, 6, 1);
      await everything(scene, objects, 3, 60);
      await everything(scene, objects, 6, 900);
      const calls = scene.gateway.everyCall.slice(before).filter(({ verb }) => WRITES.includes(verb));
      const sent = calls.map(({ verb, resource, id, body }) => {
        const path = kinds.find((kind) => kind.resource.name === resource)?.resource.path ?? "";
        return `${methods[verb]} ${id ? `${path}/${id}` : path} ${withoutCreates(JSON.stringify(body ?? null))}`;
      });
      const newNames = new Map(
        objects
          .filter((object) => scene.cluster.exists(object))
          .flatMap((object): [string, string][] => {
            const id = scene.idOf(object);
            return id && id !== object.status?.id ? [[id, `${object.kind}-${object.metadata.name}`]] : [];
          }),
      );
      expect(named(shown, plannedNames)).toEqual(named(sent, newNames));
      for (const { verb } of calls) seen.add(verb);
    }),
    { numRuns: Number(process.env["RANDOM_RUNS"] ?? 60), seed: givenSeed },
  );
  expect([...seen].sort()).toEqual(["create", "delete", "update"]);
});
