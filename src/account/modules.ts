import type { Body, GatewayClient } from "../gateway/client.ts";
import { isNotFound, isOutcomeUnknown } from "../gateway/errors.ts";
import type { Module, ModuleOwner, Remote } from "../gateway/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Answer, ModulesLocation } from "../schema/define.ts";
import { Calls, type CallsOptions, type RequestOptions, withoutSecrets } from "./calls.ts";
import type { UpdatableRemotes } from "./remotes.ts";

export interface ModulesOptions extends CallsOptions {
  client: GatewayClient;
  location: ModulesLocation;
  modules: Readonly<Record<string, Module>>;
  clock: Clock;
  /** How long an answer is believed, in milliseconds: no list shows what others change. */
  believedMs: number;
  /** Told when a module may have been set, or may be later, without an answer that says so. */
  onUnansweredChange: () => void;
}

/** Objects look once in the time for which an answer is believed. */
const FORGOTTEN = 4;

interface Seen {
  /** Null: not set. */
  value: Answer | null;
  at: number;
}

/**
 * Modules of things that are made elsewhere. The service shows nothing of such a thing but its modules, one by one, so
 * a row has those that somebody was interested in, and exists as long as nothing says otherwise.
 */
export class Modules implements UpdatableRemotes {
  readonly #options: ModulesOptions;
  readonly #calls: Calls;
  readonly #seen = new Map<string, Map<string, Seen>>();

  constructor(options: ModulesOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
  }

  get(id: string, request: RequestOptions, members: readonly string[] = []): Promise<Remote> {
    const { clock, believedMs } = this.#options;
    const isOld = (member: string) => {
      const seen = this.#seen.get(id)?.get(member);
      return seen === undefined || clock.now() - seen.at >= believedMs;
    };
    return this.read(id, request, members.filter(isOld));
  }

  async read(id: string, request: RequestOptions, members: readonly string[] = []): Promise<Remote> {
    for (const member of members) this.#keep(id, member, await this.#readModule(id, member, request));
    return this.#remoteOf(id);
  }

  cached(id: string): Remote | undefined {
    return this.#seen.has(id) ? this.#remoteOf(id) : undefined;
  }

  allCached(): Remote[] {
    return [...this.#seen.keys()].map((id) => this.#remoteOf(id));
  }

  async listed(): Promise<void> {}

  ownedBy(): Remote[] {
    return [];
  }

  isMissing(): boolean {
    return false;
  }

  /** One request for each module, in the order of the body. Rejects with 404 when there is nothing to set it on. */
  async update(id: string, body: Body, request: RequestOptions): Promise<Remote> {
    for (const [member, value] of Object.entries(body)) {
      this.#keep(id, member, await this.#put(id, member, value as Body, request));
    }
    return this.#remoteOf(id);
  }

  async deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<void> {
    const owner = this.#ownerOf(id);
    await this.#calls.delete((options) => this.#options.client.deleteModule(module, owner, options), request);
    this.#keep(id, member, null);
  }

  async #put(id: string, member: string, body: Body, request: RequestOptions): Promise<Answer> {
    const { client, onUnansweredChange } = this.#options;
    const module = this.#moduleOf(member);
    try {
      return await this.#calls.change((options) => client.putModule(module, this.#ownerOf(id), body, options), request);
    } catch (error) {
      if (isOutcomeUnknown(error)) onUnansweredChange();
      throw error;
    }
  }

  /** Null where it is not set. Services say so with 404 or null; 404 also where there is nothing that could have one. */
  async #readModule(id: string, member: string, request: RequestOptions): Promise<Answer | null> {
    const module = this.#moduleOf(member);
    const owner = this.#ownerOf(id);
    try {
      return await this.#calls.read((options) => this.#options.client.getModule(module, owner, options), request);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return null;
    }
  }

  #keep(id: string, member: string, answer: Answer | null): void {
    const value = withoutSecrets(answer, this.#moduleOf(member).secrets) as Answer | null;
    const seen = this.#seen.get(id) ?? this.#begin(id);
    seen.set(member, { value, at: this.#options.clock.now() });
  }

  /** What nobody has looked at for long goes: no list tells that its object is gone. */
  #begin(id: string): Map<string, Seen> {
    const { clock, believedMs } = this.#options;
    const isOld = ({ at }: Seen) => clock.now() - at > FORGOTTEN * believedMs;
    for (const [other, members] of this.#seen) if ([...members.values()].every(isOld)) this.#seen.delete(other);
    const begun = new Map<string, Seen>();
    this.#seen.set(id, begun);
    return begun;
  }

  #remoteOf(id: string): Remote {
    const seen = [...(this.#seen.get(id) ?? [])].map(([member, { value }]) => [member, value]);
    return { ...Object.fromEntries(seen), id };
  }

  #moduleOf(member: string): Module {
    const module = this.#options.modules[member];
    if (!module) throw new TypeError(`no module ${member}`);
    return module;
  }

  #ownerOf(id: string): ModuleOwner {
    const parts = id.split("/");
    return Object.fromEntries(this.#options.location.pathIDs.map((name, index) => [name, parts[index]])) as never;
  }
}
