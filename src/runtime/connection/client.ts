import { type Clock, systemClock } from "../clock.ts";
import { Deadline, TimedOut } from "../deadline.ts";
import {
  apiVersionOf,
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
  pathOf,
  type ResourceType,
} from "../object.ts";
import { isFailedTest, isGone, KubeUnreachable, kubeErrorOf } from "./errors.ts";
import { withRetries } from "./retry.ts";
import type { Answer, Exchange, Transport } from "./transport.ts";
import { type WatchEvent, type WatchOptions, watch } from "./watch.ts";

export interface ClientOptions {
  /** Names who wrote a field, in `managedFields`. */
  fieldManager: string;
  clock?: Clock;
  random?: () => number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For the call with all its retries; default 30. */
  deadlineSeconds?: number | undefined;
}

export interface GetOptions extends CallOptions {
  /** Leaves spec, status and data on the server. */
  metadataOnly?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  subresource?: "status" | "scale" | undefined;
  /** The server checks and answers, but stores nothing. */
  dryRun?: boolean | undefined;
}

export interface ListOptions extends CallOptions {
  namespace?: string | undefined;
  limit?: number | undefined;
  continue?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion?: string | undefined;
  /** Leaves spec, status and data on the server. */
  metadataOnly?: boolean | undefined;
}

export interface ListAnswer<T extends KubeObject = KubeObject> {
  items: T[];
  resourceVersion: string;
  /** for the next page; absent on the last */
  continue?: string;
}

/** Conditions under which a delete is carried out; otherwise 409. */
export interface DeleteOptions extends WriteOptions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined;
}

export interface PatchOperation {
  op: "add" | "remove" | "replace" | "test" | "move" | "copy";
  path: string;
  value?: unknown;
  from?: string;
}

/**
 * A merge patch. `metadata.resourceVersion` in it makes it conditional: 409 when somebody has written since.
 * `metadata.uid` does so for the main resource only, with 422; to the status subresource the API server takes a
 * wrong uid without a word.
 */
export type MergePatch = { metadata?: { [M in keyof ObjectMeta]?: unknown } } & Record<string, unknown>;

export interface ApplyOptions extends WriteOptions {
  /** Take over fields that others own; default true. */
  force?: boolean | undefined;
}

/** Objects without spec, status and data; no other form is accepted, so that none of these arrive by accident. */
const metadataOnlyObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
export const metadataOnlyList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/**
 * Typed calls to the API server. Answers are the server's own JSON, times stay strings.
 *
 * Throws KubeError for an answer of 300 and above, KubeUnreachable when no answer came, and the signal's
 * reason when the caller aborted. Retries, within the deadline and with full jitter: lost connections, and
 * 429 or 503 with Retry-After, and only where a repetition does no harm: reads, deletes, updates, applies,
 * and merge patches that are conditional.
 */
export class KubeClient {
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #clock: Clock;

  constructor(transport: Transport, options: ClientOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async get<T extends KubeObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: GetOptions = {},
  ): Promise<T> {
    const headers = options.metadataOnly ? { headers: { accept: metadataOnlyObject } } : {};
    return this.#object({ method: "GET", path: pathOf(type, ref), ...headers }, options, true);
  }

