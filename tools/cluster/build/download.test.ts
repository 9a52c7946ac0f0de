import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { access, constants, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DownloadOptions, downloadedTool, downloadTool } from "./download.ts";
import { publishedFiles } from "./published.ts";
import { type Answer, type FileServer, startFileServer } from "./testing-server.ts";
import { pinnedTool, type ToolName } from "./tools.ts";

let directory: string;
let cache: string;
let server: FileServer;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "download-"));
  cache = join(directory, "tunnel-gateway-operator");
  vi.stubEnv("XDG_CACHE_HOME", directory);
  for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]) vi.stubEnv(name, "");
  server = await startFileServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Lets the server publish kubectl: a file and its checksum. Returns the path of the file. */
async function publishKubectl(file: Answer, checksum: string): Promise<string> {
  const path = new URL((await filesOf("kubectl"))[0]?.url as string).pathname;
  server.files.set(path, file);
  server.files.set(`${path}.sha256`, checksum);
  return path;
}

async function filesOf(name: ToolName) {
  const { version } = await pinnedTool(name);
  return publishedFiles({ name, version }, process, { kubernetes: server.url, etcd: server.url });
}

const CONTENT = "the binary\n".repeat(10_000);

const download = (name: ToolName, options: DownloadOptions = {}) =>
  downloadTool(name, { servers: { kubernetes: server.url, etcd: server.url }, ca: server.ca, ...options });

/** What is left of a download that failed: nothing. */
async function refused(options: DownloadOptions, reason: RegExp): Promise<void> {
  await expect(download("kubectl", options)).rejects.toThrow(reason);
  expect(await readdir(cache)).toEqual([]);
  expect(await downloadedTool("kubectl")).toBeUndefined();
}

test("a binary that is what was published is in the cache, can be run, and is asked for once", async () => {
  await publishKubectl(CONTENT, sha256(CONTENT));
  expect(await downloadedTool("kubectl")).toBeUndefined();
  const { kubectl } = await download("kubectl");

  expect(await readFile(kubectl as string, "utf8")).toBe(CONTENT);
  await access(kubectl as string, constants.X_OK);
  expect(basename(dirname(kubectl as string))).toMatch(/^kubectl-v1\.\d+\.\d+-[a-z0-9]+-[a-z0-9]+-published$/);
  expect(await downloadedTool("kubectl")).toEqual({ kubectl });
  expect(await download("kubectl")).toEqual({ kubectl });
  expect(server.asked).toHaveLength(2);
});

test("one that comes in an archive is unpacked, without the rest of the archive", async () => {
  const [file] = await filesOf("etcd");
  const folder = dirname(file?.member as string);
  await mkdir(join(directory, folder));
  await writeFile(join(directory, folder, "etcd"), "#!/bin/sh\n", { mode: 0o755 });
  await writeFile(join(directory, folder, "README.md"), "read me");
  execFileSync("tar", ["-czf", "archive", folder], { cwd: directory });
  const archive = await readFile(join(directory, "archive"));
  const sums = `${sha256("other")}  other.tar.gz\n${sha256(archive)}  ${basename(file?.url as string)}\n`;
  server.files.set(new URL(file?.url as string).pathname, archive);
  server.files.set(new URL(file?.checksumURL as string).pathname, sums);

  const { etcd } = await download("etcd");
  expect(await readFile(etcd as string, "utf8")).toBe("#!/bin/sh\n");
  await access(etcd as string, constants.X_OK);
  expect(await readdir(dirname(etcd as string))).toEqual(["etcd"]);
});

test("two that ask at once get one download", async () => {
  await publishKubectl(CONTENT, sha256(CONTENT));
  const [first, second] = await Promise.all([download("kubectl"), download("kubectl")]);
  expect(first).toEqual(second);
  expect(server.asked).toHaveLength(2);
  expect(await readdir(cache)).toHaveLength(1);
});

test("what a killed download left is removed by the next", async () => {
  await publishKubectl(CONTENT, sha256(CONTENT));
  const { kubectl } = await download("kubectl");
  const folder = dirname(kubectl as string);
  await rm(folder, { recursive: true });
  // no system has pids as large as this
  await mkdir(`${folder}.unfinished-2147483646`);
  await download("kubectl");
  expect(await readdir(cache)).toEqual([basename(folder)]);
});

test("a redirect to another HTTPS address is followed", async () => {
  const path = await publishKubectl(
    (_, response) => response.writeHead(302, { location: "/mirror" }).end(),
    sha256("x"),
  );
  server.files.set("/mirror", "x");
  const { kubectl } = await download("kubectl");
  expect(await readFile(kubectl as string, "utf8")).toBe("x");
  expect(server.asked).toEqual([`${path}.sha256`, path, "/mirror"]);
});

/** Answers with some bytes and then does what it is told. */
const begins = (length: number, then: (response: ServerResponse) => void) => {
  return (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { "content-length": length });
    response.write(CONTENT, () => then(response));
  };
};

