import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dockerAnswers, factsOfThisMachine } from "./facts.ts";

async function engine(listenAt: string | number, status = 200): Promise<AddressInfo | string | null> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/_ping" ? status : 404;
    response.end("OK");
  });
  onTestFinished(() => {
    server.close();
  });
  server.listen(listenAt);
  await once(server, "listening");
  return server.address();
}

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "facts-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test("an engine at a socket answers", async () => {
  const socket = join(await temporaryDirectory(), "docker.sock");
  await engine(socket);
  expect(await dockerAnswers(`unix://${socket}`)).toBe(true);
});

test("an engine at a port answers", async () => {
  const { port } = (await engine(0)) as AddressInfo;
  expect(await dockerAnswers(`tcp://127.0.0.1:${port}`)).toBe(true);
});

test("DOCKER_HOST is where the engine is looked for", async () => {
  const { port } = (await engine(0)) as AddressInfo;
  expect(await factsOfThisMachine({ DOCKER_HOST: `tcp://127.0.0.1:${port}` })).toMatchObject({ docker: true });
});

test("something else that answers is no engine", async () => {
  const { port } = (await engine(0, 404)) as AddressInfo;
  expect(await dockerAnswers(`tcp://127.0.0.1:${port}`)).toBe(false);
});

test.each(["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1", "ssh://somewhere", "not a URL"])(
  "%s is no engine",
  async (host) => {
    expect(await dockerAnswers(host)).toBe(false);
  },
);

test("binaries count when they are in KUBEBUILDER_ASSETS", async () => {
  const directory = await temporaryDirectory();
  const facts = await factsOfThisMachine({ KUBEBUILDER_ASSETS: directory, DOCKER_HOST: "tcp://127.0.0.1:1" });
  expect(facts).toMatchObject({ testKubeconfig: undefined, assets: { directory, present: [] }, docker: false });
});
