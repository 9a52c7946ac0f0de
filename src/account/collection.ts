import type { Body, CallOptions, GatewayClient, Page } from "../gateway/client.ts";
import { isNotFound } from "../gateway/errors.ts";
import type { Module, Remote, Resource } from "../gateway/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Answer } from "../schema/define.ts";
import { Calls, type CallsOptions, type RequestOptions, withoutSecrets } from "./calls.ts";
import { Inventory, type ListDelta, type RemoteChangeListener } from "./inventory.ts";
import type { CreatableRemotes, UpdatableRemotes } from "./remotes.ts";
import type { Lane } from "./request-budget.ts";

/** Rows that a page of a list usually has. */
const USUAL_PAGE = 100;

export interface CollectionOptions extends CallsOptions {
  client: GatewayClient;
  resource: Resource;
  clock: Clock;
  /** Ends the lists under way: they are shared, so no single reconcile may end them. */
  signal: AbortSignal;
  /** Told what each list changed. */
  onListDelta?: (delta: ListDelta) => void;
}

/**
 * One resource of one account: calls within the budget, with every answer folded into the inventory.
 * Rejects with GatewayError, or with the reason of the signal.
 */
export class Collection implements CreatableRemotes, UpdatableRemotes {
  readonly resource: Resource;
  readonly #options: CollectionOptions;
  readonly #calls: Calls;
  readonly #inventory = new Inventory();
  #hadUnreadable = false;
  #listing: { startedAt: number; done: Promise<void> } | undefined;

  constructor(options: CollectionOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#calls = new Calls(options);
  }

  /** When the latest complete list began, in monotonic milliseconds. */
  get listedAt(): number | undefined {
    return this.#inventory.listedAt;
  }

  /** Whether the latest complete list had rows that could not be read, so that it does not tell what is gone. */
  get hadUnreadable(): boolean {
    return this.#hadUnreadable;
  }

  async get(id: string, request: RequestOptions): Promise<Remote | undefined> {
    if (this.listedAt === undefined) await this.listed(0, request.lane);
    return this.cached(id) ?? this.read(id, request);
  }

  /** Undefined after a 404 alone: that a list does not have a remote is only a hint. */
  async read(id: string, request: RequestOptions): Promise<Remote | undefined> {
    const startedAt = this.#now();
    try {
      const row = await this.#calls.read((options) => this.#options.client.get(this.resource, id, options), request);
      const kept = this.#kept(row);
      this.#inventory.recordRead(kept, startedAt);
      // something newer may be known by now; but only a 404 means gone
      return this.cached(id) ?? kept;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#inventory.recordGone(id, this.#now());
      return undefined;
    }
  }

