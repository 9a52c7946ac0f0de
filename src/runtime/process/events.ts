import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Clock, sleep, systemClock } from "../clock.ts";
import type { KubeClient } from "../connection/client.ts";
import { isAlreadyExists, isNotFound, isTooManyRequests, isUnreachable } from "../connection/errors.ts";
import type { Logger } from "../log.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { microTime } from "./micro-time.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface Occurrence {
  object: Pick<KubeObject, "apiVersion" | "kind" | "metadata">;
  type: "Normal" | "Warning";
  /** Why, in CamelCase, for machines. */
  reason: string;
  /** What was done or tried, in CamelCase, for machines. */
  action: string;
  /** For people; what goes beyond 1024 bytes is cut off. */
  note: string;
}

export interface RecorderOptions {
  client: KubeClient;
  /** who reports, such as `example.dev/operator`, and which of its processes */
  controller: string;
  instance: string;
  log: Logger;
  clock?: Clock;
}

/** One event object, written when first seen and again while it repeats. */
interface Series {
  readonly occurrence: Occurrence;
  readonly since: Date;
  name: string;
  count: number;
  last: Date;
  created: boolean;
  queued: boolean;
}

const events: ResourceType = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event" };

const queueLimit = 1000;
const attempts = 3;
const bucket = { burst: 25, perSecond: 1 / 300 };
const seriesEndsAfter = 6 * 60_000;

/**
 * Writes events.k8s.io/v1 Events in the background, one at a time. An event is for people to read and never worth
 * holding up work: `emit` does not wait and does not throw; what one object says beyond 25 events and one more
 * every five minutes is dropped, as client-go does, and so is what cannot be written.
 * The same event again within six minutes counts up the `series` of the first.
 */
export class EventRecorder {
  readonly #options: RecorderOptions;
  readonly #clock: Clock;
  readonly #series = new LRUCache<string, Series>({ max: 4096 });
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: 4096 });
  readonly #queue: Series[] = [];
  readonly #stop = new AbortController();
  #writing: Promise<void> | undefined;
  #closed = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  emit(occurrence: Occurrence): void {
    if (this.#closed) return;
    const { object, type, reason, action, note } = occurrence;
    const key = JSON.stringify([object.metadata.uid, type, reason, action, note]);
    const known = this.#repeated(key);
    if (known) {
      known.count += 1;
      known.last = this.#clock.date();
    }
    if (known?.queued || !this.#admits(occurrence)) return;
    const series = known ?? this.#begin(occurrence);
    this.#series.set(key, series);
    series.queued = true;
    this.#queue.push(series);
    this.#writing ??= this.#write();
  }

  /** Resolves when everything emitted so far is written or given up. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** Takes nothing more, and gives what is left that long. */
  async close(graceSeconds = 5): Promise<void> {
    this.#closed = true;
    const timer = this.#clock.setTimeout(() => this.#stop.abort(), graceSeconds * 1000);
    await this.#writing;
    timer.clear();
    this.#stop.abort();
  }

  #repeated(key: string): Series | undefined {
    const known = this.#series.get(key);
    const age = this.#clock.date().getTime() - (known?.last.getTime() ?? 0);
    return age <= seriesEndsAfter ? known : undefined;
  }

  #admits({ object }: Occurrence): boolean {
    const key = object.metadata.uid ?? object.metadata.name;
    const known = this.#buckets.get(key) ?? new TokenBucket(bucket, this.#clock);
    this.#buckets.set(key, known);
    return this.#queue.length < queueLimit && known.take();
  }

  #begin(occurrence: Occurrence): Series {
    const since = this.#clock.date();
    return { occurrence, since, name: nameFor(occurrence), count: 1, last: since, created: false, queued: false };
  }

  async #write(): Promise<void> {
    // the caller of emit goes on first
    await Promise.resolve();
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      next.queued = false;
      await this.#attempt(next);
    }
    this.#writing = undefined;
  }

  async #attempt(series: Series): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; failures += 1) {
      try {
        await this.#send(series);
        return;
      } catch (error) {
        const passing = isUnreachable(error) || isTooManyRequests(error);
        if (!passing || failures + 1 >= attempts) {
          this.#options.log.debug({ error, reason: series.occurrence.reason }, "Event not written");
          return;
        }
        await sleep(this.#clock, 1000 * 2 ** failures, this.#stop.signal).catch(() => {});
      }
    }
  }

  async #send(series: Series): Promise<void> {
    if (!series.created) return this.#create(series);
    const ref = { namespace: namespaceOf(series.occurrence), name: series.name };
    try {
      await this.#options.client.patchMerge(events, ref, { series: repeats(series) }, { signal: this.#stop.signal });
    } catch (error) {
      // the API server forgets events after an hour
      if (!isNotFound(error)) throw error;
      series.name = nameFor(series.occurrence);
      await this.#create(series);
    }
  }

  async #create(series: Series): Promise<void> {
    try {
      await this.#options.client.create(events, this.#eventOf(series), { signal: this.#stop.signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    series.created = true;
  }

  #eventOf(series: Series): KubeObject {
    const { object, type, reason, action, note } = series.occurrence;
    const { apiVersion, kind } = object;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: series.name, namespace: namespaceOf(series.occurrence) },
      eventTime: microTime(series.since),
      reportingController: this.#options.controller,
      reportingInstance: cut(this.#options.instance, 128),
      regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
      type,
      reason: cut(reason, 128),
      action: cut(action, 128),
      note: cut(note, 1024),
      ...(series.count > 1 && { series: repeats(series) }),
    };
  }
}

const namespaceOf = ({ object }: Occurrence): string => object.metadata.namespace ?? "default";

const nameFor = ({ object }: Occurrence): string =>
  `${object.metadata.name.slice(0, 230)}.${randomBytes(8).toString("hex")}`;

const repeats = ({ count, last }: Series) => ({ count, lastObservedTime: microTime(last) });

/** At most that many bytes of UTF-8, never half a character. */
export function cut(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(bytes));
  return whole.slice(0, read);
}
