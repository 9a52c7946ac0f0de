import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { sourceStack } from "./stack.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "stack-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

test("a place in a file that has a map is that of the source", async () => {
  const file = join(await folder(), "main.js");
  // line 2, column 3 is line 7, column 5 of the source
  const map = { version: 3, sources: ["src/main.ts"], names: [], mappings: ";EAMI" };
  await writeFile(`${file}.map`, JSON.stringify(map));
  const { href } = pathToFileURL(file);
  expect(sourceStack(`TypeError: no\n    at run (${href}:2:3)\n    at ${href}:2:3`)).toBe(
    "TypeError: no\n    at run (src/main.ts:7:5)\n    at src/main.ts:7:5",
  );
});

test("other places stay as they are", async () => {
  const without = pathToFileURL(join(await folder(), "main.js")).href;
  const broken = join(await folder(), "main.js");
  await writeFile(`${broken}.map`, "{");
  const stack = [
    "Error: at file:///nowhere",
    `    at a (${without}:1:2)`,
    `    at b (${pathToFileURL(broken).href}:1:2)`,
    "    at c (node:internal/process/task_queues:105:5)",
    "    at async Promise.all (index 0)",
  ].join("\n");
  expect(sourceStack(stack)).toBe(stack);
});
