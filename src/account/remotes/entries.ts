import type { Body, GatewayClient } from "../../gateway/client.ts";
import { isNotFound } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { parentMissing } from "../../objects/errors/change.ts";
import type { Waiting } from "../../objects/reconcile-error.ts";
import type { Answer, EntryLocation } from "../../schema/define.ts";
import { Calls, type CallsOptions, type ListRequest, type RequestOptions } from "../requests/calls.ts";
import type { Collection } from "./collection.ts";
import type { ListDelta } from "./inventory.ts";
import type { CreatableRemotes, Find } from "./remotes.ts";

interface EntriesOptions extends CallsOptions {
  client: GatewayClient;
  location: EntryLocation;
  /** The remotes whose lists contain the entries. */
  parents: Collection;
  /** Called with the entries that other clients have added or removed. */
  onListDelta?: (delta: ListDelta) => void;
}

/**
 * Seconds until a create is tried again when its parent is not in the account. A change of the parent triggers it
 * earlier.
 */
const PARENT_SECONDS = 300;

/** The service has no id for an entry. Here it is the id of the parent, a slash, and the key. */
const split = (id: string): [parent: string, key: string] => {
  const slash = id.indexOf("/");
  return [id.slice(0, slash), id.slice(slash + 1)];
};

/**
 * The entries of lists in other remotes, their parents. They are read from the cached parents, so they cost no list of
 * their own. After an entry was created or deleted, the cached parent is changed accordingly.
 */
export class Entries implements CreatableRemotes {
  readonly #options: EntriesOptions;
  readonly #calls: Calls;
  /** Entries that an object of this operator made, and that stay for others that have not taken them yet. */
  readonly #left = new Set<string>();
  #ownChange = false;

  constructor(options: EntriesOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
    options.parents.onChange((before, after) => this.#notify(before, after));
  }

  async get(id: string, request: RequestOptions): Promise<Remote | undefined> {
    const { parents } = this.#options;
    const [parent] = split(id);
    // The cached list may be out of date.
    if (parents.listedAt !== undefined) await parents.listed(0, request);
    // A parent that is cached without a list comes from the answer to an own request, which is newer than a list would
    // be.
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

  listed(since: number, request: ListRequest): Promise<void> {
    return this.#options.parents.listed(since, request);
  }

  /** One list is enough. If the list lacks an existing entry, a create cannot make it twice: the service refuses it. */
  async search(since: number, find: Find, request: RequestOptions): Promise<Remote | undefined> {
    await this.listed(since, request);
    return find(() => this.allCached());
  }

  markedFor(): Remote[] {
    return [];
  }

  unreadableMarkedFor(): Remote[] {
    return [];
  }

  /** A missing entry says nothing about the account. A missing parent may mean that this is another account. */
  isMissing(id: string): boolean {
    return this.#options.parents.isMissing(split(id)[0]);
  }

  async admit(request: RequestOptions, body: Body): Promise<void> {
    const { parents, location } = this.#options;
    const parent = String(body[location.parentMember]);
    if (!parents.cached(parent)) throw this.#parentMissing(parent);
    await this.#calls.admitChange(request);
  }

  async create(body: Body, request: RequestOptions): Promise<Remote> {
    const { client, parents, location } = this.#options;
    const [parent, key] = [String(body[location.parentMember]), String(body[location.keyMember])];
    try {
      const answer = await this.#calls.changeAdmitted((options) => client.createSource(parent, key, options), request);
      // The entry that was asked for, whatever the answer calls it: one of another name may be somebody else's.
      const entry = { ...answer, [location.keyMember]: key };
      this.#amendParent(parent, key, entry);
      return this.#remoteOf(parent, entry);
    } catch (error) {
      if (!isNotFound(error) || (await parents.read(parent, request))) throw error;
      throw this.#parentMissing(parent, error);
    }
  }

  async delete(id: string, request: RequestOptions): Promise<boolean> {
    const { client } = this.#options;
    const [parent, key] = split(id);
    const existed = await this.#calls.delete((options) => client.deleteSource(parent, key, options), request);
    this.#amendParent(parent, key);
    this.#left.delete(id);
    return existed;
  }

  /** Records that no person made this entry, although no object that made it has it any more. */
  leave(id: string): void {
    this.#left.add(id);
  }

  isLeft = (id: string): boolean => this.#left.has(id);

  forgetLeft(id: string): void {
    this.#left.delete(id);
  }

  #parentMissing(parent: string, cause?: Error): Waiting {
    const { title } = this.#options.parents.resource;
    return parentMissing({ title, parent }, { afterSeconds: PARENT_SECONDS, ...(cause && { cause }) });
  }

  #entryOf(parent: Remote | undefined, id: string): Remote | undefined {
    return parent && this.#entriesOf(parent).find((entry) => entry.id === id);
  }

  #entriesOf(parent: Remote): Remote[] {
    const list = parent[this.#options.location.parent.list];
    return Array.isArray(list) ? list.map((entry) => this.#remoteOf(parent.id, entry)) : [];
  }

  #remoteOf(parent: string, entry: Answer): Remote {
    const { parentMember, keyMember } = this.#options.location;
    return { ...entry, id: `${parent}/${entry[keyMember]}`, [parentMember]: parent };
  }

  /**
   * Records the answer to an own request about one entry in the cached parent. `entry` is undefined when it was
   * deleted.
   */
  #amendParent(parent: string, key: string, entry?: Answer): void {
    const { parents, location } = this.#options;
    const list = parents.cached(parent)?.[location.parent.list];
    const others = (Array.isArray(list) ? list : []).filter((one: Answer) => one[location.keyMember] !== key);
    this.#ownChange = true;
    parents.amend(parent, { [location.parent.list]: entry ? [...others, entry] : others });
    this.#ownChange = false;
  }

  #notify(before: Remote, after: Remote | undefined): void {
    if (this.#ownChange) return;
    const former = new Set(this.#entriesOf(before).map(({ id }) => id));
    const present = new Set(after ? this.#entriesOf(after).map(({ id }) => id) : []);
    const changed = [...present.difference(former)];
    const absent = [...former.difference(present)];
    // Whoever adds the entry again is somebody else.
    for (const id of absent) this.#left.delete(id);
    if (changed.length + absent.length > 0) this.#options.onListDelta?.({ changed, absent });
  }
}
