import type { Body, CallOptions, GatewayClient } from "../../gateway/client.ts";
import { isNotFound, mayBeCarriedOut } from "../../gateway/errors.ts";
import { moduleOwnerOf } from "../../gateway/path.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Answer } from "../../schema/define.ts";
import { isUnset } from "../../schema/wire/compare.ts";
import { Calls, type CallsOptions, isConfidential, type RequestOptions, withoutSecrets } from "../requests/calls.ts";
import { type ListRoom, type Reading, sizeOf } from "../requests/list-room.ts";
import type { Find, UpdatableRemotes } from "./remotes.ts";

export interface ModulesOptions extends CallsOptions {
  client: GatewayClient;
  /** The title of the remotes. */
  title: string;
  modules: Readonly<Record<string, Module>>;
  clock: Clock;
  /** Aborted when the account is no longer used. */
  signal: AbortSignal;
  room: ListRoom;
  /**
   * How long an answer counts, in milliseconds. No list shows changes by other clients, so a module is read again after
   * this.
   */
  maxAgeMs: number;
}

/**
 * An answer is dropped after this many times `maxAgeMs`. An object that still exists would have read the module again
 * by then.
 */
const DROPPED_AFTER = 4;

interface SeenModule {
  /** Null: the module is not set. */
  value: Answer | null;
  /** When the request began whose answer showed the module; for an own write, when it ended. */
  at: number;
}

/**
 * Modules of remotes that other clients create. The service shows only the modules of such a remote, one by one. So a
 * remote here has the modules that were asked for, and always seems to exist.
 */
export class Modules implements UpdatableRemotes {
  readonly #options: ModulesOptions;
  readonly #calls: Calls;
  readonly #seen = new Map<string, Map<string, SeenModule>>();

  constructor(options: ModulesOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
    options.signal.addEventListener("abort", () => options.room.release(this), { once: true });
  }

  get(id: string, request: RequestOptions, members: readonly string[] = []): Promise<Remote> {
    const { clock, maxAgeMs } = this.#options;
    return this.#get(id, request, members, (at) => clock.now() - at < maxAgeMs);
  }

  /** Like `get`, but cached modules from before `since` (monotonic milliseconds) do not count. */
  getSince(id: string, since: number, request: RequestOptions, members: readonly string[]): Promise<Remote> {
    return this.#get(id, request, members, (at) => at >= since);
  }

  async read(id: string, request: RequestOptions, members: readonly string[] = []): Promise<Remote> {
    this.#dropStale(id);
    for (const member of members) {
      const { value, at } = await this.#readModule(id, member, request);
      this.#record(id, member, value, at);
    }
    return this.#remoteOf(id);
  }

  cached(id: string): Remote | undefined {
    return this.#seen.has(id) ? this.#remoteOf(id) : undefined;
  }

  allCached(): Remote[] {
    return [...this.#seen.keys()].map((id) => this.#remoteOf(id));
  }

  async listed(): Promise<void> {}

  async search(_since: number, find: Find): Promise<Remote | undefined> {
    return find(() => this.allCached());
  }

  markedFor(): Remote[] {
    return [];
  }

  unreadableMarkedFor(): Remote[] {
    return [];
  }

  isMissing(): boolean {
    return false;
  }

  /** Sends one request for each module, in the order of the body. Rejects with 404 when the remote does not exist. */
  async update(id: string, body: Body, request: RequestOptions): Promise<Remote> {
    for (const [member, value] of Object.entries(body)) {
      this.#record(id, member, await this.#put(id, member, value as Body, request));
    }
    return this.#remoteOf(id);
  }

  async deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<boolean> {
    const done = await this.#calls.delete(
      (options) => this.#options.client.deleteModule(module, moduleOwnerOf(module, id), options),
      request,
    );
    this.#record(id, member, null);
    return done;
  }

