import { Backoff, type Random } from "../backoff.ts";
import { type Clock, sleep } from "../clock.ts";
import type { KubeClient } from "../connection/client.ts";
import { isForbidden, isGone, isNotFound, KubeError } from "../connection/errors.ts";
import { MalformedWatch, type WatchEvent, WatchIdle } from "../connection/watch.ts";
import { type Logger, textOf } from "../log.ts";
import { type KubeObject, keyOf, type ResourceType, resourceName } from "../object.ts";
import { withoutManagedFields } from "./freeze.ts";
import type { Feed } from "./store.ts";
import { defaultTiming, type ReflectorTiming } from "./timing.ts";

export interface ReflectorOptions {
  client: KubeClient;
  type: ResourceType;
  /** Missing: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  metadataOnly?: boolean | undefined;
  transform?: ((object: KubeObject) => KubeObject) | undefined;
  feed: Feed;
  clock: Clock;
  random: Random;
  log: Logger;
  timing?: Partial<ReflectorTiming> | undefined;
  /** Called each time the feed has received a complete list. */
  onListed?: () => void;
  /** Called at each attempt while the server has refused the list or the watch for some time. */
  onRefused?: () => void;
}

/** Why the server does not give the objects of a kind: it has no definition of the kind, or a right is missing. */
export type Refusal = "notServed" | "forbidden";

/**
 * Keeps a feed equal to the objects of the API server until it is aborted, whatever fails in between.
 *
 * - It requests the list as a stream that goes on as the watch. After a stream that the server refused, did not end or let
 *   stand still, it requests pages for some time, and then a watch.
 * - A watch that breaks is resumed at its last resourceVersion.
 * - When the server no longer has that resourceVersion, or a watch was idle for longer than bookmarks allow, it lists
 *   again, and the feed finds out what changed.
 *
 * Lists are consistent reads, never from a cache of the server that may be behind.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #timing: ReflectorTiming;
  readonly #backoff: Backoff;
  /** Where the next watch starts; undefined: list first. */
  #resourceVersion: string | undefined;
  /** Until this clock time it lists in pages: the server did not stream a list. */
  #pagesUntil = Number.NEGATIVE_INFINITY;
  #listedAt = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;
  /** Clock time since which the feed has been up to date; undefined while it is not. */
  #healthySince: number | undefined;
  /** Clock time since which the feed has been out of date; undefined while it is not. */
  #brokenSince: number | undefined;
  #refusal: { why: Refusal; since: number } | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#backoff = new Backoff(this.#timing.backoff, options.clock, options.random);
    this.#problem = `${resourceName(options.type)}: not listed yet`;
    this.#brokenSince = options.clock.now();
  }

  /** Why the feed is not up to date at the moment. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Set while the server refuses the list or the watch. */
  get refusal(): Refusal | undefined {
    return this.#refusal?.why;
  }

  /** Whether the feed is up to date as far as the client can know. */
  get isConnected(): boolean {
    return this.#brokenSince === undefined;
  }

  /** Whether the feed has not been up to date for long. */
  get isDead(): boolean {
    const now = this.#options.clock.now();
    return this.#brokenSince !== undefined && now - this.#brokenSince >= this.#timing.deadSeconds * 1000;
  }

  get #streamsLists(): boolean {
    return this.#options.clock.now() >= this.#pagesUntil;
  }

  /** Runs until aborted, and never rejects. Afterwards no connection is open, and the feed is not called any more. */
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
    await this.#limitLists(signal);
    this.#options.feed.beginList();
    return this.#streamsLists ? this.#streamList(signal) : this.#pageList(signal);
  }

  async #watch(signal: AbortSignal, resourceVersion: string): Promise<void> {
    const begun = this.#options.clock.now();
    let events = 0;
    for await (const batch of this.#events(signal, resourceVersion)) {
      this.#markHealthy();
      events += batch.length;
      for (const event of batch) this.#apply(event, signal);
    }
    const lasted = this.#options.clock.now() - begun;
    if (events === 0 && lasted < this.#timing.minWatchSeconds * 1000) throw new Error("The watch ended at once");
  }

  /** Collects the initial objects and gives them to the feed as one list. The same stream then goes on as the watch. */
  async #streamList(signal: AbortSignal): Promise<void> {
    const initial = new Map<string, KubeObject>();
    for await (const batch of this.#events(signal)) {
      for (const event of batch) {
        if (this.#resourceVersion !== undefined) this.#apply(event, signal);
        else if (collectInitial(initial, this.#transformed(event))) {
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
    const { transform = withoutManagedFields } = this.#options;
    this.#replace(list.items.map(transform), list.resourceVersion, signal);
  }

  #events(signal: AbortSignal, resourceVersion?: string): AsyncGenerator<WatchEvent[]> {
    const { client, type, namespace, labelSelector, metadataOnly, random } = this.#options;
    const { watchSeconds, graceSeconds, idleSeconds, initialIdleSeconds } = this.#timing;
    return client.watch(type, {
      namespace,
      labelSelector,
      metadataOnly,
      resourceVersion,
      timeoutSeconds: Math.round(watchSeconds * (1 + random())),
      graceSeconds,
      idleSeconds: () => (this.#resourceVersion === undefined ? initialIdleSeconds : idleSeconds),
      signal,
    });
  }

  /** Transforms objects as they arrive, since a whole list waits in memory for its end. A bookmark is no object. */
  #transformed({ type, object }: WatchEvent): WatchEvent {
    const { transform = withoutManagedFields } = this.#options;
    return { type, object: type === "BOOKMARK" ? object : transform(object) };
  }

  #apply(event: WatchEvent, signal: AbortSignal): void {
    signal.throwIfAborted();
    const { type, object } = this.#transformed(event);
    const { resourceVersion = "" } = object.metadata;
    if (type === "BOOKMARK") this.#options.feed.advance(resourceVersion);
    else if (type === "DELETED") this.#options.feed.remove(object);
    else this.#options.feed.upsert(object);
    this.#resourceVersion = resourceVersion;
  }

  #replace(objects: KubeObject[], resourceVersion: string | undefined, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (!resourceVersion) throw new MalformedWatch("A list without resourceVersion");
    this.#options.feed.replace(objects, resourceVersion);
    this.#resourceVersion = resourceVersion;
    this.#markHealthy();
    this.#options.onListed?.();
  }

  #markHealthy(): void {
    this.#problem = undefined;
    this.#refusal = undefined;
    this.#brokenSince = undefined;
    this.#healthySince ??= this.#options.clock.now();
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#options;
    const listing = this.#resourceVersion === undefined;
    // A proxy may cut all long connections regularly. That must not make the delays grow each time.
    if (this.#healthySince !== undefined && clock.now() - this.#healthySince >= this.#timing.healthySeconds * 1000)
      this.#backoff.reset();
    this.#healthySince = undefined;
    this.#brokenSince ??= clock.now();
    this.#noteRefusal(error);
    if (listing && this.#streamsLists && cannotStreamLists(error)) {
      // One unexpected answer may be an accident, and pages cost the server more.
      this.#pagesUntil = clock.now() + this.#timing.pagesSeconds * 1000;
      log.info({ error }, "Listing in pages, since the server did not stream the list");
      return;
    }
    this.#problem = `${resourceName(this.#options.type)}: ${isNotFound(error) ? notServed : textOf(error)}`;
    if (mustRelist(error)) this.#resourceVersion = undefined;
    // Without a delay, a list that expires at once would be requested again and again.
    const isListRecent = clock.now() - this.#listedAt < this.#timing.healthySeconds * 1000;
    if (!listing && ((isGone(error) && !isListRecent) || error instanceof WatchIdle)) {
      log.info({ error }, "Listing again");
      return;
    }
    const absent = isNotFound(error) ? this.#timing.notServedSeconds * (1 + random()) * 500 : 0;
    const delay = Math.max(absent, this.#backoff.next(error instanceof KubeError ? error.retryAfterSeconds : 0));
    log.warn({ error, delaySeconds: delay / 1000 }, "Watch failed");
    await sleep(clock, delay, signal);
  }

  #noteRefusal(error: unknown): void {
    const { clock, onRefused } = this.#options;
    const why = refusalOf(error);
    const since = this.#refusal?.since ?? clock.now();
    this.#refusal = why && { why, since };
    // A definition or right that was granted a moment ago may not have reached all API servers.
    if (why && clock.now() - since >= this.#timing.refusedSeconds * 1000) onRefused?.();
  }

  /** Spreads lists: after a restart of the API server all reflectors want to list at the same moment. */
  async #limitLists(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const between = this.#timing.minListIntervalSeconds * 1000;
    const wait = this.#listedAt + between * (1 + random()) - clock.now();
    if (wait > 0) await sleep(clock, wait, signal);
    this.#listedAt = clock.now();
  }
}

