import { TunnelSession } from "../kinds/tunnel-session.ts";
import { typeOf } from "../objects/object.ts";
import type { Store } from "../runtime/cache/store.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isAlreadyExists, isConflict, isFailedTest, isNotFound } from "../runtime/connection/errors.ts";
import { type KubeObject, keyOf, type ResourceType } from "../runtime/object.ts";
import { API_VERSION } from "../schema/contract.ts";
import type { MirrorPlan } from "./plan.ts";
import type { SessionObject } from "./session.ts";

export const sessionType = typeOf(TunnelSession);

type Task = () => Promise<unknown>;

const CONCURRENT_WRITES = 8;

/** The writes of a plan, which do not depend on each other. */
export function tasksOf(namespace: string, plan: MirrorPlan, write: SessionWriter): Task[] {
  return [
    ...plan.delete.map((object) => () => write.delete(object)),
    ...plan.create.map((wanted) => () => write.create(namespace, wanted)),
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

/** Runs the tasks, a few at the same time. Returns what they threw. */
export async function runAll(tasks: readonly Task[]): Promise<unknown[]> {
  const failures: unknown[] = [];
  const remaining = tasks.values();
  const work = async () => {
    // the workers share one iterator, so each task runs once
    for (const task of remaining) await task().catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: CONCURRENT_WRITES }, work));
  return failures;
}

/** Writes session objects, and puts the answers into the store. Ignores an object that is gone or was recreated. */
export class SessionWriter {
  readonly #client: KubeClient;
  readonly #store: Store<SessionObject>;

  constructor(client: KubeClient, store: Store<SessionObject>) {
    this.#client = client;
    this.#store = store;
  }

  async create(namespace: string, { name, id, labels, status }: MirrorPlan["create"][number]): Promise<void> {
    const metadata = { name, namespace, labels };
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

  delete(object: SessionObject): Promise<void> {
    return deleteFrom(this.#store, this.#client, sessionType, object);
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

/** Deletes this object and no other of its name. Does nothing if it is gone or was made anew. */
export async function deleteFrom<T extends KubeObject>(
  store: Pick<Store<T>, "forget">,
  client: Pick<KubeClient, "delete">,
  type: ResourceType,
  { metadata }: T,
): Promise<void> {
  try {
    await client.delete(type, metadata, { uid: metadata.uid });
    // An object with a finalizer of somebody else stays until that is removed.
    if (!metadata.finalizers?.length) store.forget(keyOf(metadata), metadata.uid ?? "");
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
