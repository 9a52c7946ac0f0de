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
import { metadataOnlyObject, type WatchEvent, type WatchOptions, watch } from "./watch.ts";

export interface ClientOptions {
  /** The name of this writer in `managedFields`. */
  fieldManager: string;
  clock?: Clock;
  random?: () => number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Time limit of the call with all its retries; default 30. */
  deadlineSeconds?: number | undefined;
}

export interface CreateOptions extends WriteOptions {
  /** Whether the server stores nothing, as for a review of rights, so that the request may be repeated like a read. */
  repeatable?: true;
}

export interface GetOptions extends CallOptions {
  /** The answer has no spec, status or data. */
  metadataOnly?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  subresource?: "status" | "scale" | undefined;
  /** The server checks the write and answers, but stores nothing. */
  dryRun?: boolean | undefined;
  /** The server refuses fields that the schema does not know, with 400, and does not drop them. */
  isStrict?: boolean | undefined;
}

export interface ListOptions extends CallOptions {
  namespace?: string | undefined;
  limit?: number | undefined;
  continue?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion?: string | undefined;
  /** The items have no spec, status or data. */
  metadataOnly?: boolean | undefined;
}

export interface ListAnswer<T extends KubeObject = KubeObject> {
  items: T[];
  resourceVersion: string;
  /** For the request of the next page; absent on the last. */
  continue?: string;
}

/** The object is deleted if it has this uid and resourceVersion. Otherwise the answer is 409. */
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
 * A merge patch. With `metadata.resourceVersion` it is conditional: 409 when somebody has written since. With
 * `metadata.uid` it is conditional too, with 422, but not at the status subresource: there the API server ignores a
 * wrong uid.
 */
export type MergePatch = { metadata?: { [M in keyof ObjectMeta]?: unknown } } & Record<string, unknown>;

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other field managers; default true. */
  force?: boolean | undefined;
}

const metadataOnlyList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/**
 * Typed calls to the API server. Answers are the server's own JSON; times stay strings.
 *
 * Throws KubeError for an answer of 300 and above, KubeUnreachable when no answer came, and the signal's reason when
 * the caller aborted.
 *
 * Lost connections, and 429 or 503 with Retry-After, are retried within the deadline and with full jitter. That holds
 * only for calls that may be repeated without harm: reads, deletes, updates, applies and conditional merge patches. All
 * others are retried only at 429 with Retry-After: the server has not looked at them then.
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

  /** The verbs that the API server serves for a type now, by discovery, which needs no right. Empty: not served. */
  async verbsOf({ group, version, plural }: ResourceType, options: CallOptions = {}): Promise<string[]> {
    const answer = await this.#send({ method: "GET", path: `/apis/${group}/${version}` }, options, true);
    const { resources = [] } = JSON.parse(answer.body) as { resources?: { name: string; verbs: string[] }[] };
    return resources.find(({ name }) => name === plural)?.verbs ?? [];
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

  /** All pages, as of one resourceVersion. The deadline is that of each page. */
  async listAll<T extends KubeObject = KubeObject>(
    type: ResourceType,
    options: Omit<ListOptions, "continue"> = {},
  ): Promise<ListAnswer<T>> {
    try {
      return await this.#pages(type, { limit: 500, ...options });
    } catch (error) {
      // the list expired between two pages: list again, without pages
      if (!isGone(error)) throw error;
      return this.#pages(type, { ...options, limit: undefined });
    }
  }

  /** The stream of changes; see `watch`. */
  watch(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent[]> {
    return watch(this.#transport, this.#clock, type, options);
  }

  /** An object without a name may have `metadata.generateName`. */
  async create<T extends KubeObject = KubeObject>(
    type: ResourceType,
    object: T,
    options: CreateOptions = {},
  ): Promise<T> {
    const path = pathOf(type, { namespace: object.metadata.namespace });
    const { repeatable = false } = options;
    return this.#object({ method: "POST", path, ...this.#write(object, options) }, options, repeatable);
  }

  /** Replaces the object, if it has `metadata.resourceVersion` only while it still has that one. */
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

  /** A failed `test` is answered with 422. */
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
   * Replaces the whole status, which nobody else writes. Rejects with 422 when the status is no longer that of
   * `object`: otherwise a late write of a dead process could undo what its successor has written.
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
      // Another version of the CRD may show the same stored status differently, for example with a new default. So the
      // test compares resourceVersions instead.
      return replace("/metadata/resourceVersion", metadata.resourceVersion);
    }
  }

  /** Server-side apply. Creates an absent object; if the given one has a uid, the answer is 409 instead. */
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

  /** Resolves with the last state of the object or, when finalizers keep it, with its present state. */
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

  #write(body: unknown, { dryRun, isStrict }: WriteOptions, contentType = "application/json") {
    const fieldValidation = isStrict ? "Strict" : undefined;
    return {
      headers: { "content-type": contentType },
      query: { fieldManager: this.#options.fieldManager, dryRun: dryRun ? "All" : undefined, fieldValidation },
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
      const random = this.#options.random ?? Math.random;
      return await withRetries(attempt, { clock: this.#clock, random, signal, repeatable });
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

/** Adds kind and apiVersion to the items: in lists of built-in types they are missing. */
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
