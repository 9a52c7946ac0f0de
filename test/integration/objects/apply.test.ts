import { join } from "node:path";
import { expect, test } from "vitest";
import { crdOf } from "../../../src/generate/crd.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { customResourceOf } from "../../../src/schema/common.ts";
import { examples } from "../../../tools/shared/examples.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { minimalSpecs } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** Objects as `kubectl apply`, `kubectl apply --server-side`, Flux and Argo CD write them, one after the other. */
const world = useWorld({ startOperator: false });

const directory = join(import.meta.dirname, "../../../examples");
const apply = (...options: string[]) => world.kubectl("apply", "-f", directory, ...options);

test("each example can be applied on the client, on the server and back, and stays unchanged", async () => {
  const documents = (await examples()).filter(({ kind }) => kinds.some((one) => one.kind === kind));
  const stored = () =>
    Promise.all(
      documents.map(async ({ kind, metadata: { name } }) => {
        const object = await world.kube.get(kind, name);
        return { kind, name, spec: object?.spec, generation: object?.metadata.generation };
      }),
    );
  await apply();
  const first = await stored();
  for (const options of [["--server-side"], ["--server-side"], ["--server-side"], [], ["--server-side"]]) {
    const { stderr } = await apply(...options);
    expect(stderr, options.join()).toBe("");
    expect(await stored(), options.join()).toEqual(first);
  }
});

/** The fields that may be `{}`, each with a value that is not. */
const emptiable = kinds.flatMap((kind) => {
  const { properties } = (crdOf(customResourceOf(kind)) as KubeJSON).spec.versions[0].schema.openAPIV3Schema.properties
    .spec;
  return Object.entries<KubeJSON>(properties)
    .filter(([, schema]) => schema["x-kubernetes-map-type"] === "atomic" && !schema["x-kubernetes-validations"])
    .map(([field, schema]) => [kind.kind, field, filled(schema)] as const);
});

function filled({ properties }: KubeJSON): object {
  const [[name, member]] = Object.entries<KubeJSON>(properties ?? { key: {} }) as [[string, KubeJSON]];
  return { [name]: member.type === "boolean" ? true : (member.enum?.[0] ?? "value") };
}

test.each(emptiable)("a %s whose %s has been emptied can be applied again", async (kind, field, value) => {
  const spec = { ...minimalSpecs[kind], [field]: value };
  const emptied = { ...spec, [field]: {} };
  const name = `${kind}-${field}`.toLowerCase();
  for (const given of [spec, emptied, emptied, spec]) {
    const [object] = await world.kube.apply({ kind, metadata: { name }, spec: given });
    expect(object?.spec).toMatchObject(given);
    if (given === emptied) expect(object?.spec[field]).toEqual({});
  }
});

test.each(kinds.map(({ kind }) => kind))(
  "a %s with the minimal spec can be applied after one with more fields",
  async (kind) => {
    const smallest = { kind, metadata: { name: "emptied" }, spec: minimalSpecs[kind] ?? {} };
    await world.kube.apply({ ...smallest, spec: { ...smallest.spec, driftPolicy: "Report" } });
    for (let times = 0; times < 2; times++) {
      const [object] = await world.kube.apply(smallest);
      expect(object?.spec.driftPolicy).toBe("Correct");
    }
  },
);
