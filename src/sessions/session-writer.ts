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

/** The writes of a plan, which do not depend on each other. */
export function tasksOf(plan: MirrorPlan, write: SessionWriter): Task[] {
  return [
    ...plan.delete.map((object) => () => write.delete(object)),
    ...plan.create.map((wanted) => () => write.create(wanted)),
    ...plan.updateLabels.map(
      ({ object, labels }) =>
        () =>
          write.updateLabels(object, labels),
    ),
    ...plan.updateStatus.map(
      ({ object, status }) =>
        () =>
          write.updateStatus(object, status),
    ),
  ];
}

/** Writes session objects, and puts the answers into the store. Ignores an object that is gone or was recreated. */
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
      await this.updateStatus(made, status);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async updateLabels({ metadata }: SessionObject, labels: Readonly<Record<string, string | undefined>>): Promise<void> {
    const values = Object.entries(labels).map(([label, value]) => [label, value ?? null]);
    const patch = { metadata: { uid: metadata.uid, labels: Object.fromEntries(values) } };
    await this.#write(() => this.#client.patchMerge<SessionObject>(sessionType, metadata, patch));
  }

  async updateStatus(object: SessionObject, status: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#write(() => this.#client.replaceStatus(sessionType, object, status));
  }

  async delete({ metadata }: SessionObject): Promise<void> {
    try {
      await this.#client.delete(sessionType, metadata, { uid: metadata.uid });
      // an object with a finalizer of somebody else stays until that is removed
      if (!metadata.finalizers?.length) this.#store.forget(keyOf(metadata), metadata.uid);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #write(write: () => Promise<SessionObject>): Promise<void> {
    try {
      this.#store.put(await write());
    } catch (error) {
      // gone or recreated: the next plan takes that into account
      if (!isNotFound(error) && !isFailedTest(error)) throw error;
    }
  }
}
