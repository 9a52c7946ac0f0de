import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { customResources, kinds } from "../../src/kinds/index.ts";
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
});
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

test("Argo CD has health for the whole group, and the same actions for each managed kind", async () => {
  const { data } = parse(await read("argocd/argocd-cm.yaml"));
  expect(Object.keys(parse(data["resource.customizations"]))).toEqual([`${GROUP}/*`]);
  const { "resource.customizations": _, ...actions } = data;
  const key = (kind: string) => `resource.customizations.actions.${GROUP}_${kind}`;
  const managed = kinds.map(({ kind }) => key(kind));
  // the operator makes the sessions, so no application has them
  const others = customResources.map(({ kind }) => key(kind)).filter((one) => !managed.includes(one));
  expect(Object.keys(actions).sort()).toEqual(
    [...managed, ...others].filter((one) => one !== key("TunnelSession")).sort(),
  );
  expect(new Set(managed.map((one) => actions[one])).size).toBe(1);
  const { definitions } = parse(actions[key("IPPolicy")]);
  expect(definitions.map(({ name }: { name: string }) => name)).toEqual(["reconcile", "pause", "resume"]);
});

test("Argo CD removes what leaves Git, and prunes without waiting for what waits for the prune", async () => {
  const { metadata, spec } = find(objectsIn(await read("argocd/objects.yaml")), "Application");
  const options: string[] = spec.syncPolicy.syncOptions;
  const compare: string = metadata.annotations["argocd.argoproj.io/compare-options"] ?? "";
  expect(compare.includes("ServerSideDiff=true") && !options.includes("ServerSideApply=true")).toBe(false);
  expect(options).not.toContain("PruneLast=true");
});

test("Argo CD installs the operator before the objects", async () => {
  const [operator] = objectsIn(await read("argocd/operator.yaml"));
  const [objects] = objectsIn(await read("argocd/objects.yaml"));
  const wave = ({ metadata }: KubeJSON) => Number(metadata.annotations["argocd.argoproj.io/sync-wave"]);
  expect(wave(operator)).toBeLessThan(wave(objects));
});

describe("with Flux", () => {
  const kustomizations = async () =>
    objectsIn(await read("flux/kustomizations.yaml")).filter(({ kind }) => kind === "Kustomization");

  test("the objects wait for the operator, and both for what they apply", async () => {
    const [operator, objects] = await kustomizations();
    expect(objects.spec.dependsOn).toEqual([{ name: operator.metadata.name }]);
    for (const { spec } of [operator, objects]) {
      expect(spec).toMatchObject({ wait: true, prune: true, deletionPolicy: "WaitForTermination" });
      expect(Object.keys(spec)).toEqual(expect.arrayContaining(["timeout", "retryInterval"]));
    }
  });

  test("every Kustomization that another one waits for is there, and every source", async () => {
    const all = objectsIn(await read("flux/kustomizations.yaml"));
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    for (const { spec } of await kustomizations()) {
      expect(names).toContain(`${spec.sourceRef.kind} ${spec.sourceRef.name}`);
      for (const { name } of spec.dependsOn ?? []) expect(names).toContain(`Kustomization ${name}`);
    }
  });

  test("the namespace of the operator stays until its chart is uninstalled", async () => {
    const { metadata } = find(objectsIn(await read("flux/operator.yaml")), "Namespace");
    expect(metadata.annotations).toEqual({ "kustomize.toolkit.fluxcd.io/prune": "disabled" });
  });

  test("nothing that can fail for want of the Secret ends the release", async () => {
    const { spec } = find(objectsIn(await read("flux/operator.yaml")), "HelmRelease");
    expect(spec.test).toBeUndefined();
  });

  test("only a chart that the release workflow has signed is installed", async () => {
    const { spec } = find(objectsIn(await read("flux/operator.yaml")), "OCIRepository");
    const [{ issuer, subject }] = spec.verify.matchOIDCIdentity;
    const workflow = "https://github.com/tunnelgateway/tunnel-gateway-operator/.github/workflows/release.yaml";
    expect(`${workflow}@refs/tags/v0.1.0`).toMatch(new RegExp(subject));
    expect(`${workflow}@refs/heads/main`).not.toMatch(new RegExp(subject));
    expect("https://token.actions.githubusercontent.com").toMatch(new RegExp(issuer));
  });
});
