import { Backoff, type Random } from "../backoff.ts";
import { type Clock, sleep } from "../clock.ts";
import type { KubeClient } from "../connection/client.ts";
import { isGone, isNotFound, KubeError } from "../connection/errors.ts";
import { Malformed, Silence, type WatchEvent } from "../connection/watch.ts";
import { type Logger, textOf } from "../log.ts";
import { type KubeObject, keyOf, type ResourceType, resourceName } from "../object.ts";
import { lean } from "./freeze.ts";
import type { Feed } from "./store.ts";
import { defaultTiming, type ReflectorTiming } from "./timing.ts";

export interface ReflectorOptions {
  client: KubeClient;
  type: ResourceType;
  /** without it, all namespaces */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  metadataOnly?: boolean | undefined;
  keep?: ((object: KubeObject) => KubeObject) | undefined;
  feed: Feed;
  clock: Clock;
  random: Random;
  log: Logger;
  timing?: Partial<ReflectorTiming> | undefined;
  /** Called each time the feed has got a complete list. */
  onListed?: () => void;
}

/**
 * Keeps a feed equal to what the API server has, whatever happens in between, until it is aborted.
 *
 * It asks for all objects as a stream that goes on as the watch, or, where the server does not know that, for
 * pages followed by a watch. A watch that breaks is resumed where it was; when the server no longer knows that
 * place, or has been silent for longer than its bookmarks allow, everything is listed again, and the feed works
 * out what changed. Lists are always consistent, never from a cache that may be behind.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #timing: ReflectorTiming;
  readonly #backoff: Backoff;
  /** where the next watch goes on; undefined: list first */
  #resourceVersion: string | undefined;
  #streamsLists = true;
  #listedAt = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;
  /** since when it has been up to date; undefined: it is not */
  #steadySince: number | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#backoff = new Backoff(this.#timing.backoff, options.clock, options.random);
    this.#problem = `${resourceName(options.type)}: not listed yet`;
  }

  /** What keeps it from being up to date now. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Runs until aborted, never rejects. Afterwards nothing is open and the feed is not touched any more. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal).catch(() => {});
      }
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion !== undefined) return this.#watch(signal, this.#resourceVersion);
    await this.#pace(signal);
    this.#options.feed.begin();
    return this.#streamsLists ? this.#streamList(signal) : this.#pageList(signal);
  }

  async #watch(signal: AbortSignal, resourceVersion: string): Promise<void> {
    const begun = this.#options.clock.now();
    let events = 0;
    for await (const batch of this.#events(signal, resourceVersion)) {
      this.#isWell();
      events += batch.length;
      for (const event of batch) this.#tell(event, signal);
    }
    const lasted = this.#options.clock.now() - begun;
    if (events === 0 && lasted < this.#timing.shortestWatch * 1000) throw new Error("The watch ended at once");
  }

  /** The initial objects are told as one list when they are complete; the same stream then goes on as the watch. */
  async #streamList(signal: AbortSignal): Promise<void> {
    const initial = new Map<string, KubeObject>();
    for await (const batch of this.#events(signal)) {
      for (const event of batch) {
        if (this.#resourceVersion !== undefined) this.#tell(event, signal);
        else if (completes(initial, this.#kept(event))) {
          this.#replace([...initial.values()], event.object.metadata.resourceVersion, signal);
          initial.clear();
        }
      }
    }
    if (this.#resourceVersion === undefined) throw new Error("The watch ended before the list was complete");
  }

  async #pageList(signal: AbortSignal): Promise<void> {
    const { client, type, namespace, labelSelector, metadataOnly } = this.#options;
    const list = await client.listAll(type, { namespace, labelSelector, metadataOnly, signal, deadlineSeconds: 60 });
    const { keep = lean } = this.#options;
    this.#replace(list.items.map(keep), list.resourceVersion, signal);
  }

  #events(signal: AbortSignal, resourceVersion?: string): AsyncGenerator<WatchEvent[]> {
    const { client, type, namespace, labelSelector, metadataOnly, random } = this.#options;
    const { watchSeconds, graceSeconds, silenceSeconds, initialSilenceSeconds } = this.#timing;
    return client.watch(type, {
      namespace,
      labelSelector,
      metadataOnly,
      resourceVersion,
      timeoutSeconds: Math.round(watchSeconds * (1 + random())),
      graceSeconds,
      silenceSeconds: () => (this.#resourceVersion === undefined ? initialSilenceSeconds : silenceSeconds),
      signal,
    });
  }

  /** A bookmark is no object. What is dropped is dropped here, since a whole list waits for its end in memory. */
  #kept({ type, object }: WatchEvent): WatchEvent {
    const { keep = lean } = this.#options;
    return { type, object: type === "BOOKMARK" ? object : keep(object) };
  }

  #tell(event: WatchEvent, signal: AbortSignal): void {
    signal.throwIfAborted();
    const { type, object } = this.#kept(event);
    const { resourceVersion = "" } = object.metadata;
    if (type === "BOOKMARK") this.#options.feed.advance(resourceVersion);
    else if (type === "DELETED") this.#options.feed.remove(object);
    else this.#options.feed.upsert(object);
    this.#resourceVersion = resourceVersion;
  }

  #replace(objects: KubeObject[], resourceVersion: string | undefined, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (!resourceVersion) throw new Malformed("A list without resourceVersion");
    this.#options.feed.replace(objects, resourceVersion);
    this.#resourceVersion = resourceVersion;
    this.#isWell();
    this.#options.onListed?.();
  }

  #isWell(): void {
    this.#problem = undefined;
    this.#steadySince ??= this.#options.clock.now();
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#options;
    const listing = this.#resourceVersion === undefined;
    // what breaks long connections now and then must not keep a watch shut for longer each time
    if (this.#steadySince !== undefined && clock.now() - this.#steadySince >= this.#timing.steadySeconds * 1000)
      this.#backoff.reset();
    this.#steadySince = undefined;
    if (listing && this.#streamsLists && cannotStreamLists(error)) {
      this.#streamsLists = false;
      log.info({ error }, "Listing in pages, the server does not stream lists");
      return;
    }
    this.#problem = `${resourceName(this.#options.type)}: ${isNotFound(error) ? notServed : textOf(error)}`;
    if (mustList(error)) this.#resourceVersion = undefined;
    if (!listing && (isGone(error) || error instanceof Silence)) {
      log.info({ error }, "Listing again");
      return;
    }
    const absent = isNotFound(error) ? this.#timing.absentSeconds * (1 + random()) * 500 : 0;
    const delay = Math.max(absent, this.#backoff.next(error instanceof KubeError ? error.retryAfterSeconds : 0));
    log.warn({ error, delaySeconds: delay / 1000 }, "Watch failed");
    await sleep(clock, delay, signal);
  }

  /** After a restart of the API server every reflector wants to list at the same moment. */
  async #pace(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const between = this.#timing.betweenLists * 1000;
    const wait = this.#listedAt + between * (1 + random()) - clock.now();
    if (wait > 0) await sleep(clock, wait, signal);
    this.#listedAt = clock.now();
  }
}

const notServed = "the API server does not serve this kind; is its CRD installed?";

/** Collects the initial objects; true at the bookmark that ends them. */
function completes(initial: Map<string, KubeObject>, { type, object }: WatchEvent): boolean {
  if (type === "DELETED") initial.delete(keyOf(object));
  else if (type !== "BOOKMARK") initial.set(keyOf(object), object);
  else if (object.metadata.annotations?.["k8s.io/initial-events-end"] === "true") return true;
  else throw new NoListStream("A bookmark came before the end of the initial objects");
  return false;
}

/** A server that ignores the request for initial events never says that they have ended. */
class NoListStream extends Error {
  override readonly name = "NoListStream";
}

const cannotStreamLists = (error: unknown): boolean =>
  error instanceof NoListStream ||
  error instanceof Silence ||
  (error instanceof KubeError && [400, 405, 415, 422].includes(error.status));

/** Whether going on from the last known place would only fail again. */
function mustList(error: unknown): boolean {
  if (error instanceof Silence || error instanceof Malformed || isGone(error)) return true;
  return error instanceof KubeError && error.status < 500 && ![401, 403, 429].includes(error.status);
}
