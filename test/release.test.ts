import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

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
    // what `npm ci --omit=dev` leaves, as in the image
    const { packages } = JSON.parse(await read("node_modules/.package-lock.json"));
    installed = Object.entries<Package>(packages)
      .filter(([, { dev, devOptional }]) => !dev && !devOptional)
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true }));

  test("lists the packages that the image has, and no other", () => {
    expect(listed.sort()).toEqual(installed.sort());
  });

  test("is as long as the page on installing says", async () => {
    const { dependencies } = JSON.parse(await read("package.json"));
    expect(Object.keys(dependencies)).toHaveLength(12);
    expect(await read("docs/install.md")).toContain(
      `its ${listed.length} npm packages. Twelve of them are its own dependencies`,
    );
  });
});

test("the image has the Node of the tests, by a digest", async () => {
  const { devDependencies } = JSON.parse(await read("package.json"));
  const [, image] = /^ARG NODE_IMAGE=(.+)$/m.exec(await read("Dockerfile")) ?? [];
  expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  expect(image).toContain(`/node:${devDependencies.node}-slim@`);
});
