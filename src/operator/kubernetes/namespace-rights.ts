import { hasFinalizer } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Store } from "../../runtime/cache/store.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound, isRefusal } from "../../runtime/connection/errors.ts";
import { removeFinalizer } from "../../runtime/connection/finalizer.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { RIGHTS_FINALIZER } from "../../schema/contract.ts";
import { roleBindings } from "./resource-types.ts";

/** How often to check whether other clients have deleted the last object of a namespace. That costs no request. */
const LOOK_MS = 10_000;

export interface NamespaceRightsOptions {
  client: Pick<KubeClient, "get" | "patchMerge" | "patchJSON">;
  /** The name of the RoleBinding, the same in each namespace. Undefined: there is none. */
  binding: string | undefined;
  /** False: removes the finalizer that an earlier installation has set. */
  keeps: boolean;
  namespaces: readonly string[];
  /** All kinds whose objects may have the operator's finalizer. */
  sources: () => readonly { hasSyncedIn(namespace: string): boolean; store: Pick<Store<KubeObject>, "list"> }[];
  /** Whether this process holds the lease. Another leader may give an object the finalizer before this one sees it. */
  leads: () => boolean;
  clock: Clock;
  log: Logger;
}

interface Space {
  /** Writes under way that give an object its finalizer. */
  writes: number;
  /** Whether the RoleBinding has the finalizer. Undefined while that is not known. */
  isKept: boolean | undefined;
  /** The last of the requests, which go one after another. */
  last: Promise<void>;
}

/**
 * With `WATCH_NAMESPACES` the operator has its rights through a RoleBinding in each namespace. When a namespace is
 * deleted, Kubernetes deletes that binding with everything else, in any order, and the operator could then no longer
 * remove its finalizers. So a second RoleBinding, to a ClusterRole, has a finalizer as long as any object of the
 * namespace has one. A binding that is being deleted still grants its rights.
 */
export class NamespaceRights {
  readonly #options: NamespaceRightsOptions;
  readonly #spaces = new Map<string, Space>();

  constructor(options: NamespaceRightsOptions) {
    this.#options = options;
  }

  /** Does the write that gives an object of this namespace the operator's finalizer. Rejects only if the write does. */
  async during<T>(namespace: string, write: () => Promise<T>): Promise<T> {
    if (this.#options.binding === undefined) return write();
    const space = this.#space(namespace);
    space.writes += 1;
    try {
      await this.settle(namespace);
      return await write();
    } finally {
      space.writes -= 1;
    }
  }

  /** Call it when an object of the namespace may have been the last one with the finalizer. Never rejects. */
  settle(namespace: string): Promise<void> {
    if (this.#options.binding === undefined) return Promise.resolve();
    const space = this.#space(namespace);
    if (this.#isSettled(namespace, space)) return Promise.resolve();
    space.last = space.last.then(() => this.#settle(namespace, space));
    return space.last;
  }

  /** Runs until the signal aborts. */
  async background(signal: AbortSignal): Promise<void> {
    const { binding, namespaces, clock } = this.#options;
    while (binding !== undefined && !signal.aborted) {
      await Promise.all(namespaces.map((namespace) => this.settle(namespace)));
      await sleep(clock, LOOK_MS, signal).catch(() => {});
    }
  }

  #space(namespace: string): Space {
    const space = this.#spaces.get(namespace) ?? { writes: 0, isKept: undefined, last: Promise.resolve() };
    this.#spaces.set(namespace, space);
    return space;
  }

  #isSettled(namespace: string, space: Space): boolean {
    const isNeeded = this.#isNeeded(namespace, space);
    return isNeeded === undefined || isNeeded === space.isKept;
  }

  /** Undefined while a kind cannot be read in this namespace. */
  #isNeeded(namespace: string, { writes }: Space): boolean | undefined {
    const { keeps, sources } = this.#options;
    if (!keeps) return false;
    if (writes > 0) return true;
    const all = sources();
    if (all.some(({ store }) => store.list(namespace).some(hasFinalizer))) return true;
    return all.every((source) => source.hasSyncedIn(namespace)) ? false : undefined;
  }

  async #settle(namespace: string, space: Space): Promise<void> {
    const { binding: name = "", log, leads } = this.#options;
    if (!leads() || this.#isSettled(namespace, space)) return;
    const isNeeded = this.#isNeeded(namespace, space) === true;
    const about = { namespace, name };
    try {
      await (isNeeded ? this.#keep(namespace, name) : this.#releaseFinalizer(namespace, name));
      space.isKept = isNeeded;
    } catch (error) {
      if (error instanceof Outdated) return;
      // There is no such binding, it is being deleted, or the operator has no right.
      if (isRefusal(error)) space.isKept = isNeeded;
      if (isNeeded) log.warn({ ...about, error }, WITHOUT);
      else if (!isNotFound(error)) log.warn({ ...about, error }, "Could not remove the finalizer from the RoleBinding");
    }
  }

  async #keep(namespace: string, name: string): Promise<void> {
    const { client } = this.#options;
    const { metadata } = await client.get(roleBindings, { namespace, name }, { metadataOnly: true });
    const { uid, resourceVersion, finalizers = [] } = metadata;
    if (finalizers.includes(RIGHTS_FINALIZER)) return;
    const patch = { metadata: { uid, resourceVersion, finalizers: [...finalizers, RIGHTS_FINALIZER] } };
    this.#assertLeads();
    await client.patchMerge(roleBindings, { namespace, name }, patch);
  }

  #releaseFinalizer = (namespace: string, name: string): Promise<unknown> =>
    releaseRoleBinding(this.#options.client, { namespace, name }, () => this.#assertLeads());

  /** To be called right before a write. */
  #assertLeads(): void {
    if (!this.#options.leads()) throw new Outdated("Not the leader: the RoleBinding is left to the next one");
  }
}

const WITHOUT =
  "Delete the objects of this namespace before the namespace: the RoleBinding with which the operator would end them cannot be kept";

/** Takes the operator's finalizer off the RoleBinding. `assertValid` throws right before the write if it must not be sent. */
export async function releaseRoleBinding(
  client: Pick<KubeClient, "get" | "patchJSON">,
  ref: { namespace: string; name: string },
  assertValid: () => void = () => {},
): Promise<void> {
  const binding = await client.get(roleBindings, ref, { metadataOnly: true });
  assertValid();
  await removeFinalizer(client, roleBindings, binding, RIGHTS_FINALIZER);
}
