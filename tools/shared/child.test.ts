import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runningAmong } from "../cluster/processes/process-table.ts";
import { Child, type ChildSettings } from "./child.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "child-"));
  return () => rm(directory, { recursive: true });
});

let programs = 0;

async function start(program: string, settings: ChildSettings = {}): Promise<Child> {
  const main = join(directory, `${++programs}.mjs`);
  await writeFile(main, program);
  const child = new Child(main, settings);
  onTestFinished(async () => {
    await child.stop("SIGKILL");
  });
  return child;
}

const ready = 'console.log("ready");';
const forever = `${ready} setInterval(() => {}, 1000);`;

describe("a child", () => {
  it("ends by itself when it is done, with its exit code and all that it printed", async () => {
    const child = await start('console.log("out"); console.error("err"); process.exitCode = 3;');
    expect(await child.exited()).toBe(3);
    expect(child.isRunning).toBe(false);
    expect(child.how).toBe("exit code 3");
    expect([...child.lines].sort()).toEqual(["err", "out"]);
  });

  it("gets arguments, flags of node and an environment", async () => {
    const program = 'console.log(process.argv[2], process.execArgv.includes("--no-warnings"), process.env.NAME);';
    const child = await start(program, { args: ["a"], nodeFlags: ["--no-warnings"], env: { NAME: "b" } });
    await child.exited();
    expect(child.lines).toEqual(["a true b"]);
  });

  it.each([
    ["memory", undefined],
    ["a file", "log"],
  ])("prints to %s", async (_, name) => {
    const log = name && join(directory, name);
    const child = await start(`console.error("first"); ${forever}`, { log });
    expect(await child.said("read")).toBe("ready");
    expect(child.lines).toEqual(["first", "ready"]);
  });

  it("fails who waits for what it does not say", async () => {
    const child = await start(ready);
    await expect(child.said("never")).rejects.toThrow(/exit code 0.*never:\nready$/);
  });

  it("lets who waits give up", async () => {
    const child = await start(forever);
    await expect(child.said("never", AbortSignal.timeout(50))).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("can end in order, and is killed otherwise", async () => {
    const orderly = await start(`process.on("SIGTERM", () => process.exit(0)); ${forever}`);
    const other = await start(forever);
    await Promise.all([orderly, other].map((child) => child.said("ready")));
    expect(await orderly.stop()).toBe(0);
    expect(await other.stop()).toBeNull();
    expect(other.how).toBe("SIGTERM");
    expect(await other.stop()).toBeNull();
  });

  it("hears messages", async () => {
    const child = await start(`process.on("message", ({ text }) => console.log("heard", text)); ${forever}`);
    await child.said("ready");
    child.send({ text: "this" });
    expect(await child.said("heard")).toBe("heard this");
  });

  it("ends with the process that started it, even one that is killed", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "child.ts"));
    const grandchild = join(directory, "grandchild.mjs");
    await writeFile(grandchild, forever);
    const child = await start(`
      import { Child } from ${module};
      const child = new Child(${JSON.stringify(grandchild)});
      await child.said("ready");
      console.log(child.pid);
    `);
    const pid = Number(await child.said(""));
    expect(await runningAmong([pid])).toEqual([pid]);
    await child.stop("SIGKILL");
    await expect.poll(() => runningAmong([pid])).toEqual([]);
  });
});
