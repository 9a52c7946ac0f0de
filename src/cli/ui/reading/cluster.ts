import { customResources } from "../../../kinds/index.ts";
import { typeOf } from "../../../objects/object.ts";
import { Informer } from "../../../runtime/cache/informer.ts";
import type { KubeClient } from "../../../runtime/connection/client.ts";
import { createLogger } from "../../../runtime/log.ts";
import type { KubeObject } from "../../../runtime/object.ts";
import type { Lister } from "../../graph/load.ts";
import { type Change, changeOf } from "./changes.ts";

/** Changes that are kept. */
const MOST = 200;

/**
 * The objects of a cluster as watches keep them, where the person may watch. What is not watched, or not yet, is listed
 * each time.
 */
export class WatchedCluster implements AsyncDisposable {
  /** Newest first. */
  readonly changes: Change[] = [];
  readonly #client: KubeClient;
  readonly #informers: ReadonlyMap<string, Informer>;

  /** `namespace` undefined: all. */
  constructor(client: KubeClient, namespace: string | undefined, onChange: () => void) {
    this.#client = client;
    const namespaces = namespace === undefined ? [] : [namespace];
    // what goes wrong with a watch is shown where its list fails too
    const log = createLogger({ level: "silent" });
    this.#informers = new Map(
      customResources.map((resource) => [
        resource.plural,
        new Informer({ client, type: typeOf(resource), namespaces, log }),
      ]),
    );
    for (const informer of this.#informers.values()) {
      informer.addHandler((change) => {
        const told = changeOf(change, new Date());
        if (told) this.changes.unshift(told);
        this.changes.splice(MOST);
        onChange();
      });
      informer.start();
      // it would ask again and again for what the person may not watch
      informer.settled.then(() => informer.refusal && informer.stop()).catch(() => {});
    }
  }

  /** As `Lister`. */
  readonly listAll: Lister["listAll"] = async <T extends KubeObject>(
    ...[type, options = {}]: Parameters<KubeClient["listAll"]>
  ) => {
    const informer = this.#informers.get(type.plural);
    const { namespace, fieldSelector, labelSelector } = options;
    const isWatched = type.group === informer?.type.group && informer.isConnectedIn(namespace ?? "");
    if (!isWatched || fieldSelector || labelSelector) return this.#client.listAll<T>(type, options);
    const items = informer.store.list().filter(({ metadata }) => !namespace || metadata.namespace === namespace);
    return { items: items as T[], resourceVersion: "" };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }
}
