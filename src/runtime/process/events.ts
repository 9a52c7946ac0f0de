import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { delayAfter } from "../backoff.ts";
import { type Clock, sleep, systemClock } from "../clock.ts";
import type { KubeClient } from "../connection/client.ts";
import { isAlreadyExists, isNotFound, isTooManyRequests, isUnreachable } from "../connection/errors.ts";
import type { Logger } from "../log.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { microTime } from "./micro-time.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface EventInput {
  object: Pick<KubeObject, "apiVersion" | "kind" | "metadata">;
  type: "Normal" | "Warning";
  /** Why it happened, in CamelCase, for machines. */
  reason: string;
  /** What was done or tried, in CamelCase, for machines. */
  action: string;
  /** The message for people, cut at 1024 bytes. */
  note: string;
}

export interface RecorderOptions {
  client: KubeClient;
  /** `reportingController` of the events, such as `example.dev/operator`. */
  controller: string;
  /** `reportingInstance`: this process. */
  instance: string;
  log: Logger;
  clock?: Clock;
}

/** An Event object: created when it happens first, updated when it happens again. */
interface Series {
  readonly input: EventInput;
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
const backoff = { base: 1, cap: 2, jitter: 0 };
const bucket = { burst: 25, perSecond: 1 / 300 };
const seriesEndsAfter = 6 * 60_000;

/**
 * Writes events.k8s.io/v1 Events in the background, one at a time. Events never delay the work: `emit` neither waits
 * nor throws, and events that cannot be written are dropped. As in client-go, an object has a burst of 25 events and
 * one more every five minutes, and the rest is dropped. An event that is repeated within six minutes increments the
 * `series` of the first one.
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

  emit(input: EventInput): void {
    if (this.#closed) return;
    const { object, type, reason, action, note } = input;
    const key = JSON.stringify([object.metadata.uid, type, reason, action, note]);
    const known = this.#repeated(key);
    if (known) {
      known.count += 1;
      known.last = this.#clock.date();
    }
    if (known?.queued || !this.#admits(input)) return;
    const series = known ?? this.#begin(input);
    this.#series.set(key, series);
    series.queued = true;
    this.#queue.push(series);
    this.#writing ??= this.#write();
  }

  /** Resolves when all emitted events are written or dropped. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** Ignores further events, and allows this time to write the waiting ones. */
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

  #admits({ object }: EventInput): boolean {
    const key = object.metadata.uid ?? object.metadata.name;
    const known = this.#buckets.get(key) ?? new TokenBucket(bucket, this.#clock);
    this.#buckets.set(key, known);
    return this.#queue.length < queueLimit && known.take();
  }

  #begin(input: EventInput): Series {
    const since = this.#clock.date();
    return { input, since, name: nameFor(input), count: 1, last: since, created: false, queued: false };
  }

  async #write(): Promise<void> {
    // so that emit returns before anything is sent
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
        const retryable = isUnreachable(error) || isTooManyRequests(error);
        if (!retryable || failures + 1 >= attempts) {
          this.#options.log.debug({ error, reason: series.input.reason }, "Event not written");
          return;
        }
        await sleep(this.#clock, delayAfter(backoff, failures, Math.random) * 1000, this.#stop.signal).catch(() => {});
      }
    }
  }

  async #send(series: Series): Promise<void> {
    if (!series.created) return this.#create(series);
    const ref = { namespace: namespaceOf(series.input), name: series.name };
    try {
      await this.#options.client.patchMerge(events, ref, { series: seriesOf(series) }, { signal: this.#stop.signal });
    } catch (error) {
      // the API server forgets events after an hour
      if (!isNotFound(error)) throw error;
      series.name = nameFor(series.input);
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
    const { object, type, reason, action, note } = series.input;
    const { apiVersion, kind } = object;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: series.name, namespace: namespaceOf(series.input) },
      eventTime: microTime(series.since),
      reportingController: this.#options.controller,
      reportingInstance: truncate(this.#options.instance, 128),
      regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
      type,
      reason: truncate(reason, 128),
      action: truncate(action, 128),
      note: truncate(note, 1024),
      ...(series.count > 1 && { series: seriesOf(series) }),
    };
  }
}

const namespaceOf = ({ object }: EventInput): string => object.metadata.namespace ?? "default";

/** A name that is cut must not end in a dot or a hyphen. */
const nameFor = ({ object }: EventInput): string =>
  `${object.metadata.name.slice(0, 230).replace(/[^a-z0-9]+$/, "")}.${randomBytes(8).toString("hex")}`;

const seriesOf = ({ count, last }: Series) => ({ count, lastObservedTime: microTime(last) });

/** The beginning of the text, at most that many bytes of UTF-8 and without half a character at its end. */
export function truncate(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(bytes));
  return whole.slice(0, read);
}
