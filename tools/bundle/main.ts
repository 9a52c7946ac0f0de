import { existsSync, readdirSync, rmSync } from "node:fs";
import { bundle } from "./bundle.ts";

const [given] = process.argv.slice(2);
const isFilled = given !== undefined && existsSync(given) && readdirSync(given).length > 0;
if (isFilled) {
  process.stderr.write(`${given} is not empty: name another folder\n`);
  process.exitCode = 1;
} else {
  const folder = given ?? "bundle";
  rmSync(folder, { recursive: true, force: true });
  await bundle(folder);
}
