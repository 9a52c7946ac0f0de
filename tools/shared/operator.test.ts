import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { environmentOf, Operator } from "./operator.ts";

const reached = { kubeconfig: "/the/kubeconfig", gateway: { url: "http://service", apiKey: "key" } };

it("starts with what it is told, and anything on top", () => {
  expect(environmentOf({ ...reached, namespaces: ["a", "b"], env: { LOG_LEVEL: "debug" } })).toMatchObject({
    KUBECONFIG: "/the/kubeconfig",
    GATEWAY_BASE_URL: "http://service",
    GATEWAY_API_KEY: "key",
    WATCH_NAMESPACES: "a,b",
    LOG_LEVEL: "debug",
  });
  const { GATEWAY_API_KEY: none, GATEWAY_API_KEY_FILE: file } = environmentOf({
    ...reached,
    gateway: { url: "http://service", apiKeyFile: "/the/key" },
  }) as Record<string, string>;
  expect([none, file]).toEqual([undefined, "/the/key"]);
});

it("tells where it serves, since when it is at work, and what it counts", async () => {
  const directory = await mkdtemp(join(tmpdir(), "operator-"));
  const main = join(directory, "main.mjs");
  await writeFile(
    main,
    `import { createServer } from "node:http";
    const server = createServer((_, answer) => answer.end('rest_client_requests_total{method="PATCH"} 7\\n'));
    server.listen(0, "127.0.0.1", () => {
      console.log(JSON.stringify({ msg: "Serving metrics and health", host: "127.0.0.1", port: server.address().port }));
      console.log(JSON.stringify({ msg: "Started", ts: "2026-01-02T03:04:05.678Z" }));
    });`,
  );
  const operator = new Operator({ ...reached, main });
  onTestFinished(async () => {
    await operator.stop("SIGKILL");
    await rm(directory, { recursive: true });
  });
  await operator.started();
  expect(operator.startedAt).toBe(Date.parse("2026-01-02T03:04:05.678Z"));
  expect(await operator.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await operator.metric("rest_client_requests_total", { method: "PATCH" })).toBe(7);
  expect(await operator.clusterRequests()).toEqual({ reads: 0, writes: 7 });
});
