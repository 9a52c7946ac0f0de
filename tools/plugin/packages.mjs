// Copies package.json and the packages that the program has at run time into a folder. Plain JavaScript, as what runs in a
// release: it needs no package of its own.
import { cpSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const [, , folder] = process.argv;
// of no use at run time
const LEFT_OUT = /\.(d\.[cm]?ts|map|md)$/;

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const needed = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional);

cpSync("package.json", join(folder, "package.json"));
for (const [path] of needed) {
  cpSync(path, join(folder, path), {
    recursive: true,
    // packages within packages are in the lock file too
    filter: (source) => !LEFT_OUT.test(source) && (source === path || basename(source) !== "node_modules"),
  });
}
