import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeFiles } from "./files.ts";

test("what a person may have edited is overwritten on request only, and nothing is written before", async () => {
  const folder = await mkdtemp(join(tmpdir(), "files-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const read = (name: string) => readFile(join(folder, name), "utf8").catch(() => undefined);
  const first = new Map([
    ["a", "1"],
    ["b", "1"],
  ]);
  // the same texts again are no edit
  for (const _ of [1, 2]) await writeFiles(folder, first, false);
  await writeFile(join(folder, "b"), "edited");
  const next = new Map([
    ["b", "2"],
    ["c", "2"],
  ]);
  await expect(writeFiles(folder, next, false)).rejects.toThrow(/--overwrite: .* has other texts in b\. Nothing was/);
  expect([await read("b"), await read("c")]).toEqual(["edited", undefined]);
  await writeFiles(folder, next, true);
  expect([await read("a"), await read("b"), await read("c")]).toEqual(["1", "2", "2"]);
});
