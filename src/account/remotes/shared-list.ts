import type { Page } from "../../gateway/client.ts";
import type { Remote } from "../../gateway/resource.ts";
import { type Calls, type ListRequest, type RequestOptions, withoutSecrets } from "../requests/calls.ts";
import type { Reading } from "../requests/list-room.ts";
import type { Lane } from "../requests/request-budget.ts";
import type { CollectionOptions } from "./collection-options.ts";
import type { Inventory, ListProperties } from "./inventory.ts";
import { failList } from "./list-failures.ts";

/** Records the rows of a complete list in the inventory. `startedAt`: when the list began, in monotonic milliseconds. */
type RecordList = (rows: readonly Remote[], startedAt: number, properties: ListProperties) => void;

/**
 * Reads the list of one resource. Callers share a list that is under way. The ids of each page are reported to the proof of
 * the key. A list counts only when it is complete and the key is proved.
 */
export class SharedList {
  readonly #options: CollectionOptions;
  readonly #calls: Calls;
  readonly #inventory: Inventory;
  readonly #record: RecordList;
  #hadUnreadable = false;
  #listing: { startedAt: number; done: Promise<void> } | undefined;
  /** Set while the list under way reads pages. Resolves with each page, and at the end. */
  #nextPage: PromiseWithResolvers<void> | undefined;

  constructor(options: CollectionOptions, calls: Calls, inventory: Inventory, record: RecordList) {
    this.#options = options;
    this.#calls = calls;
    this.#inventory = inventory;
    this.#record = record;
    options.signal.addEventListener("abort", () => options.room.release(this.#place), { once: true });
  }

  /** Whether the latest complete list had unreadable rows. Such a list does not tell which remotes are gone. */
  get hadUnreadable(): boolean {
    return this.#hadUnreadable;
  }

  get isUnderWay(): boolean {
    return this.#listing !== undefined;
  }

  /**
   * Resolves when the cache holds a list that began at `since` (monotonic milliseconds) or later, and after the last
   * `invalidateList`.
   */
  async listed(since: number, request: ListRequest): Promise<void> {
    const inventory = this.#inventory;
    const from = Math.max(since, inventory.listInvalidatedAt);
    while (inventory.listedAt === undefined || inventory.listedAt < from) {
      // The list under way began too early to count, whether it fails or not.
      if (this.#listing && this.#listing.startedAt < from)
        await this.#calls.waitFor(Promise.allSettled([this.#listing.done]), request, since);
      this.#listing ??= this.#begin(request.lane);
      await this.#calls.waitFor(this.#listing.done, request, since);
    }
  }

  /** Like `listed`, but a first list with several pages does not count alone: a second list follows. */
  async listedSurely(since: number, request: ListRequest): Promise<void> {
    await this.listed(since, request);
    if (this.#inventory.hasOneList) await this.listedAgain(since, request);
  }

  /** Resolves after one more list. `since`: from when on the caller's lists count. */
  async listedAgain(since: number, request: ListRequest): Promise<void> {
    const { lists } = this.#inventory;
    while (this.#inventory.lists === lists) {
      this.#listing ??= this.#begin(request.lane);
      await this.#calls.waitFor(this.#listing.done, request, since);
    }
  }

  /**
   * Reads the list until it shows that the key is one of this account. The inventory does not change. The pages of a list
   * that is under way may prove the key as well, so they come first.
   */
  async proveKey(request: RequestOptions): Promise<void> {
    const { keyProof, room } = this.#options;
    while (this.#nextPage && !keyProof.isProved) await this.#calls.waitFor(this.#nextPage.promise, request);
    if (keyProof.isProved) return;
    await room.readOnce(this.#title, async (reading) => {
      for await (const _ of this.#pages(request, reading)) if (keyProof.isProved) return;
    });
  }

  /** Sends one harmless request, to see whether the service answers and accepts the key. */
  async probe(request: RequestOptions): Promise<void> {
    const { client, resource } = this.#options;
    const pages = client.list(resource, this.#calls.callOptions(request.signal));
    await this.#calls.read(() => pages.next(), { ...request, isProbe: true });
    await pages.return();
  }

  #begin(lane: Lane): { startedAt: number; done: Promise<void> } {
    const { clock, room, signal } = this.#options;
    const startedAt = clock.now();
    const done = room
      .read(this.#place, this.#title, (reading) => this.#readAll(startedAt, { lane, signal }, reading))
      .catch(failList(this.#options))
      .finally(() => {
        this.#listing = undefined;
      });
    return { startedAt, done };
  }

  async #readAll(startedAt: number, request: RequestOptions, reading: Reading): Promise<void> {
    const { keyProof, resource } = this.#options;
    if (keyProof.problem) await keyProof.ensure();
    const remotes: Remote[] = [];
    const unreadable = new Map<string, string | undefined>();
    let [hadUnreadable, pages] = [false, 0];
    for await (const page of this.#sharedPages(request, reading)) {
      pages += 1;
      reading.add(page.rows);
      remotes.push(...withoutSecrets(page.rows, resource.secrets));
      for (const { id, metadata } of page.problems) if (id) unreadable.set(id, metadata);
      hadUnreadable ||= page.problems.length > 0;
    }
    await keyProof.ensure(resource);
    this.#hadUnreadable = hadUnreadable;
    this.#record(remotes, startedAt, { unreadable, pages });
  }

  async *#pages(request: RequestOptions, { onAnswer }: Reading): AsyncGenerator<Page<Remote>> {
    const { client, keyProof, resource } = this.#options;
    const pages = client.list(resource, { ...this.#calls.callOptions(request.signal), onAnswer });
    for (let last = false; !last; ) {
      const { value } = await this.#calls.read(() => pages.next(), request);
      const page = value as Page<Remote>;
      last = page.last;
      keyProof.recordSeenIDs([...page.rows, ...page.problems].flatMap(({ id }) => id ?? []));
      yield page;
    }
  }

  /** Like `#pages`, for the list under way: `proveKey` waits for them. */
  async *#sharedPages(request: RequestOptions, reading: Reading): AsyncGenerator<Page<Remote>> {
    this.#nextPage = Promise.withResolvers();
    try {
      for await (const page of this.#pages(request, reading)) {
        this.#nextPage.resolve();
        this.#nextPage = Promise.withResolvers();
        yield page;
      }
    } finally {
      this.#nextPage.resolve();
      this.#nextPage = undefined;
    }
  }

  /** What keeps the list in the room. */
  get #place(): string | this {
    return this.#options.place ?? this;
  }

  get #title(): string {
    return `the list of each ${this.#options.resource.title}`;
  }
}
