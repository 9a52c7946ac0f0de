import { Informer } from "../../src/runtime/cache/informer.ts";
import type { KubeClient } from "../../src/runtime/connection/client.ts";
import { createLogger } from "../../src/runtime/log.ts";
import type { ResourceType } from "../../src/runtime/object.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";

const silent = createLogger({ level: "silent" });

/** The objects of some kinds in a namespace, as watches report them. They may be behind the API server. */
export class Watched implements AsyncDisposable {
  readonly #informers: readonly Informer[];

  constructor(client: KubeClient, types: readonly ResourceType[], namespace: string) {
    this.#informers = types.map((type) => new Informer({ client, type, namespaces: [namespace], log: silent }));
    for (const informer of this.#informers) informer.start();
  }

  /** Undefined until all kinds are listed. The objects have no managedFields. */
  get objects(): readonly KubeJSON[] | undefined {
    if (!this.#informers.every(({ hasSynced }) => hasSynced)) return undefined;
    return this.#informers.flatMap(({ store }) => [...store.list()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }
}
