import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Child } from "../shared/child.ts";
import { connectControl } from "./simulator.ts";

function start(...args: string[]): Child {
  const child = new Child(join(import.meta.dirname, "main.ts"), { args });
  onTestFinished(async () => {
    await child.stop("SIGKILL");
  });
  return child;
}

describe("the simulator on its own", () => {
  it("prints where it listens, serves, is controlled, and ends when it is told to", async () => {
    const child = start("--api-key", "given", "--provision-ms", "1", "--route", "edghts_1:edghtsrt_1");
    const { url, apiKey } = JSON.parse(await child.said("apiKey"));
    expect(apiKey).toBe("given");
    const headers = { authorization: "Bearer given", "svc-version": "2" };
    expect((await fetch(`${url}/ip_policies`, { headers })).status).toBe(200);
    const control = connectControl(url);
    expect(await control.count({ method: "GET" })).toBe(1);
    expect((await control.objects("https_routes")).map(({ id }) => id)).toEqual(["edghtsrt_1"]);
    expect(await child.stop()).toBe(0);
  });

  it.each([
    [["--port", "many"], "--port must be a whole number"],
    [["--in-use-status", "404"], "--in-use-status must be 400 or 409"],
    [["--route", "edghts_1"], "--route must be two ids with a colon between them"],
  ])("refuses %j", async (args, message) => {
    const child = start(...args);
    expect(await child.exited()).toBe(2);
    expect(child.lines[0]).toBe(message);
  });
});
