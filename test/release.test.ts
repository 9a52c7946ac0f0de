import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examples } from "../tools/shared/examples.ts";
import { type EarlierVersion, earlierVersions, keptIn, RELEASES } from "./e2e/support/earlier.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): Promise<string> => readFile(join(root, file), "utf8");

interface Package {
  version: string;
  dev?: boolean;
  devOptional?: boolean;
}

describe("the bill of materials of a release", () => {
  let folder: string;
  let listed: string[];
  let installed: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "release-"));
    await promisify(execFile)(join(root, ".ci/sbom"), [folder]);
    const { components } = JSON.parse(await readFile(join(folder, "sbom.cdx.json"), "utf8"));
    listed = components.map(({ "bom-ref": reference }: { "bom-ref": string }) => reference);
    // what `npm ci --omit=dev` leaves
    const { packages } = JSON.parse(await read("node_modules/.package-lock.json"));
    installed = Object.entries<Package>(packages)
      .filter(([, { dev, devOptional }]) => !dev && !devOptional)
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("lists the packages that npm installs for the program, and no other", () => {
    expect(listed.sort()).toEqual(installed.sort());
  });

  test("is as long as the page on installing says", async () => {
    const { dependencies } = JSON.parse(await read("package.json"));
    expect(Object.keys(dependencies)).toHaveLength(13);
    expect(await read("docs/install.md")).toContain(
      `its ${listed.length} npm packages. Thirteen of them are its own dependencies`,
    );
  });
});

test("the package asks for the Node that its dependencies need, and the pages say so", async () => {
  const { packages } = JSON.parse(await read("package-lock.json"));
  const production = Object.values<Package & { engines?: { node?: string } }>(packages).filter(
    ({ dev, devOptional }) => !dev && !devOptional,
  );
  // of `^20.19.0 || >=22.12.0`, the last part is open to the future
  const oldest = production.flatMap(({ engines }) => / *>= *([\d.]+)[^|]*$/.exec(engines?.node ?? "")?.[1] ?? []);
  const number = (version: string) => version.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
  const needed = oldest.map((version) => [...version.split("."), "0", "0"].slice(0, 3).join("."));
  const newest = needed.reduce((one, other) => (number(one) > number(other) ? one : other));
  const { engines } = JSON.parse(await read("package.json"));
  expect(engines.node).toBe(`>=${newest}`);
  const [short] = /\d+\.\d+/.exec(newest) ?? [];
  const said = ["README.md", "CONTRIBUTING.md", "docs/plugin.md", "docs/support.md", "tools/plugin/krew.yaml"];
  for (const page of [...said, "docs/decisions/0008-dependencies.md"]) {
    expect(await read(page), page).toMatch(new RegExp(`Node(\\.js)? ${short} or newer`));
  }
});

test("the page on what is supported names the versions that are tested", async () => {
  const page = await read("docs/support.md");
  const { devDependencies } = JSON.parse(await read("package.json"));
  expect(page.match(new RegExp(`\\| ${devDependencies.node}`, "g"))).toHaveLength(2);
  const modules = {
    kubernetes: "k8s.io/kubernetes",
    helm: "helm.sh/helm/v4",
    "external-dns": "sigs.k8s.io/external-dns",
  };
  const more = { argocd: "github.com/argoproj/argo-cd/v3", "source-controller": "github.com/fluxcd/source-controller" };
  for (const [tool, module] of Object.entries({ ...modules, ...more })) {
    const [, version] =
      new RegExp(`${module} v([\\d.]+)`).exec(await read(`tools/cluster/build/tools/${tool}/go.mod`)) ?? [];
    expect(page, module).toMatch(new RegExp(`\\D${version?.replaceAll(".", "\\.")}\\D`));
  }
  const [, oldest] =
    /^kubeVersion: ">=([\d.]+)\.0-0"$/m.exec(await read("charts/tunnel-gateway-operator/Chart.yaml")) ?? [];
  expect(page).toContain(`| ${oldest} or newer; the chart refuses an older one |`);
});

