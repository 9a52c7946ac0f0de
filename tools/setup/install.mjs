// Installs the dependencies when they are missing or older than the lock file, so that the
// npm scripts work on a fresh clone. Plain JavaScript without imports from node_modules:
// it runs on whatever Node the machine has, before anything else is there.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const stamp = "node_modules/.package-lock.json";
const fresh = existsSync(stamp) && statSync(stamp).mtimeMs >= statSync("package-lock.json").mtimeMs;
if (!fresh) {
  console.error("Installing dependencies (npm ci), about a minute the first time ...");
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { stdio: ["ignore", 2, 2] });
  if (npm.error) console.error(`npm could not be started: ${npm.error.message}`);
  process.exitCode = npm.status ?? 1;
}
