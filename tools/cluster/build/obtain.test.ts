import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cachedTool, obtainTool, onlyWay } from "./obtain.ts";
import { publishedFiles } from "./published.ts";
import { type FileServer, startFileServer } from "./testing-server.ts";
import { pinnedTool } from "./tools.ts";

let directory: string;
let server: FileServer;
let lines: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "obtain-"));
  vi.stubEnv("XDG_CACHE_HOME", directory);
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]) vi.stubEnv(name, "");
  const output = 'for a; do [ "$last" = -o ] && output=$a; last=$a; done';
  const compiler = `#!/bin/sh\n${output}\n[ -n "$output" ] && echo built > "$output"\n`;
  await writeFile(join(directory, "go"), compiler, { mode: 0o755 });
  server = await startFileServer();
  lines = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

async function publishKubectl(): Promise<void> {
  const { version } = await pinnedTool("kubectl");
  const [file] = publishedFiles({ name: "kubectl", version }, process, { kubernetes: server.url, etcd: server.url });
  const { pathname } = new URL(file?.url as string);
  server.files.set(pathname, "published\n");
  server.files.set(`${pathname}.sha256`, createHash("sha256").update("published\n").digest("hex"));
}

/** The content of kubectl, wherever it comes from. */
async function obtained(only?: string): Promise<string> {
  const servers = { kubernetes: server.url, etcd: server.url };
  const options = { servers, ca: server.ca, onProgress: (line: string) => lines.push(line) };
  const { kubectl } = await obtainTool("kubectl", options, { CLUSTER_BINARIES: only });
  return readFile(kubectl as string, "utf8");
}

test("what is published is downloaded, and not built", async () => {
  await publishKubectl();
  expect(await obtained()).toBe("published\n");
  expect(lines.join()).not.toContain("building");
});

test("what cannot be downloaded is built, and one line says why", async () => {
  expect(await obtained()).toBe("built\n");
  expect(lines[0]).toMatch(/^building kubectl, since it cannot be downloaded: https:\S+kubectl\.sha256 answers 404$/);
  expect(lines[1]).toMatch(/^building kubectl v1\S+ with Go, once for all later runs$/);
});

test("what was built is not looked for on the network again", async () => {
  await obtained();
  await publishKubectl();
  server.asked.length = 0;
  expect(await obtained()).toBe("built\n");
  expect(server.asked).toEqual([]);
});

test("CLUSTER_BINARIES=build builds, even if there is a download in the cache", async () => {
  await publishKubectl();
  await obtained();
  server.asked.length = 0;
  expect(await obtained("build")).toBe("built\n");
  expect(server.asked).toEqual([]);
});

test("CLUSTER_BINARIES=download downloads, even if there is a build in the cache", async () => {
  await obtained();
  await publishKubectl();
  expect(await obtained("download")).toBe("published\n");
});

test("CLUSTER_BINARIES=download fails rather than build", async () => {
  await expect(obtained("download")).rejects.toThrow(/kubectl\.sha256 answers 404$/);
  expect(await cachedTool("kubectl", {})).toBeUndefined();
});

test("another value of CLUSTER_BINARIES is an error", () => {
  expect(() => onlyWay({ CLUSTER_BINARIES: "Build" })).toThrow(/^CLUSTER_BINARIES must be download or build/);
  expect(onlyWay({ CLUSTER_BINARIES: "" })).toBeUndefined();
});
