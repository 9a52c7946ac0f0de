import { Informer } from "../../src/runtime/cache/informer.ts";
import type { Change } from "../../src/runtime/cache/store.ts";
import { KubeClient } from "../../src/runtime/connection/client.ts";
import { loadConnection } from "../../src/runtime/connection/kubeconfig.ts";
import { Transport } from "../../src/runtime/connection/transport.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/object.ts";
import { nameOf } from "../shared/objects.ts";
import type { Subject } from "./objects.ts";

/** When each object was done, by its name. In milliseconds since the epoch, with a fraction. */
export type Times = ReadonlyMap<string, number>;

interface Wait {
  pending: Set<string>;
  times: Map<string, number>;
  isDone: (object: KubeObject | undefined) => boolean;
  done: PromiseWithResolvers<Times>;
}

export const preciseNow = (): number => performance.timeOrigin + performance.now();

/** Watches the objects of a namespace. */
export class Watcher {
  readonly #transport: Transport;
  readonly #informers: Informer[];
  readonly #waits = new Set<Wait>();

  private constructor(kubeconfig: string, namespace: string, types: readonly ResourceType[]) {
    this.#transport = new Transport(loadConnection({ kubeconfig }), { userAgent: "bench" });
    const client = new KubeClient(this.#transport, { fieldManager: "bench" });
    this.#informers = types.map((type) => {
      const informer = new Informer({ client, type, namespaces: [namespace], log: silentLogger });
      informer.addHandler((change) => this.#seen(change));
      return informer;
    });
  }

  static async start(kubeconfig: string, namespace: string, types: readonly ResourceType[]): Promise<Watcher> {
    const watcher = new Watcher(kubeconfig, namespace, types);
    for (const informer of watcher.#informers) informer.start();
    await Promise.all(watcher.#informers.map(({ synced }) => synced));
    return watcher;
  }

  /** Waits until all objects are done. Only looks at changes from now on. `undefined` is an object that was deleted. */
  until(subjects: readonly Subject[], isDone: Wait["isDone"], seconds = 600): Promise<Times> {
    return this.#wait(subjects, isDone, seconds, ({ pending, done }) => {
      const [first] = pending;
      done.reject(new Error(`After ${seconds} s ${pending.size} objects are not done, such as ${first}`));
    });
  }

  /** Like `until`, but after that time resolves with the objects that are done. */
  within(subjects: readonly Subject[], isDone: Wait["isDone"], seconds: number): Promise<Times> {
    return this.#wait(subjects, isDone, seconds, ({ times, done }) => done.resolve(times));
  }

  #wait(
    subjects: readonly Subject[],
    isDone: Wait["isDone"],
    seconds: number,
    onTimeout: (wait: Wait) => void,
  ): Promise<Times> {
    const wait: Wait = {
      pending: new Set(subjects.map(({ object }) => nameOf(object))),
      times: new Map(),
      isDone,
      done: Promise.withResolvers(),
    };
    this.#waits.add(wait);
    const timer = setTimeout(onTimeout, seconds * 1000, wait);
    return wait.done.promise.finally(() => {
      clearTimeout(timer);
      this.#waits.delete(wait);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
    await this.#transport.close();
  }

  #seen({ type, object }: Change): void {
    const name = nameOf(object);
    const now = type === "deleted" ? undefined : object;
    for (const { pending, times, isDone, done } of this.#waits) {
      if (!pending.has(name) || !isDone(now)) continue;
      pending.delete(name);
      times.set(name, preciseNow());
      if (pending.size === 0) done.resolve(times);
    }
  }
}
