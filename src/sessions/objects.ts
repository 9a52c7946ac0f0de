import { TunnelSession } from "../kinds/tunnel-session.ts";
import type { Store } from "../runtime/cache/store.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isAlreadyExists, isConflict, isFailedTest, isNotFound } from "../runtime/connection/errors.ts";
import { keyOf, type ResourceType } from "../runtime/object.ts";
import { API_VERSION, GROUP, VERSION } from "../schema/contract.ts";
import type { MirrorPlan } from "./plan.ts";
import type { SessionObject } from "./session.ts";

export const sessionType: ResourceType = {
  group: GROUP,
  version: VERSION,
  plural: TunnelSession.plural,
  kind: TunnelSession.kind,
};

type Task = () => Promise<unknown>;

/** The writes that a plan asks for, each on its own: none needs another. What is gone, or was made meanwhile, is no failure. */
export function tasksOf(plan: MirrorPlan, write: SessionWriter): Task[] {
  return [
    ...plan.remove.map((object) => () => write.remove(object)),
    ...plan.create.map((wanted) => () => write.create(wanted)),
    ...plan.relabel.map(
      ({ object, labels }) =>
        () =>
          write.relabel(object, labels),
    ),
    ...plan.restate.map(
      ({ object, status }) =>
        () =>
          write.restate(object, status),
    ),
  ];
}

/** Writes objects of sessions, and keeps the store up with them. */
export class SessionWriter {
  readonly #client: KubeClient;
  readonly #store: Store<SessionObject>;
  readonly #namespace: string;

  constructor(client: KubeClient, store: Store<SessionObject>, namespace: string) {
    this.#client = client;
    this.#store = store;
    this.#namespace = namespace;
  }

  async create({ name, id, labels, status }: MirrorPlan["create"][number]): Promise<void> {
    const metadata = { name, namespace: this.#namespace, labels };
    const object = { apiVersion: API_VERSION, kind: TunnelSession.kind, metadata, spec: { id } };
    try {
      const made = await this.#client.create(sessionType, object as unknown as SessionObject);
      this.#store.put(made);
      await this.restate(made, status);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async relabel({ metadata }: SessionObject, labels: Readonly<Record<string, string | undefined>>): Promise<void> {
    const values = Object.entries(labels).map(([label, value]) => [label, value ?? null]);
    const patch = { metadata: { uid: metadata.uid, labels: Object.fromEntries(values) } };
    await this.#put(() => this.#client.patchMerge<SessionObject>(sessionType, metadata, patch));
  }

  async restate(object: SessionObject, status: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#put(() => this.#client.replaceStatus(sessionType, object, status));
  }

  async remove({ metadata }: SessionObject): Promise<void> {
    try {
      await this.#client.delete(sessionType, metadata, { uid: metadata.uid });
      // one that has finalizers of somebody's stays for a while
      if (!metadata.finalizers?.length) this.#store.forget(keyOf(metadata), metadata.uid);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #put(write: () => Promise<SessionObject>): Promise<void> {
    try {
      this.#store.put(await write());
    } catch (error) {
      // gone, or written to since; the next look sees which
      if (!isNotFound(error) && !isFailedTest(error)) throw error;
    }
  }
}
