import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { connectControl } from "./simulator.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill("SIGKILL");
});

async function start(...args: string[]): Promise<{ url: string; apiKey: string }> {
  child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  if (!child.stdout) throw new Error("no output");
  const [line] = await once(createInterface(child.stdout), "line");
  return JSON.parse(line);
}

describe("the simulator on its own", () => {
  it("prints where it listens, serves, is controlled, and ends when it is told to", async () => {
    const { url, apiKey } = await start("--api-key", "given", "--provision-ms", "1", "--route", "edghts_1:edghtsrt_1");
    expect(apiKey).toBe("given");
    const headers = { authorization: "Bearer given", "svc-version": "2" };
    expect((await fetch(`${url}/ip_policies`, { headers })).status).toBe(200);
    const control = connectControl(url);
    expect(await control.count({ method: "GET" })).toBe(1);
    expect((await control.objects("https_routes")).map(({ id }) => id)).toEqual(["edghtsrt_1"]);
    child?.kill("SIGTERM");
    const [code] = (await once(child as ChildProcess, "exit")) as [number | null];
    expect(code).toBe(0);
  });
});