  /** One page. */
  async list<T extends KubeObject = KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<ListAnswer<T>> {
    const { namespace, limit, labelSelector, fieldSelector, resourceVersion, metadataOnly } = options;
    const answer = await this.#send(
      {
        method: "GET",
        path: pathOf(type, { namespace }),
        query: { limit, continue: options.continue, labelSelector, fieldSelector, resourceVersion },
        ...(metadataOnly && { headers: { accept: metadataOnlyList } }),
      },
      options,
      true,
    );
    return listOf(type, JSON.parse(answer.body));
  }

  /** All pages, as they were at one resourceVersion. The deadline counts for each page. */
  async listAll<T extends KubeObject = KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, "continue"> = {},
  ): Promise<ListAnswer<T>> {
    try {
      return await this.#pages(type, { limit: 500, ...options });
    } catch (error) {
      // it grew too old between two pages: once more, in one piece
      if (!isGone(error)) throw error;
      return this.#pages(type, { ...options, limit: undefined });
    }
  }

  /** The stream of changes; see `watch`. */
  watch(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent[]> {
    return watch(this.#transport, this.#clock, type, options);
  }

  /** An unnamed object may carry `metadata.generateName`. */
  async create<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = pathOf(type, { namespace: object.metadata.namespace });
    return this.#object({ method: "POST", path, ...this.#write(object, options) }, options, false);
  }

  /** Replaces the object; `metadata.resourceVersion` in it makes that conditional. */
  async update<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = pathOf(type, object.metadata, options.subresource);
    return this.#object({ method: "PUT", path, ...this.#write(object, options) }, options, true);
  }

  async patchMerge<T extends KubeObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: MergePatch,
    options: WriteOptions = {},
  ): Promise<T> {
    const { resourceVersion, uid } = patch.metadata ?? {};
    const guarded = Boolean(resourceVersion || (uid && !options.subresource));
    const path = pathOf(type, ref, options.subresource);
    const write = this.#write(patch, options, "application/merge-patch+json");
    return this.#object({ method: "PATCH", path, ...write }, options, guarded);
  }

  /** Never retried. A failed `test` is answered with 422. */
  async patchJSON<T extends KubeObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    operations: readonly PatchOperation[],
    options: WriteOptions = {},
  ): Promise<T> {
    const path = pathOf(type, ref, options.subresource);
    const write = this.#write(operations, options, "application/json-patch+json");
    return this.#object({ method: "PATCH", path, ...write }, options, false);
  }

  /**
   * The whole status, which nobody else writes; refused with 422 where it is another by now than `object` has. Without
   * that, the write of a process that is gone could arrive late and undo what its successor wrote.
   */
  async replaceStatus<T extends KubeObject & { status?: unknown }>(
    type: ResourceType,
    { metadata, status: before }: T,
    status: object,
  ): Promise<T> {
    const replace = (path: string, value: unknown) =>
      this.patchJSON<T>(
        type,
        metadata,
        [
          { op: "test", path: "/metadata/uid", value: metadata.uid },
          { op: "test", path, value },
          { op: "add", path: "/status", value: status },
        ],
        { subresource: "status" },
      );
    try {
      return await replace("/status", before ?? null);
    } catch (error) {
      if (!isFailedTest(error)) throw error;
      // what was read by another version of the definition may look different now, without a change of the object
      return replace("/metadata/resourceVersion", metadata.resourceVersion);
    }
  }

  /** Server-side apply. Creates the object when it is absent, unless it carries a uid, which then is a 409. */
  async apply<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: ApplyOptions = {},
  ): Promise<T> {
    const path = pathOf(type, object.metadata, options.subresource);
    const write = this.#write(object, options, "application/apply-patch+yaml");
    const query = { ...write.query, force: options.force ?? true };
    return this.#object({ method: "PATCH", path, ...write, query }, options, true);
  }

  /** The object as it was when it went away or, when finalizers hold it, as it is now. */
  async delete(type: ResourceType, ref: ObjectRef, options: DeleteOptions = {}): Promise<KubeObject> {
    const { uid, resourceVersion, propagationPolicy, dryRun } = options;
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      ...((uid || resourceVersion) && { preconditions: { uid, resourceVersion } }),
      ...(propagationPolicy && { propagationPolicy }),
    };
    const write = this.#write(body, { dryRun });
    return this.#object(
      {
        method: "DELETE",
        path: pathOf(type, ref),
        headers: write.headers,
        body: write.body,
        query: { dryRun: write.query.dryRun },
      },
      options,
      true,
    );
  }

  async #pages<T extends KubeObject>(type: ResourceType, options: ListOptions): Promise<ListAnswer<T>> {
    const { items, resourceVersion, ...first } = await this.list<T>(type, options);
    for (let next = first.continue; next; ) {
      const page: ListAnswer<T> = await this.list(type, { ...options, continue: next });
      for (const item of page.items) items.push(item);
      next = page.continue;
    }
    return { items, resourceVersion };
  }

  #write(body: unknown, { dryRun }: WriteOptions, contentType = "application/json") {
    return {
      headers: { "content-type": contentType },
      query: { fieldManager: this.#options.fieldManager, dryRun: dryRun ? "All" : undefined },
      body: JSON.stringify(body),
    };
  }

  async #object<T extends KubeObject = KubeObject>(
    exchange: Exchange,
    options: CallOptions,
    repeatable: boolean,
  ): Promise<T> {
    return JSON.parse((await this.#send(exchange, options, repeatable)).body);
  }

  async #send(exchange: Exchange, options: CallOptions, repeatable: boolean): Promise<Answer> {
    using deadline = new Deadline(this.#clock, (options.deadlineSeconds ?? 30) * 1000, options.signal);
    const { signal } = deadline;
    const attempt = async () => {
      const answer = await this.#transport.request({ ...exchange, signal });
      if (answer.status >= 300) throw kubeErrorOf(answer.status, answer.body, answer.retryAfter);
      return answer;
    };
    try {
      if (!repeatable) return await attempt();
      return await withRetries(attempt, { clock: this.#clock, random: this.#options.random ?? Math.random, signal });
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error;
      throw new KubeUnreachable("ETIMEDOUT", `${exchange.method} ${exchange.path}: ${error.message}`, { cause: error });
    }
  }
}

interface RawList<T> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: T[] | null;
}

/** Items of a list carry neither kind nor apiVersion for built-in types. */
export function listOf<T extends KubeObject = KubeObject>(
  type: ResourceType,
  { metadata = {}, items }: RawList<T>,
): ListAnswer<T> {
  const identity = { apiVersion: apiVersionOf(type), kind: type.kind };
  return {
    items: (items ?? []).map((item) => ({ ...item, ...identity })),
    resourceVersion: metadata.resourceVersion ?? "",
    ...(metadata.continue && { continue: metadata.continue }),
  };
}
