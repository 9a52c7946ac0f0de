import type { Body, GatewayClient } from "../gateway/client.ts";
import { isNotFound } from "../gateway/errors.ts";
import type { Remote } from "../gateway/resource.ts";
import { Waiting } from "../objects/reconcile-error.ts";
import type { Answer, EntryLocation } from "../schema/define.ts";
import { Calls, type CallsOptions, type RequestOptions } from "./calls.ts";
import type { Collection } from "./collection.ts";
import type { ListDelta } from "./inventory.ts";
import type { CreatableRemotes } from "./remotes.ts";

export interface EntriesOptions extends CallsOptions {
  client: GatewayClient;
  location: EntryLocation;
  /** The resources whose lists have the entries. */
  parents: Collection;
  /** Told of entries that others have put in or taken out. */
  onListDelta?: (delta: ListDelta) => void;
}

/** How soon an entry is tried again whose parent is not in the account, if nothing tells before. */
const PARENT_SECONDS = 300;

/** The id of an entry, which the service has none for: that of its parent, a slash and its key. */
const split = (id: string): [parent: string, key: string] => {
  const slash = id.indexOf("/");
  return [id.slice(0, slash), id.slice(slash + 1)];
};

/**
 * Entries of lists on other resources, read out of what is known of those: they cost no list of their own.
 * What is known of a parent is kept in step with what is sent about its entries.
 */
export class Entries implements CreatableRemotes {
  readonly #options: EntriesOptions;
  readonly #calls: Calls;
  #ownChange = false;

  constructor(options: EntriesOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
    options.parents.onChange((before, after) => this.#notify(before, after));
  }

  async get(id: string, request: RequestOptions): Promise<Remote | undefined> {
    const { parents } = this.#options;
    const [parent] = split(id);
    // what is cached without a list comes from own answers, which are newer than a list would be
    return this.#entryOf(parents.cached(parent) ?? (await parents.get(parent, request)), id);
  }

  async read(id: string, request: RequestOptions): Promise<Remote | undefined> {
    return this.#entryOf(await this.#options.parents.read(split(id)[0], request), id);
  }

  cached(id: string): Remote | undefined {
    return this.#entryOf(this.#options.parents.cached(split(id)[0]), id);
  }

  allCached(): Remote[] {
    return this.#options.parents.allCached().flatMap((parent) => this.#entriesOf(parent));
  }

  listed(since: number, lane: RequestOptions["lane"]): Promise<void> {
    return this.#options.parents.listed(since, lane);
  }

  ownedBy(): Remote[] {
    return [];
  }

  /** An entry that is not there says nothing about the account; a parent does. */
  isMissing(id: string): boolean {
    return this.#options.parents.isMissing(split(id)[0]);
  }

  async admit(request: RequestOptions, body: Body): Promise<void> {
    const { parents, location } = this.#options;
    const parent = String(body[location.parentMember]);
    if (!parents.cached(parent)) throw this.#parentMissing(parent);
    await this.#calls.admit(request);
  }

  async create(body: Body, request: RequestOptions): Promise<Remote> {
    const { client, parents, location } = this.#options;
    const [parent, key] = [String(body[location.parentMember]), String(body[location.key])];
    try {
      const entry = await this.#calls.changeAdmitted(
        (options) => client[location.add](parent, key, options),
        request.signal,
      );
      this.#replace(parent, key, entry);
      return this.#rowOf(parent, entry);
    } catch (error) {
      if (!isNotFound(error) || (await parents.read(parent, request))) throw error;
      throw this.#parentMissing(parent, error);
    }
  }

  async delete(id: string, request: RequestOptions): Promise<boolean> {
    const { client, location } = this.#options;
    const [parent, key] = split(id);
    const was = await this.#calls.delete((options) => client[location.remove](parent, key, options), request);
    this.#replace(parent, key);
    return was;
  }

  #parentMissing(parent: string, cause?: Error): Waiting {
    const { title } = this.#options.parents.resource;
    const message = `Create the ${title} ${parent} in the account, or delete this object: it is not there`;
    return new Waiting("ReferenceNotReady", message, { afterSeconds: PARENT_SECONDS, ...(cause && { cause }) });
  }

  #entryOf(parent: Remote | undefined, id: string): Remote | undefined {
    return parent && this.#entriesOf(parent).find((entry) => entry.id === id);
  }

  #entriesOf(row: Remote): Remote[] {
    const list = row[this.#options.location.parent.list];
    return Array.isArray(list) ? list.map((entry) => this.#rowOf(row.id, entry)) : [];
  }

  #rowOf(parent: string, entry: Answer): Remote {
    const { parentMember, key } = this.#options.location;
    return { ...entry, id: `${parent}/${entry[key]}`, [parentMember]: parent };
  }

  /** An own answer about one entry, in what is known of its parent. */
  #replace(parent: string, key: string, entry?: Answer): void {
    const { parents, location } = this.#options;
    const row = parents.cached(parent);
    if (!row) return;
    const list = row[location.parent.list];
    const others = (Array.isArray(list) ? list : []).filter((one: Answer) => one[location.key] !== key);
    this.#ownChange = true;
    parents.amend(parent, { [location.parent.list]: entry ? [...others, entry] : others });
    this.#ownChange = false;
  }

  #notify(before: Remote, after: Remote | undefined): void {
    if (this.#ownChange) return;
    const was = this.#entriesOf(before).map(({ id }) => id);
    const is = after ? this.#entriesOf(after).map(({ id }) => id) : [];
    const changed = is.filter((id) => !was.includes(id));
    const absent = was.filter((id) => !is.includes(id));
    if (changed.length + absent.length > 0) this.#options.onListDelta?.({ changed, absent });
  }
}
