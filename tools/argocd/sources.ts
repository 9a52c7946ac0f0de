import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sources } from "./layout.ts";

const root = join(import.meta.dirname, "../..");
const testdata = join(import.meta.dirname, "testdata");

/** The files of this project that the layout is made from. */
export async function readSources(): Promise<Sources> {
  const names = (await readdir(testdata)).filter((name) => name !== "health_test.yaml").sort();
  const objects = names.map(async (name) => [name, await readFile(join(testdata, name), "utf8")] as const);
  return {
    configMap: await readFile(join(root, "examples/gitops/argocd/argocd-cm.yaml"), "utf8"),
    healthTests: await readFile(join(testdata, "health_test.yaml"), "utf8"),
    objects: new Map(await Promise.all(objects)),
  };
}
