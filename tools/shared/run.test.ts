import { expect, test } from "vitest";
import { run } from "./run.ts";

const sh = (script: string, settings = {}) => run("/bin/sh", ["-c", script], settings);

test("a program's exit code and its two outputs", async () => {
  expect(await sh("echo out; echo err >&2; exit 3")).toEqual({ code: 3, stdout: "out\n", stderr: "err\n" });
});

test("a program that reads its input, and one that ends without reading it", async () => {
  expect((await sh("cat", { input: "zwölf" })).stdout).toBe("zwölf");
  expect((await sh("exit 0", { input: "x".repeat(2 ** 20) })).code).toBe(0);
});

test("a program that is killed when it has printed a text", async () => {
  expect(await sh("echo here; exec sleep 60", { killAt: "here" })).toMatchObject({ code: -1, stdout: "here\n" });
});

test("a program that cannot be started", async () => {
  await expect(run("/nowhere/program", [])).rejects.toMatchObject({ code: "ENOENT" });
});
