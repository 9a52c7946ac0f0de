import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "../..");

/**
 * Writes the program into a folder: `dist` has the code, its own and that of its packages, and the maps of its lines;
 * `node_modules` has name and licence of each of these packages.
 */
export async function bundle(folder: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: { main: "src/main.ts", "kubectl-tunnelgateway": "src/kubectl-tunnelgateway.ts" },
    platform: "node",
    plugins: [loadedWhenNeeded("src/runtime/connection/kubeconfig-file.ts", "yaml")],
  });
  // the maps are found by their names: a process that knew of them would read them at once
  const { output } = await build.write({
    dir: resolve(folder, "dist"),
    format: "esm",
    sourcemap: "hidden",
    sourcemapExcludeSources: true,
    // wherever this was made
    sourcemapPathTransform: (source, map) => relative(root, resolve(dirname(map), source)),
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  const modules = output.filter(({ type }) => type === "chunk").flatMap((chunk) => (chunk as OutputChunk).moduleIds);
  const packages = new Set(modules.flatMap((id) => packageOf(id) ?? []));
  await copyFile(join(root, "package.json"), join(folder, "package.json"));
  await Promise.all([...packages].map((path) => tell(path, join(folder, path))));
}

/** A package that one file requires within a function stays a part that is run at that time. */
function loadedWhenNeeded(file: string, name: string): Plugin {
  const written = `createRequire(import.meta.url)("${name}")`;
  return {
    name: "loaded-when-needed",
    transform(code, id) {
      if (id !== join(root, file)) return undefined;
      if (!code.includes(written))
        throw new Error(`${file} has no ${written} any more: correct ${import.meta.filename}`);
      // on one line, so the map of the file stays right
      return { code: code.replace(written, `require("${name}")`), map: null };
    },
  };
}

/** The folder of the package of a module, from the root: of one within another one, the inner. */
function packageOf(id: string): string | undefined {
  const path = id.slice(root.length + 1).split(sep);
  const at = path.lastIndexOf("node_modules");
  return at < 0 ? undefined : path.slice(0, at + (path[at + 1]?.startsWith("@") ? 3 : 2)).join(sep);
}

/** Leaves at the place of a package what says that it is in the bundle, for people and for scanners, and its licence. */
async function tell(path: string, place: string): Promise<void> {
  const { name, version, license } = JSON.parse(await readFile(join(root, path, "package.json"), "utf8"));
  const licences = (await readdir(join(root, path))).filter((file) => /^((un)?licen[cs]e|notice)/i.test(file));
  await mkdir(place, { recursive: true });
  await writeFile(join(place, "package.json"), `${JSON.stringify({ name, version, license }, undefined, 2)}\n`);
  await Promise.all(licences.map((file) => copyFile(join(root, path, file), join(place, file))));
}