test("the pages and examples that name a version to install name this one", async () => {
  const { version } = JSON.parse(await read("package.json"));
  for (const page of ["docs/plugin.md", "docs/install.md", "examples/ci/plan.yaml"]) {
    const named = [...(await read(page)).matchAll(/(?:@|VERSION=)(\d+\.\d+\.\d+)/g)].map(([, found]) => found);
    expect(new Set(named), page).toEqual(new Set([version]));
  }
});

test("the image has the Node of the tests, by a digest", async () => {
  const { devDependencies } = JSON.parse(await read("package.json"));
  const [, image] = /^ARG NODE_IMAGE=(.+)$/m.exec(await read("Dockerfile")) ?? [];
  expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  expect(image).toContain(`/node:${devDependencies.node}-slim@`);
});

describe("the Dockerfile", () => {
  test("takes every image by its digest, and names no other program to be built with", async () => {
    const lines = (await read("Dockerfile")).split("\n");
    const stages = lines.flatMap((line) => /^FROM .* AS (\S+)$/.exec(line)?.[1] ?? []);
    const images = lines.flatMap((line) => /^(?:FROM (?:--platform=\S+ )?|COPY --from=)(\S+)/.exec(line)?.[1] ?? []);
    expect(images.length).toBeGreaterThan(stages.length);
    expect(images.filter((image) => !stages.includes(image) && !/^\$\{NODE_IMAGE\}$/.test(image))).toEqual([]);
    expect(lines.filter((line) => /^#\s*syntax=/i.test(line))).toEqual([]);
  });

  // they run on the platform of the builder, for all platforms
  test("runs what it builds on the builder, whose result is that of each platform", async () => {
    const stages = (await read("Dockerfile")).split(/^FROM /m).slice(1);
    const running = stages.filter((stage) => /^RUN /m.test(stage));
    expect(running.length).toBe(1);
    for (const stage of running) expect(stage).toMatch(/^--platform=\$BUILDPLATFORM /);
    const { packages } = JSON.parse(await read("package-lock.json"));
    const bound = Object.entries<Package & { cpu?: string[]; os?: string[] }>(packages).filter(
      ([, { dev, devOptional, cpu, os }]) => !dev && !devOptional && (cpu ?? os) !== undefined,
    );
    expect(bound).toEqual([]);
  });
});

describe("releases are kept for the test of upgrades", () => {
  test("each version that the changes name, but for the one that is not released yet", async () => {
    const versions = [...(await read("CHANGELOG.md")).matchAll(/^## (\S+)(.*)$/gm)];
    const released = versions.filter(([, , note = ""]) => !note.includes("unreleased")).map(([, version]) => version);
    expect(versions.length).toBeGreaterThan(0);
    expect(keptIn(RELEASES).sort()).toEqual(released.sort());
  });

  test(".ci/keep keeps what the test installs, and notices what has changed since", async () => {
    const copy = await mkdtemp(join(tmpdir(), "keep-"));
    try {
      for (const name of [".ci", "charts", "examples", "package.json"]) {
        await cp(join(root, name), join(copy, name), { recursive: true });
      }
      const keep = (...args: string[]) => promisify(execFile)(join(copy, ".ci/keep"), args);
      const { version } = JSON.parse(await read("package.json"));
      await mkdir(join(copy, "test/e2e/releases"), { recursive: true });
      await expect(keep("--check")).rejects.toThrow(`run .ci/keep, and commit test/e2e/releases/${version}`);
      await keep();
      await keep("--check");
      const versions = earlierVersions(join(copy, "test/e2e/releases"));
      expect(versions.map(({ name }) => name)).toEqual([expect.any(String), version]);
      const { chart, objects } = await (versions[1] as EarlierVersion).unpack(copy);
      expect(await readFile(join(chart, "Chart.yaml"), "utf8")).toBe(
        await read("charts/tunnel-gateway-operator/Chart.yaml"),
      );
      expect(objects).toEqual(await examples());
      await writeFile(join(copy, "charts/tunnel-gateway-operator/values.yaml"), "");
      await expect(keep("--check")).rejects.toThrow();
    } finally {
      await rm(copy, { recursive: true });
    }
  });
});