  #get(id: string, request: RequestOptions, members: readonly string[], counts: (at: number) => boolean) {
    const isStale = (member: string) => {
      const at = this.#seen.get(id)?.get(member)?.at;
      return at === undefined || !counts(at);
    };
    return this.read(id, request, members.filter(isStale));
  }

  async #put(id: string, member: string, body: Body, request: RequestOptions): Promise<Answer> {
    const { client } = this.#options;
    const module = this.#moduleOf(member);
    const confidential = isConfidential([member], request);
    try {
      return await this.#calls.change(
        (options) => client.putModule(module, moduleOwnerOf(module, id), body, { ...options, confidential }),
        request,
      );
    } catch (error) {
      if (mayBeCarriedOut(error)) this.#forget(id, member);
      throw error;
    }
  }

  /**
   * Null when the module is not set. Services then answer null or 404, and 404 also when the remote does not exist.
   * Under the key of another account no module is set, so null counts only when the key is proved.
   */
  async #readModule(id: string, member: string, request: RequestOptions): Promise<SeenModule> {
    const { client, clock, keyProof } = this.#options;
    const module = this.#moduleOf(member);
    let at = clock.now();
    const read = async (reading: Reading) => {
      const send = (options: CallOptions) => {
        at = clock.now();
        return client.getModule(module, moduleOwnerOf(module, id), { ...options, onAnswer: reading.onAnswer });
      };
      const value = await this.#calls.read(send, request).catch(nullIfNotFound);
      // Some service may answer with an empty module for a remote that it does not have.
      if (!isUnset(value)) keyProof.recordSeenIDs([id]);
      if (value === null) await this.#calls.waitFor(keyProof.ensure(), request);
      reading.add(value);
      return value;
    };
    const value = await this.#options.room.read(this, this.#what, read, pieceOf(id, member));
    return { value, at };
  }

  #record(id: string, member: string, answer: Answer | null, at = this.#options.clock.now()): void {
    const value = withoutSecrets(answer, this.#moduleOf(member).secrets);
    const seen = this.#seen.get(id) ?? new Map<string, SeenModule>();
    this.#seen.set(id, seen);
    const known = seen.get(member);
    // Another reconcile may have set or read the module later.
    const latest = !known || known.at <= at ? { value, at } : known;
    seen.set(member, latest);
    if (!this.#options.signal.aborted) this.#options.room.keep(this, pieceOf(id, member), sizeOf(latest.value));
  }

  /** Makes room for this remote. Drops those that nobody has read for long, since no list shows when one is gone. */
  #dropStale(id: string): void {
    const { clock, maxAgeMs } = this.#options;
    const isStale = ({ at }: SeenModule) => clock.now() - at > DROPPED_AFTER * maxAgeMs;
    for (const [other, members] of this.#seen) {
      if (other === id || ![...members.values()].every(isStale)) continue;
      for (const member of members.keys()) this.#forget(other, member);
      this.#seen.delete(other);
    }
  }

  #forget(id: string, member: string): void {
    this.#seen.get(id)?.delete(member);
    this.#options.room.drop(this, pieceOf(id, member));
  }

  #remoteOf(id: string): Remote {
    const seen = [...(this.#seen.get(id) ?? [])].map(([member, { value }]) => [member, value]);
    return { ...Object.fromEntries(seen), id };
  }

  get #what(): string {
    return `the modules of each ${this.#options.title}`;
  }

  #moduleOf(member: string): Module {
    const module = this.#options.modules[member];
    if (!module) throw new TypeError(`no module ${member}`);
    return module;
  }
}

const pieceOf = (id: string, member: string): string => `${id} ${member}`;

/** Reads one module to prove the key. The answer reaches no cache. */
export async function proveKeyByModule(
  module: Module,
  id: string,
  options: CallsOptions & Pick<ModulesOptions, "client"> & { room: ListRoom },
  request: RequestOptions,
): Promise<void> {
  const { client, keyProof, room } = options;
  const value = await room.readOnce(`the ${module.title}`, ({ onAnswer }) => {
    const send = (call: CallOptions) => client.getModule(module, moduleOwnerOf(module, id), { ...call, onAnswer });
    return new Calls(options).read(send, request).catch(nullIfNotFound);
  });
  if (!isUnset(value)) keyProof.recordSeenIDs([id]);
}

function nullIfNotFound(error: unknown): null {
  if (!isNotFound(error)) throw error;
  return null;
}
