import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound, isRefusal } from "../../runtime/connection/errors.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { microTime } from "../../runtime/process/micro-time.ts";
import { elapsed, type Moment, momentOf } from "../../runtime/process/moment.ts";

export interface LeaseCopiesOptions {
  client: Pick<KubeClient, "apply" | "delete">;
  /** The name of each copy. */
  name: string;
  /** The namespace of the Lease, and its name. */
  holder: string;
  clock: Clock;
  log: Logger;
}

type Marks = Pick<KubeObject["metadata"], "labels" | "annotations">;

interface Copy {
  /** The copy as this process wrote it last. Undefined: it could not be written. */
  lease?: Lease;
  text: string;
  /** When the last successful write was sent. */
  writtenAt?: Moment;
  /** The time of the next write, by the monotonic clock. */
  dueAt: number;
}

/** How long a copy counts after it was written, in seconds. */
const DURATION = 180;
const RENEW_MS = 60_000;
/** How often the operator tries to write a copy in a namespace that does not exist. */
const MISSING_MS = 15_000;

/**
 * Copies of the Lease of an installation, in namespaces where other installations may read. Like a Lease, a copy that
 * was not renewed for its duration has ended.
 */
export class LeaseCopies {
  readonly #options: LeaseCopiesOptions;
  readonly #copies = new Map<string, Copy>();

  constructor(options: LeaseCopiesOptions) {
    this.#options = options;
  }

  /** The copy in a namespace. */
  in(namespace: string): Lease | undefined {
    return this.#copies.get(namespace)?.lease;
  }

  /**
   * Writes the copies that have other marks, or are due. Resolves with true if others did not see one of them before,
   * because it was not there or had ended. Leaves out a namespace that does not exist, since it has no objects either,
   * and one where the right is missing or admission denies the copy.
   */
  async write(namespaces: readonly string[], marks: Marks, signal?: AbortSignal): Promise<boolean> {
    const text = JSON.stringify(marks);
    const now = this.#options.clock.now();
    const due = namespaces.filter((namespace) => {
      const copy = this.#copies.get(namespace);
      return !copy || copy.dueAt <= now || (copy.lease && copy.text !== text);
    });
    const written = await Promise.allSettled(due.map((namespace) => this.#write(namespace, marks, text, signal)));
    const failure = written.find((one) => one.status === "rejected");
    if (failure) throw failure.reason;
    return written.some((one) => one.status === "fulfilled" && one.value);
  }

  /** Whether others see these copies as alive for so long. */
  hold(namespaces: readonly string[], seconds: number): boolean {
    return namespaces.every((namespace) => isFresh(this.#copies.get(namespace), this.#options.clock, seconds));
  }

  /** Deletes the copy in a namespace. A failure is logged only, since the copy ends by itself. */
  async delete(namespace: string): Promise<void> {
    const { client, name, log } = this.#options;
    this.#copies.delete(namespace);
    try {
      await client.delete(leases, { namespace, name }, { deadlineSeconds: 5 });
    } catch (error) {
      if (!isNotFound(error)) log.warn({ error, namespace }, "Could not delete a copy of the Lease, it will expire");
    }
  }

  async deleteAll(): Promise<void> {
    const written = [...this.#copies].flatMap(([namespace, { lease }]) => (lease ? [namespace] : []));
    await Promise.all(written.map((namespace) => this.delete(namespace)));
  }

  /** Resolves with whether others did not see the copy before. */
  async #write(namespace: string, marks: Marks, text: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { client, name, holder, clock, log } = this.#options;
    const before = this.#copies.get(namespace);
    const sent = momentOf(clock);
    const spec = { holderIdentity: holder, leaseDurationSeconds: DURATION, renewTime: microTime(clock.date()) };
    const metadata = { namespace, name, ...marks };
    try {
      const copy = { apiVersion: "coordination.k8s.io/v1", kind: leases.kind, metadata, spec };
      const lease = await client.apply<Lease>(leases, copy, { signal });
      this.#copies.set(namespace, { lease, text, writtenAt: sent, dueAt: sent.monotonic + RENEW_MS });
      return before?.lease?.metadata.uid !== lease.metadata.uid || !isFresh(before, clock);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (!before || before.lease) log.warn({ error, namespace }, "Could not write a copy of the Lease");
      const dueAt = sent.monotonic + (isNotFound(error) ? MISSING_MS : RENEW_MS);
      this.#copies.set(namespace, { text, dueAt });
      return false;
    }
  }
}

/** Whether others see the copy as alive for so long. What could not be written is seen by nobody. */
const isFresh = (copy: Copy | undefined, clock: Clock, seconds = 0): boolean =>
  !copy?.writtenAt || elapsed(copy.writtenAt, clock) + seconds * 1000 < DURATION * 1000;
