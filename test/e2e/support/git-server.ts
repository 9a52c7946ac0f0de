import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createGunzip } from "node:zlib";

const run = promisify(execFile);

/** Text by path; undefined removes the file. */
export type Files = Readonly<Record<string, string | undefined>>;

/** A Git repository with the branch `main`, served over HTTP for reading. */
export interface GitServer {
  readonly url: string;
  /** Commits these files beside those of before, and resolves with the id of the commit. */
  commit(files: Files): Promise<string>;
  close(): Promise<void>;
}

export async function startGitServer(): Promise<GitServer> {
  const directory = await mkdtemp(join(tmpdir(), "git-"));
  const git = async (...args: string[]) => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
    const { stdout } = await run("git", [...identity, ...args], { cwd: directory });
    return stdout.trim();
  };
  await git("init", "--quiet", "--initial-branch=main");
  const server = createServer((request, response) => void serve(directory, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/repository.git`,
    async commit(files) {
      for (const [path, text] of Object.entries(files)) {
        const file = join(directory, path);
        await mkdir(dirname(file), { recursive: true });
        if (text === undefined) await rm(file);
        else await writeFile(file, text);
      }
      await git("add", "--all");
      await git("commit", "--quiet", "--message", "change");
      return git("rev-parse", "HEAD");
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Git's own program answers; HTTP only carries its input and output. */
async function serve(directory: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isRefs = request.url?.endsWith("/info/refs?service=git-upload-pack") ?? false;
  if (!isRefs && !request.url?.endsWith("/git-upload-pack")) {
    response.writeHead(404).end();
    return;
  }
  const args = ["upload-pack", "--stateless-rpc", ...(isRefs ? ["--http-backend-info-refs"] : []), directory];
  const child = spawn("git", args, { stdio: ["pipe", "pipe", "ignore"] });
  // The client may end first, and so may git.
  child.stdin.on("error", () => {});
  const type = isRefs ? "advertisement" : "result";
  response.writeHead(200, { "content-type": `application/x-git-upload-pack-${type}` });
  if (isRefs) response.write("001e# service=git-upload-pack\n0000");
  const isZipped = request.headers["content-encoding"] === "gzip";
  (isZipped ? request.pipe(createGunzip()) : request).pipe(child.stdin);
  child.stdout.pipe(response);
}
