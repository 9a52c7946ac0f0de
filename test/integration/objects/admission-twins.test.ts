import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { customResources } from "../../../src/kinds/index.ts";
import { KubeError } from "../../../src/runtime/connection/errors.ts";
import { refusalsOf } from "../../../src/schema/admission.ts";
import { useWorld } from "../../support/world.ts";
import { leastSpecs, limits, rules } from "./admission-rules.ts";
import { type Spec, specsBeside } from "./admission-values.ts";

// `import` and `plan` ask no API server what it would refuse. What they say of a spec is what an API server says of it.

const world = useWorld({ startOperator: false });

const seed = Number(process.env["SEED"] ?? 20261126);
const rows = Number(process.env["ROWS"] ?? 40);

/** Specs that are accepted, with each rule kept. */
function goodSpecs(kind: string): Spec[] {
  const texts = { description: "What it is for", metadata: '{"team": "one"}' };
  const hasTexts = limits.some((one) => one.kind === kind);
  const good = rules.filter((one) => one.kind === kind).flatMap((one) => one.good);
  return [...(hasTexts ? [texts] : []), ...good].map((more) =>
    JSON.parse(JSON.stringify({ ...leastSpecs[kind], ...more })),
  );
}

/** What the API server refuses, and nothing where it accepts. */
async function refusedByServer(kind: string, name: string, spec: Spec): Promise<string[]> {
  try {
    await world.kube.create({ kind, metadata: { name }, spec }, { dryRun: true });
    return [];
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 422) throw error;
    return error.causes.map(({ field, message }) => `${field} ${message}`);
  }
}

describe(`a spec is valid here exactly when the API server accepts it, with seed ${seed}`, () => {
  const written = customResources.filter(({ kind }) => kind !== "TunnelSession");
  test.each(written.map((kind) => [kind.kind, kind] as const))("%s", async (name, { spec: schema, rules }) => {
    const good = goodSpecs(name);
    expect(good.flatMap((spec) => refusalsOf(schema, spec, rules))).toEqual([]);
    const changed = fc.sample(specsBeside(good), { numRuns: rows, seed });
    const different = await Promise.all(
      [...good, ...changed].map(async (spec, index) => {
        const here = refusalsOf(schema, spec, rules).map(({ path, message }) => `${path} ${message}`);
        const there = await refusedByServer(name, `object-${index}`, spec);
        return (here.length === 0) === (there.length === 0) ? [] : [{ spec, here, there }];
      }),
    );
    expect(different.flat()).toEqual([]);
  });
});
