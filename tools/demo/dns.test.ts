import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startBind } from "./dns.ts";
import { Screen } from "./screen/screen.ts";

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "no-bind-"));
  const missing = { PATH: "", CI: "", XDG_CACHE_HOME: cache };
  for (const [name, value] of Object.entries({ ...missing, TEST_KUBECONFIG: "" })) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cache, { recursive: true });
});

describe("the BIND of the demo", () => {
  it("is asked for in words where this machine has none", async () => {
    await expect(startBind(new Screen(process.stdout))).rejects.toThrow(/^For --dns, install bind9 \(apt-get/);
  });

  it("is not started beside a cluster of others", async () => {
    vi.stubEnv("TEST_KUBECONFIG", "/somewhere");
    await expect(startBind(new Screen(process.stdout))).rejects.toThrow("Unset TEST_KUBECONFIG");
  });
});
