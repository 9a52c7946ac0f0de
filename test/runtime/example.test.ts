import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../../src/runtime/log.ts";
import type { KubeObject } from "../../src/runtime/object.ts";
import { FakeApiServer } from "../fakes/runtime/fake-api-server.ts";
import { until } from "../fakes/runtime/until.ts";
import { runExample } from "./example.ts";

const collection = "v1/configmaps";
const read = (file: string) => readFileSync(join(import.meta.dirname, "../..", file), "utf8");

test("the README shows the example as it is, in 60 lines at most", () => {
  const source = read("test/runtime/example.ts");
  expect(source.split("\n").length).toBeLessThanOrEqual(60);
  expect(read("src/runtime/README.md")).toContain(`\`\`\`ts\n${source}\`\`\``);
});

test("the example writes the number of keys, also after a change, and ends when it is told to", async () => {
  await using server = await FakeApiServer.start();
  const stop = new AbortController();
  const running = runExample(server.connection, silentLogger, stop.signal);
  const metadata = { name: "settings", namespace: "shop", labels: { "example.dev/count": "" } };
  const object: KubeObject & { data: Record<string, string> } = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, uid: "" },
    data: { one: "1", two: "2" },
  };
  const shown = () => server.storage.get(collection, "shop/settings")?.metadata.annotations?.["example.dev/keys"];
  server.storage.create(collection, object);
  await until(() => shown() === "2");
  server.storage.update(collection, "shop/settings", (current) => ({ ...current, data: { one: "1" } }));
  await until(() => shown() === "1");
  stop.abort();
  expect(await running).toBe(0);
});
