import type { Clock } from "../clock.ts";
import { Deadline } from "../deadline.ts";
import { apiVersionOf, type KubeObject, pathOf, type ResourceType } from "../object.ts";
import { KubeUnreachable, kubeErrorOf, kubeErrorOfStatus } from "./errors.ts";
import { lines } from "./lines.ts";
import type { Exchange, Transport } from "./transport.ts";

export interface WatchOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  metadataOnly?: boolean | undefined;
  /** Where the stream starts. Without it, the stream begins with all present objects. */
  resourceVersion?: string | undefined;
  /** The server is asked to end the stream after this time. */
  timeoutSeconds: number;
  /** If the server has not ended the stream so long after that, it is ended here. */
  graceSeconds: number;
  /** Longest time without an event or bookmark. Called anew after each batch. */
  idleSeconds: () => number;
  signal: AbortSignal;
}

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: KubeObject;
}

/** There was no event for longer than a healthy server needs to send a bookmark. The cache may be out of date. */
export class WatchIdle extends Error {
  override readonly name = "WatchIdle";
}

/** A line is not a watch event, or only a part of one. */
export class MalformedWatch extends Error {
  override readonly name = "MalformedWatch";
}

/**
 * The events of one watch in the order of the server, in batches as they arrive. The first batch is empty: the watch is
 * open. The generator ends when the server ends the stream, or when it should have.
 *
 * Throws KubeError, also for an ERROR in the stream, KubeUnreachable, WatchIdle, MalformedWatch, or the error of a
 * broken connection. The connection is closed when the caller stops iterating.
 */
export async function* watch(
  transport: Transport,
  clock: Clock,
  type: ResourceType,
  options: WatchOptions,
): AsyncGenerator<WatchEvent[]> {
  using whole = new Deadline(clock, (options.timeoutSeconds + options.graceSeconds) * 1000, options.signal);
  using idle = new Deadline(clock, undefined, whole.signal);
  const restartIdle = (reason: () => Error) => idle.restart(options.idleSeconds() * 1000, reason);
  const received = () => restartIdle(() => new WatchIdle("No event or bookmark for too long"));
  restartIdle(() => new KubeUnreachable("ETIMEDOUT", "The watch was not answered"));
  try {
    const { status, retryAfter, body } = await transport.stream({ ...exchangeOf(type, options), signal: idle.signal });
    if (status !== 200) throw kubeErrorOf(status, await body.text(), retryAfter);
    yield [];
    received();
    for await (const batch of lines(body)) {
      yield batch.map((line) => eventOf(type, line, options));
      received();
    }
  } catch (error) {
    if (whole.signal.aborted && !options.signal.aborted) return;
    throw idle.signal.aborted ? idle.signal.reason : error;
  }
}

function exchangeOf(type: ResourceType, options: WatchOptions): Exchange {
  const { namespace, resourceVersion, labelSelector, timeoutSeconds, metadataOnly } = options;
  const initial = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
  return {
    method: "GET",
    path: pathOf(type, { ...(namespace && { namespace }) }),
    query: {
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds,
      labelSelector,
      resourceVersion,
      ...(resourceVersion === undefined && initial),
    },
    ...(metadataOnly && { headers: { accept: metadataOnlyObject } }),
  };
}

/** The only form accepted when `metadataOnly` is set, so that spec, status and data never arrive by accident. */
export const metadataOnlyObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

function eventOf(type: ResourceType, line: string, { metadataOnly }: WatchOptions): WatchEvent {
  const { type: kind, object } = parse(line);
  if (kind === "ERROR") throw kubeErrorOfStatus(object);
  if (!isEventType(kind) || !object?.metadata?.resourceVersion) throw new MalformedWatch("Not a watch event");
  const identity = metadataOnly && { apiVersion: apiVersionOf(type), kind: type.kind };
  return { type: kind, object: identity ? { ...object, ...identity } : object };
}

function parse(line: string): { type?: string; object?: KubeObject } {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new MalformedWatch("A line of the watch is not JSON", { cause });
  }
}

const eventTypes: readonly string[] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"];
const isEventType = (type: string | undefined): type is WatchEvent["type"] => eventTypes.includes(type ?? "");
