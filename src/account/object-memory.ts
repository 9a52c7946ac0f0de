import { LRUCache } from "lru-cache";
import { maxProcessingMs } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";
import { digestOf } from "./key-proof.ts";
import { ObjectRecord } from "./object-record.ts";

const MOST_TOKENS = 1000;
const MOST_LEFT = 1000;

interface ObjectMemoryOptions {
  clock: Clock;
  /** The deadline of one request, in milliseconds. */
  deadlineMs: number;
  /** See ObjectRecord. Default true. */
  retriesRefused?: boolean;
}

/** What this process remembers: a record of each object, which ends with the object's work, and facts about remotes. */
export class ObjectMemory {
  /** See ObjectRecord. */
  readonly retriesRefused: boolean;
  readonly #options: ObjectMemoryOptions;
  readonly #records = new Map<string, ObjectRecord>();
  /** Since when this process reconciles objects: requests of a process that led before began earlier. */
  #beganAt: number | undefined;
  /** Digests of tokens that the service has shown once, by the ids of their remotes. */
  readonly #tokens = new LRUCache<string, string>({ max: MOST_TOKENS });
  /** Modules that an object had set first and left to another one, by the id of the remote and the field of the spec. */
  readonly #leftModules = new LRUCache<string, true>({ max: MOST_LEFT });

  constructor(options: ObjectMemoryOptions) {
    this.#options = options;
    this.retriesRefused = options.retriesRefused ?? true;
  }

  /** The record of an object. Take it when its reconcile begins, so that nothing is recorded for an object that ended. */
  of({ metadata: { uid } }: ManagedObject): ObjectRecord {
    this.#beganAt ??= this.#options.clock.now();
    return this.known(uid) ?? this.#begin(uid, this.#beganAt);
  }

  /** Undefined: this process remembers nothing of the object. */
  known(uid: string): ObjectRecord | undefined {
    return this.#records.get(uid);
  }

  /** Call it when the object passes from another installation to this one, whose last requests may be under way. */
  take(uid: string): void {
    // A process on standby remembers nothing: once it leads, every object waits from its first reconcile.
    if (this.#beganAt === undefined) return;
    this.end(uid);
    this.#begin(uid, this.#options.clock.now());
  }

  /** Call it when the object's work has ended. The object may be gone long before, or have nothing left to do. */
  end(uid: string): void {
    const record = this.#records.get(uid);
    if (!record) return;
    record.end();
    this.#records.delete(uid);
    // An object that is restored has another uid, and what was sent for the former one may still be carried out.
    this.#beganAt = Math.max(this.#beganAt ?? 0, record.settledAt - maxProcessingMs(this.#options.deadlineMs));
  }

  #begin(uid: string, since: number): ObjectRecord {
    const record = new ObjectRecord({ ...this.#options, retriesRefused: this.retriesRefused, since });
    this.#records.set(uid, record);
    return record;
  }

  /** Records the token that the Secret of this remote holds. Only its digest is kept, which is returned. */
  recordToken(id: string, token: string): string {
    const digest = digestOf(token);
    this.#tokens.set(id, digest);
    return digest;
  }

  tokenDigestOf(id: string): string | undefined {
    return this.#tokens.get(id);
  }

  /** Records that the object that set these modules first is going, and that another object wants them. */
  leaveModules(id: string, fields: readonly string[]): void {
    for (const field of fields) this.#leftModules.set(`${id} ${field}`, true);
  }

  isLeftModule = (id: string, field: string): boolean => this.#leftModules.has(`${id} ${field}`);

  forgetLeftModules(id: string, fields: readonly string[]): void {
    for (const field of fields) this.#leftModules.delete(`${id} ${field}`);
  }
}
