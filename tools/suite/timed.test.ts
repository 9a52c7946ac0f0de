import { expect, test } from "vitest";
import { childSeconds, timed } from "./timed.ts";

const BUSY = "const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);";

test("the CPU seconds of a program are those of its children too", async () => {
  const child = `require("node:child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(BUSY)}])`;
  const { code, cpuSeconds, seconds } = await timed([process.execPath, "-e", child]);
  expect(code).toBe(0);
  expect(cpuSeconds).toBeGreaterThan(0.29);
  expect(seconds).toBeGreaterThan(0.29);
});

test("a program that fails has its exit code, and its variables", async () => {
  const { code } = await timed([process.execPath, "-e", "process.exit(Number(process.env.WANTED))"], { WANTED: "3" });
  expect(code).toBe(3);
});

test.each([
  ["0m0.010s 0m0.020s\n1m2.300s 0m4.560s\n", 66.86],
  ["0m0.00s 0m0.00s\n0m0.04s 0m0.00s\n", 0.04],
  ["", 0],
])("what a shell says of its children is read: %j", (times, seconds) => {
  expect(childSeconds(times)).toBeCloseTo(seconds);
});