const notServed = "the API server does not serve this kind; is its CRD installed?";

function refusalOf(error: unknown): Refusal | undefined {
  if (isNotFound(error)) return "notServed";
  return isForbidden(error) ? "forbidden" : undefined;
}

/** Adds the event to the initial objects; true at the bookmark that ends them. */
function collectInitial(initial: Map<string, KubeObject>, { type, object }: WatchEvent): boolean {
  if (type === "DELETED") initial.delete(keyOf(object));
  else if (type !== "BOOKMARK") initial.set(keyOf(object), object);
  else if (object.metadata.annotations?.["k8s.io/initial-events-end"] === "true") return true;
  else throw new ListStreamUnsupported("A bookmark came before the end of the initial objects");
  return false;
}

/** The server ignores `sendInitialEvents`, and so never marks their end. */
class ListStreamUnsupported extends Error {
  override readonly name = "ListStreamUnsupported";
}

const cannotStreamLists = (error: unknown): boolean =>
  error instanceof ListStreamUnsupported ||
  error instanceof WatchIdle ||
  (error instanceof KubeError && [400, 405, 415, 422].includes(error.status));

/** Whether another watch from the same resourceVersion would fail in the same way. */
function mustRelist(error: unknown): boolean {
  if (error instanceof WatchIdle || error instanceof MalformedWatch || isGone(error)) return true;
  return error instanceof KubeError && error.status < 500 && ![401, 403, 429].includes(error.status);
}