  /**
   * Like `get`, but what is known from before `since` (monotonic milliseconds) does not do. `alike`: how many remotes
   * the callers ask for like this. Where they are many, one list takes fewer requests than a GET for each.
   */
  async getSince(id: string, since: number, alike: number, request: RequestOptions): Promise<Remote | undefined> {
    const seenAt = this.#inventory.seenAt(id);
    if (seenAt !== undefined && seenAt >= since) return this.cached(id);
    const pages = Math.ceil(this.#inventory.size / USUAL_PAGE);
    if (alike < pages) return this.read(id, request);
    await this.listed(since, request.lane);
    return this.get(id, request);
  }

  /**
   * Resolves when what is cached is of a list that began at `since` (monotonic milliseconds) or later, and after
   * anything was found to be out of date. Lists under way are shared.
   */
  async listed(since: number, lane: Lane): Promise<void> {
    const from = Math.max(since, this.#inventory.listInvalidatedAt);
    while (this.listedAt === undefined || this.listedAt < from) {
      // one that began too early says nothing, whether it fails or not
      if (this.#listing && this.#listing.startedAt < from) await Promise.allSettled([this.#listing.done]);
      this.#listing ??= this.#list(lane);
      await this.#listing.done;
    }
  }

  create(body: Body, { signal }: RequestOptions): Promise<Remote> {
    return this.#fold(
      this.#calls.changeAdmitted((options) => this.#options.client.create(this.resource, body, options), signal),
    );
  }

  admit(request: RequestOptions): Promise<void> {
    return this.#calls.admit(request);
  }

  update(id: string, body: Body, request: RequestOptions): Promise<Remote> {
    return this.#fold(
      this.#calls.change((options) => this.#options.client.update(this.resource, id, body, options), request),
    );
  }

  /** One request that changes nothing: whether the service answers and accepts the key. */
  async probe(request: RequestOptions): Promise<void> {
    const pages = this.#options.client.list(this.resource, this.#calls.callOptions(request.signal));
    await this.#calls.read(() => pages.next(), request);
    await pages.return();
  }

  /** A 404 counts as done, and is told by false. */
  async delete(id: string, request: RequestOptions): Promise<boolean> {
    const was = await this.#calls.delete((options) => this.#options.client.delete(this.resource, id, options), request);
    if (was) this.#inventory.recordDeleted(id, this.#now());
    else this.#inventory.recordGone(id, this.#now());
    return was;
  }

  /** The next who asks for a list gets one that begins now or later. */
  invalidateList(): void {
    this.#inventory.invalidateList(this.#now());
  }

  /** Neither in the latest list nor in any answer since. */
  isMissing(id: string): boolean {
    return this.#inventory.isMissing(id);
  }

  /** Removes a module of a resource by its own operation. A 404 counts as done. */
  async deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<void> {
    await this.#calls.delete((options) => this.#options.client.deleteModule(module, { id }, options), request);
    this.amend(id, { [member]: null });
  }

  /** What an answer about a part of a row says of it. */
  amend(id: string, members: Answer): void {
    const row = this.#inventory.get(id);
    if (row) this.#inventory.recordWrite({ ...row, ...members }, this.#now());
  }

  /** Told of every row that turns out to be another than it was, and of each that is gone. */
  onChange(listener: RemoteChangeListener): void {
    this.#inventory.onChange(listener);
  }

  cached(id: string): Remote | undefined {
    return this.#inventory.get(id);
  }

  allCached(): Remote[] {
    return this.#inventory.all();
  }

  /** A call that is about no row, such as a command; its place in the budget was taken with `admit`. */
  async perform(call: (client: GatewayClient, options: CallOptions) => Promise<void>, signal: AbortSignal) {
    await this.#calls.changeAdmitted((options) => call(this.#options.client, options), signal);
  }

  ownedBy(owner: string): Remote[] {
    return this.#inventory.ownedBy(owner);
  }

  #now = (): number => this.#options.clock.now();

  #list(lane: Lane): { startedAt: number; done: Promise<void> } {
    const startedAt = this.#now();
    const done = this.#readAll(startedAt, { lane, signal: this.#options.signal }).finally(() => {
      this.#listing = undefined;
    });
    return { startedAt, done };
  }

  async #readAll(startedAt: number, request: RequestOptions): Promise<void> {
    const rows: Remote[] = [];
    const unreadable = new Set<string>();
    let unread = false;
    const pages = this.#options.client.list(this.resource, this.#calls.callOptions(request.signal));
    for (let last = false; !last; ) {
      const { value } = await this.#calls.read(() => pages.next(), request);
      const page = value as Page<Remote>;
      last = page.last;
      rows.push(...page.rows.map((row) => this.#kept(row)));
      for (const { id } of page.problems) if (id) unreadable.add(id);
      unread ||= page.problems.length > 0;
    }
    this.#hadUnreadable = unread;
    const delta = this.#inventory.recordList(rows, startedAt, unreadable);
    this.#options.onListDelta?.(delta);
  }

  async #fold(answer: Promise<Remote>): Promise<Remote> {
    const row = await answer;
    this.#inventory.recordWrite(this.#kept(row), this.#now());
    return row;
  }

  #kept(row: Remote): Remote {
    const { secrets } = this.resource;
    return secrets.length > 0 ? (withoutSecrets(row, secrets) as Remote) : row;
  }
}
