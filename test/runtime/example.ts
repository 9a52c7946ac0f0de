import { Informer } from "../../src/runtime/cache/informer.ts";
import { KubeClient } from "../../src/runtime/connection/client.ts";
import type { Connection } from "../../src/runtime/connection/connection.ts";
import { Transport } from "../../src/runtime/connection/transport.ts";
import { Controller, type Request, type Result } from "../../src/runtime/controller/controller.ts";
import type { Logger } from "../../src/runtime/log.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../src/runtime/object.ts";
import { run } from "../../src/runtime/process/runner.ts";

const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" };
const COUNT = "example.dev/keys";

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** Writes into an annotation of each ConfigMap with the label `example.dev/count` how many keys it has. */
export function runExample(connection: Connection, log: Logger, signal?: AbortSignal): Promise<number> {
  const transport = new Transport(connection, { userAgent: "example" });
  const client = new KubeClient(transport, { fieldManager: "example" });
  const informer = new Informer<ConfigMap>({ client, log, type: configMaps, labelSelector: "example.dev/count" });

  async function reconcile({ key, namespace, name, signal: stop }: Request): Promise<Result> {
    const object = informer.store.get(key);
    if (!object) return {};
    const count = String(Object.keys(object.data ?? {}).length);
    if (object.metadata.annotations?.[COUNT] === count) return {};
    const { resourceVersion } = object.metadata;
    // refused if somebody has changed the object meanwhile: the key then comes back with the newer state
    const patch = { metadata: { resourceVersion, annotations: { [COUNT]: count } } };
    informer.store.put(await client.patchMerge<ConfigMap>(configMaps, { namespace, name }, patch, { signal: stop }));
    return {};
  }

  const controller = new Controller({ name: "example", log, concurrency: 4, reconcile });
  informer.addHandler(({ object }) => controller.enqueue(keyOf(object)));
  return run(
    { informers: [informer], controllers: [controller], close: [() => transport.close()] },
    { log, ...(signal && { signal }) },
  );
}