describe("is refused, and leaves nothing in the cache:", () => {
  test("a file whose connection ends early", async () => {
    await publishKubectl(
      begins(CONTENT.length * 2, (response) => response.destroy()),
      sha256(CONTENT + CONTENT),
    );
    await refused({}, /kubectl ended early, after 0\.1 MB$/);
  });

  test("a file that is truncated though the connection ends well", async () => {
    await publishKubectl(CONTENT.slice(1), sha256(CONTENT));
    await refused({}, /kubectl is not the file that was published: its SHA-256 differs$/);
  });

  test("a file with one other byte", async () => {
    await publishKubectl(CONTENT.replace("binary", "binarx"), sha256(CONTENT));
    await refused({}, /SHA-256 differs$/);
  });

  test("a file without an end", async () => {
    await publishKubectl((_, response) => {
      const more = () => response.write(CONTENT, () => !response.destroyed && setImmediate(more));
      more();
    }, sha256(CONTENT));
    await refused({ limit: 1_000_000 }, /kubectl has more than 1\.0 MB, which is too much$/);
  });

  test("a file that says it is too large, before it is read", async () => {
    await publishKubectl(
      begins(2_000_000, () => undefined),
      sha256(CONTENT),
    );
    await refused({ limit: 1_000_000 }, /kubectl has 2\.0 MB, which is too large$/);
  });

  test("a file that stops coming", async () => {
    await publishKubectl(
      begins(CONTENT.length * 2, () => undefined),
      sha256(CONTENT),
    );
    await refused({ pauseMs: 200 }, /kubectl sent nothing for 0\.2 s$/);
  });

  test("a file without a checksum", async () => {
    const path = await publishKubectl(CONTENT, "");
    await refused({}, /kubectl\.sha256 has no SHA-256 of kubectl$/);
    server.files.delete(`${path}.sha256`);
    await refused({}, /kubectl\.sha256 answers 404$/);
    server.files.set(`${path}.sha256`, `${sha256(CONTENT)}  kube-proxy`);
    await refused({}, /kubectl\.sha256 has no SHA-256 of kubectl$/);
    expect(server.asked).not.toContain(path);
  });

  test.each(["http://127.0.0.1:1/kubectl", "ftp://127.0.0.1/kubectl", "file:///etc/passwd"])(
    "a redirect to %s",
    async (location) => {
      await publishKubectl((_, response) => response.writeHead(302, { location }).end(), sha256(CONTENT));
      await refused({}, /kubectl redirects to (http|ftp|file):\/\/[^ ]*, which is not encrypted$/);
    },
  );

  test("redirects in a circle", async () => {
    await publishKubectl((_, response) => response.writeHead(302, { location: "?again" }).end(), sha256(CONTENT));
    const [file] = await filesOf("kubectl");
    const again = `${new URL(file?.url as string).pathname}?again`;
    server.files.set(again, (_, response) => response.writeHead(302, { location: "?again" }).end());
    await refused({}, /kubectl redirects more than 5 times$/);
  });

  test("a file that the disk has no room for", async () => {
    await publishKubectl(CONTENT, sha256(CONTENT));
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    const open = () => new Writable({ write: (_chunk, _encoding, done) => done(full) });
    await refused({ open }, /kubectl does not fit: the disk is full$/);
  });

  test("a server with a certificate of somebody else", async () => {
    await publishKubectl(CONTENT, sha256(CONTENT));
    await refused({ ca: "" }, /kubectl\.sha256 cannot be reached: .*certificate/);
    expect(server.asked).toEqual([]);
  });

  test("a server that does not answer in time", async () => {
    const path = await publishKubectl(CONTENT, "");
    server.files.set(`${path}.sha256`, () => undefined);
    await refused({ answerMs: 200 }, /kubectl\.sha256 did not answer within 0\.2 s$/);
  });

  test("a server that is not there", async () => {
    const gone = await startFileServer();
    await gone[Symbol.asyncDispose]();
    await refused({ servers: { kubernetes: gone.url, etcd: "" } }, /cannot be reached: .*ECONNREFUSED/);
  });

  test("a download that is given up", async () => {
    const path = await publishKubectl(CONTENT, "");
    server.files.set(`${path}.sha256`, () => undefined);
    await refused({ signal: AbortSignal.timeout(200) }, /timeout/);
  });
});

describe("the progress", () => {
  const half = () =>
    publishKubectl(
      begins(CONTENT.length * 2, (r) => setTimeout(() => r.end(CONTENT), 500)),
      sha256(CONTENT + CONTENT),
    );

  test("is a bar of bytes on a terminal", async () => {
    await half();
    const bars: string[] = [];
    await download("kubectl", { onBar: (bar) => bars.push(bar) });
    expect(bars[0]).toMatch(/^downloading kubectl from 127\.0\.0\.1:\d+ █{12}░{12} 0\.1 MB of 0\.2 MB$/);
  });

  test("is lines elsewhere", async () => {
    await half();
    const lines: string[] = [];
    await download("kubectl", { onProgress: (line) => lines.push(line) });
    expect(lines).toEqual([
      expect.stringMatching(/^downloading kubectl from 127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^downloaded kubectl v1\.\d+\.\d+$/),
    ]);
  });
});
