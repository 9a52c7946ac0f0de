import { afterEach, beforeEach, expect, test } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { until } from "../../../test/fakes/runtime/until.ts";
import type { Informer } from "../../runtime/cache/informer.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { secretWatch } from "./secret-watch.ts";

const VALUE = "c2VjcmV0";

let server: FakeApiServer;
let client: KubeClient;
let informer: Informer | undefined;
let changed: string[];

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
  changed = [];
});

afterEach(() => informer?.stop());

function watching(config: { watchSecrets: boolean; watchNamespaces: string[] }): Informer | undefined {
  const options = { config, client, clock: systemClock, log: recordingLogger() };
  informer = secretWatch(options, (reference) => changed.push(reference));
  informer?.start();
  return informer;
}

const secret = (name: string, namespace = "n"): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name,
    namespace,
    labels: { some: "label" },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"key":"${VALUE}"}}`, note: VALUE },
  },
  data: { key: VALUE },
});
const create = (name: string, namespace?: string) => server.storage.create("v1/secrets", secret(name, namespace));

test("reports Secrets that are created, changed and deleted, but not those that exist at the start", async () => {
  create("before");
  await watching({ watchSecrets: true, watchNamespaces: [] })?.synced;
  create("later");
  server.storage.update("v1/secrets", "n/before", (object) => ({ ...object, data: {} }));
  server.storage.delete("v1/secrets", "n/before");
  await until(() => changed.length === 3);
  expect(changed).toEqual(["Secret/n/later", "Secret/n/before", "Secret/n/before"]);
});

test("caches name and version of each, listed or watched, and requests metadata only", async () => {
  create("listed");
  await watching({ watchSecrets: true, watchNamespaces: ["n"] })?.synced;
  create("watched");
  create("elsewhere", "other");
  await until(() => informer?.store.size === 2);
  for (const { metadata, ...rest } of informer?.store.list() ?? []) {
    expect(Object.keys(metadata).sort()).toEqual(["name", "namespace", "resourceVersion", "uid"]);
    expect(rest).toEqual({ apiVersion: "v1", kind: "Secret" });
  }
  expect(server.received.map(({ path }) => path)).toEqual(["/api/v1/namespaces/n/secrets"]);
  for (const { headers } of server.received) expect(headers.accept).toMatch(/^application\/json;as=PartialObject/);
});

test("sends no request when Secrets are not to be watched", () => {
  expect(watching({ watchSecrets: false, watchNamespaces: [] })).toBeUndefined();
});
