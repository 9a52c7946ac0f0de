// Installs the dependencies when those of the lock file are not there, so that the npm scripts work on a fresh clone.
// Plain JavaScript without imports from node_modules: it runs on whatever Node the machine has, before anything else is
// there.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, unlinkSync } from "node:fs";

const packagesIn = (lock) => (existsSync(lock) ? JSON.parse(readFileSync(lock, "utf8")).packages : {});

const installed = packagesIn("node_modules/.package-lock.json");
const isInstalled = ([path, { integrity, optional }]) =>
  // the first is the project itself, and packages for other platforms are optional
  path === "" || (path in installed ? installed[path].integrity === integrity : optional === true);

if (!Object.entries(packagesIn("package-lock.json")).every(isInstalled)) {
  console.error("Installing dependencies (npm ci), about a minute the first time ...");
  // npm would empty the folder that a link leads to, which belongs to somebody else
  if (lstatSync("node_modules", { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync("node_modules");
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { stdio: ["ignore", 2, 2] });
  if (npm.error) console.error(`npm could not be started: ${npm.error.message}`);
  process.exitCode = npm.status ?? 1;
}
