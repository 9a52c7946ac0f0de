import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Prints, when the program ends, which of Node's bundled libraries and which CommonJS packages it has loaded. */
const report = `
import { createRequire } from "node:module";
process.on("exit", () => {
  const files = Object.keys(createRequire("${import.meta.url}").cache);
  console.log(JSON.stringify([...process.moduleLoadList, ...files]));
});`;

it("loads neither the fetch of Node, nor what only commands and kubeconfigs need", async () => {
  const preload = `data:text/javascript,${encodeURIComponent(report)}`;
  const run = promisify(execFile)(
    process.execPath,
    ["--import", preload, join(import.meta.dirname, "main.ts"), "run"],
    {
      env: { PATH: process.env["PATH"] },
    },
  );
  // without settings it ends after everything has been imported
  const { stdout, stderr } = (await run.catch((error: unknown) => error)) as { stdout: string; stderr: string };
  expect(stderr).toContain("GATEWAY_BASE_URL must be set");
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.some((name) => name.includes("/node_modules/undici/"))).toBe(true);
  const unwanted = /internal\/deps\/undici|node_modules\/(commander|yaml|@kubernetes\/client-node|@opentelemetry\/sdk)/;
  expect(loaded.filter((name) => unwanted.test(name))).toEqual([]);
});
