import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { kinds } from "../../src/kinds/index.ts";
import { GROUP } from "../../src/schema/contract.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { chart, type Helm, helmFor, objectsIn, succeeded } from "./support/helm.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFile(join(root, "examples/gitops", file), "utf8");

let home: string;
let helm: Helm;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-"));
  helm = await helmFor({ home });
}, 600_000);
afterAll(() => rm(home, { recursive: true }));

const find = (objects: KubeJSON[], kind: string): KubeJSON => objects.find((object) => object.kind === kind);

test.each([
  ["argocd/operator.yaml", "Application", ({ spec }: KubeJSON) => spec.source.helm.valuesObject],
  ["flux/operator.yaml", "HelmRelease", ({ spec }: KubeJSON) => spec.values],
])("the values of %s are those of the chart", async (file, kind, valuesOf) => {
  const values = valuesOf(find(objectsIn(await read(file)), kind));
  const path = join(home, "values.yaml");
  await writeFile(path, stringify(values));
  const objects = objectsIn(await succeeded(helm("template", "tunnel-gateway", chart, "--values", path)));
  const { volumes } = find(objects, "Deployment").spec.template.spec;
  expect(volumes[0].secret.secretName).toBe(values.credentials.existingSecret);
});

test("the Argo CD application names the version of the chart", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect(find(objectsIn(await read("argocd/operator.yaml")), "Application").spec.source.targetRevision).toBe(version);
});

test("Argo CD has health for the whole group, and the same actions for each kind", async () => {
  const { data } = parse(await read("argocd/argocd-cm.yaml"));
  expect(Object.keys(parse(data["resource.customizations"]))).toEqual([`${GROUP}/*`]);
  const { "resource.customizations": _, ...actions } = data;
  expect(Object.keys(actions).sort()).toEqual(
    kinds.map(({ kind }) => `resource.customizations.actions.${GROUP}_${kind}`).sort(),
  );
  expect(new Set(Object.values(actions)).size).toBe(1);
  const { definitions } = parse(Object.values(actions)[0] as string);
  expect(definitions.map(({ name }: { name: string }) => name)).toEqual(["reconcile", "pause", "resume"]);
});

test("both the operator and the objects are of one namespace each, and the operator's comes first", async () => {
  const [operator] = objectsIn(await read("argocd/operator.yaml"));
  const [objects] = objectsIn(await read("argocd/objects.yaml"));
  const wave = ({ metadata }: KubeJSON) => Number(metadata.annotations["argocd.argoproj.io/sync-wave"]);
  expect(wave(operator)).toBeLessThan(wave(objects));
  expect(find(objectsIn(await read("flux/objects.yaml")), "Kustomization").spec).toMatchObject({
    wait: true,
    deletionPolicy: "WaitForTermination",
  });
});
