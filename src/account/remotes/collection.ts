import type { Body, CallOptions, Page } from "../../gateway/client.ts";
import { isNotFound } from "../../gateway/errors.ts";
import type { Module, Remote, Resource } from "../../gateway/resource.ts";
import type { SessionCommand } from "../../gateway/resources/index.ts";
import type { Answer } from "../../schema/define.ts";
import { Calls, isConfidential, type ListRequest, type RequestOptions, withoutSecrets } from "../requests/calls.ts";
import type { ListRoom, Reading } from "../requests/list-room.ts";
import type { Lane } from "../requests/request-budget.ts";
import type { CollectionOptions } from "./collection-options.ts";
import { Inventory, type RemoteChangeListener } from "./inventory.ts";
import { failList } from "./list-failures.ts";
import { ListedMarks } from "./listed-marks.ts";
import type { CreatableRemotes, Find, UpdatableRemotes } from "./remotes.ts";
import { SingleAnswers } from "./single-answers.ts";

/** How many remotes a page of a list usually has. */
const USUAL_PAGE = 100;

/**
 * The remotes of one resource in one account. The inventory is its cache, and every answer goes into it. Calls reject
 * with GatewayError, or with the reason of the signal.
 */
export class Collection implements CreatableRemotes, UpdatableRemotes {
  readonly resource: Resource;
  readonly #options: CollectionOptions;
  readonly #calls: Calls;
  readonly #room: ListRoom;
  readonly #list: string | this;
  readonly #singles: SingleAnswers;
  readonly #inventory = new Inventory();
  readonly #marks: ListedMarks | undefined;
  #hadUnreadable = false;
  #listing: { startedAt: number; done: Promise<void> } | undefined;
  /** Set while the list under way reads pages. Resolves with each page, and at the end. */
  #nextPage: PromiseWithResolvers<void> | undefined;
  /** Reads that callers share, by id. `startedAt`: when the read began, in monotonic milliseconds. */
  readonly #reads = new Map<string, { startedAt: number; done: Promise<Remote | undefined> }>();

  constructor(options: CollectionOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#calls = new Calls(options);
    this.#room = options.room;
    this.#list = options.list ?? this;
    options.signal.addEventListener("abort", () => this.#room.release(this.#list), { once: true });
    const { title } = options.resource;
    const cached = (id: string) => this.cached(id);
    this.#singles = new SingleAnswers({ room: this.#room, title, signal: options.signal, cached });
    this.#inventory.onChange(({ id }, after) => {
      if (!after) this.#singles.drop(id);
    });
    this.#marks = this.resource.create.includes("metadata") ? new ListedMarks() : undefined;
  }

  /** Whether the latest list showed no owner marks although remotes may have some. */
  get hidesMarks(): boolean {
    return this.#marks?.areHidden === true;
  }

  /** Whether an answer has shown an owner mark, or other metadata, that the latest list left out. */
  get surelyHidesMarks(): boolean {
    return this.#marks?.areSurelyHidden === true;
  }

  /** Whether a listed remote may have an owner mark, and no list or answer has shown whether it does. */
  isMarkUnknown(id: string): boolean {
    return this.#marks?.isUnknown(id) === true;
  }

  /**
   * Whether the owner mark of a listed remote was last shown before the latest list, so that it may have changed since.
   */
  isMarkStale(id: string): boolean {
    return this.#marks?.isStale(id) === true;
  }

  /** When the latest complete list began, in monotonic milliseconds. */
  get listedAt(): number | undefined {
    return this.#inventory.listedAt;
  }

  /** When the list began that the latest lists confirm, so that a remote which they lack was gone by then. */
  get absenceProvedAt(): number | undefined {
    return this.#inventory.absenceProvedAt;
  }

  /** Remotes that only the latest list lacks. It had several pages, so they may still exist. */
  get hidden(): readonly Remote[] {
    return this.#inventory.hidden;
  }

  /** Whether the latest complete list had unreadable rows. Such a list does not tell which remotes are gone. */
  get hadUnreadable(): boolean {
    return this.#hadUnreadable;
  }

  async get(id: string, request: RequestOptions): Promise<Remote | undefined> {
    if (this.listedAt === undefined) await this.listed(0, request);
    return this.cached(id) ?? this.read(id, request);
  }

  /** Asks the service. Undefined only after a 404: a remote that is missing from a list may still exist. */
  async read(id: string, request: RequestOptions): Promise<Remote | undefined> {
    const startedAt = this.#now();
    const { keyProof } = this.#options;
    try {
      const remote = await this.#singles.read(id, (onAnswer) => this.#get(id, request, onAnswer));
      keyProof.recordSeenIDs([remote.id]);
      this.#marks?.ofRead(remote, startedAt >= (this.listedAt ?? 0));
      this.#singles.keep(id, () => {
        this.#inventory.recordRead(remote, startedAt);
        this.#showMetadata(remote);
      });
      // A newer answer may have arrived in the meantime. If that was a list without this remote, only a 404 proves that
      // it is gone.
      return this.cached(id) ?? remote;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Under the key of another account, every remote would be missing.
      await this.#calls.waitFor(keyProof.ensure(), request);
      this.#inventory.recordGone(id, this.#now());
      return undefined;
    }
  }

  async #get(id: string, request: RequestOptions, onAnswer: Reading["onAnswer"]): Promise<Remote> {
    const read = (options: CallOptions) => this.#options.client.get(this.resource, id, { ...options, onAnswer });
    return this.#withoutSecrets(await this.#calls.read(read, request));
  }

  /** Like `read`. Callers share an answer to a request that began at `since` (monotonic milliseconds) or later. */
  async readSince(id: string, since: number, request: ListRequest): Promise<Remote | undefined> {
    for (const [other, { startedAt }] of this.#reads) if (startedAt < since) this.#reads.delete(other);
    let shared = this.#reads.get(id);
    if (!shared) {
      const done = this.read(id, { lane: request.lane, signal: this.#options.signal });
      shared = { startedAt: this.#now(), done };
      this.#reads.set(id, shared);
      done.catch(() => this.#reads.delete(id));
    }
    // A later reconcile would ask for a later answer again, and never end. So the reconcile waits here unless the
    // service has asked for a pause.
    return this.#calls.waitFor(shared.done, request, Number.POSITIVE_INFINITY);
  }

  /**
   * Like `get`, but an answer from before `since` (monotonic milliseconds) does not count. `alike`: how many remotes
   * callers read like this. If there are many, one list takes fewer requests than a GET for each.
   */
  async getSince(id: string, since: number, alike: number, request: RequestOptions): Promise<Remote | undefined> {
    const seenAt = this.#inventory.seenAt(id);
    if (seenAt !== undefined && seenAt >= since) return this.cached(id);
    const pages = Math.ceil(this.#inventory.size / USUAL_PAGE);
    if (alike < pages) return this.read(id, request);
    await this.listed(since, request);
    return this.get(id, request);
  }

  /**
   * Resolves when the cache holds a list that began at `since` (monotonic milliseconds) or later, and after the last
   * `invalidateList`. Callers share a list that is under way.
   */
  async listed(since: number, request: ListRequest): Promise<void> {
    const from = Math.max(since, this.#inventory.listInvalidatedAt);
    while (this.listedAt === undefined || this.listedAt < from) {
      // The list under way began too early to count, whether it fails or not.
      if (this.#listing && this.#listing.startedAt < from)
        await this.#calls.waitFor(Promise.allSettled([this.#listing.done]), request, since);
      this.#listing ??= this.#readList(request.lane);
      await this.#calls.waitFor(this.#listing.done, request, since);
    }
  }

  /** Like `listed`, but a first list with several pages does not count alone: a second list follows. */
  async listedSurely(since: number, request: ListRequest): Promise<void> {
    await this.listed(since, request);
    if (this.#inventory.hasOneList) await this.#listAgain(request);
  }

  async search(since: number, find: Find, request: RequestOptions): Promise<Remote | undefined> {
    const from = Math.max(since, this.#inventory.listInvalidatedAt);
    await this.listed(from, request);
    let found = await this.#findExisting(find, request);
    while (!found && !this.#inventory.provesAbsence(from)) {
      await this.#listAgain(request);
      found = await this.#findExisting(find, request);
    }
    return found;
  }

  /** A remote that the latest list did not show counts only if a GET finds it. */
  async #findExisting(find: Find, request: RequestOptions): Promise<Remote | undefined> {
    for (;;) {
      const found = await find(() => [...this.allCached(), ...this.#inventory.hidden]);
      if (!found || this.cached(found.id)) return found;
      const read = await this.read(found.id, request);
      if (read) return read;
    }
  }

  /** Resolves after one more list. Callers share it. */
  async #listAgain(request: ListRequest): Promise<void> {
    const { lists } = this.#inventory;
    while (this.#inventory.lists === lists) {
      this.#listing ??= this.#readList(request.lane);
      await this.#calls.waitFor(this.#listing.done, request);
    }
  }

  create(body: Body, request: RequestOptions): Promise<Remote> {
    const confidential = isConfidential(Object.keys(body), request);
    return this.#recordAnswer(
      this.#calls.changeAdmitted(
        (options) => this.#options.client.create(this.resource, body, { ...options, confidential }),
        request,
      ),
    );
  }

  admit(request: RequestOptions): Promise<void> {
    return this.#calls.admitChange(request);
  }

  /**
   * Reads the list until it shows that the key is one of this account. The inventory does not change. The pages of a list
   * that is under way may prove the key as well, so they come first.
   */
  async proveKey(request: RequestOptions): Promise<void> {
    const { keyProof } = this.#options;
    while (this.#nextPage && !keyProof.isProved) await this.#calls.waitFor(this.#nextPage.promise, request);
    if (keyProof.isProved) return;
    await this.#room.readOnce(this.#title, async (reading) => {
      for await (const _ of this.#pages(request, reading)) if (keyProof.isProved) return;
    });
  }

  /** Reads one remote to prove the key. Neither the answer nor a 404 reaches the inventory. */
  async proveKeyBy(id: string, request: RequestOptions): Promise<void> {
    const { keyProof } = this.#options;
    try {
      await this.#singles.readOnce((onAnswer) => this.#get(id, request, onAnswer));
      keyProof.recordSeenIDs([id]);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** The pages of a list. The ids of each page are reported to the proof of the key. */
  async *#pages(request: RequestOptions, { onAnswer }: Reading): AsyncGenerator<Page<Remote>> {
    const { client, keyProof } = this.#options;
    const pages = client.list(this.resource, { ...this.#calls.callOptions(request.signal), onAnswer });
    for (let last = false; !last; ) {
      const { value } = await this.#calls.read(() => pages.next(), request);
      const page = value as Page<Remote>;
      last = page.last;
      keyProof.recordSeenIDs(page.rows.map(({ id }) => id));
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

  update(id: string, body: Body, request: RequestOptions): Promise<Remote> {
    const confidential = isConfidential(Object.keys(body), request);
    return this.#recordAnswer(
      this.#calls.change(
        (options) => this.#options.client.update(this.resource, id, body, { ...options, confidential }),
        request,
      ),
    );
  }

  /** Sends one harmless request, to see whether the service answers and accepts the key. */
  async probe(request: RequestOptions): Promise<void> {
    const pages = this.#options.client.list(this.resource, this.#calls.callOptions(request.signal));
    await this.#calls.read(() => pages.next(), { ...request, isProbe: true });
    await pages.return();
  }

  async delete(id: string, request: RequestOptions): Promise<boolean> {
    const existed = await this.#calls.delete(
      (options) => this.#options.client.delete(this.resource, id, options),
      request,
    );
    if (existed) {
      this.#inventory.recordDeleted(id, this.#now());
      this.#options.onOwnChange?.(id, undefined);
    } else this.#inventory.recordGone(id, this.#now());
    return existed;
  }

  /** A list that began before this time is out of date. */
  invalidateList(at: number = this.#now()): void {
    this.#inventory.invalidateList(Math.max(at, this.#inventory.listInvalidatedAt));
  }

  /**
   * Records that this process has changed or deleted a remote through other credentials, which may be of the same
   * account.
   */
  learn(id: string, after: Remote | undefined): void {
    if (this.cached(id) === undefined) {
      if (this.#listing) this.invalidateList();
      if (after) this.#inventory.recordReported(id, this.#now());
    } else if (after) this.#inventory.recordWrite(after, this.#now());
    else this.#inventory.recordDeleted(id, this.#now());
  }

  isMissing(id: string): boolean {
    return this.#inventory.isMissing(id);
  }

  async deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<boolean> {
    const send = (options: CallOptions) => this.#options.client.deleteModule(module, { id }, options);
    const done = await this.#calls.delete(send, request);
    this.amend(id, { [member]: null });
    return done;
  }

  /** Records these members of a remote, which an answer about a part of the remote has shown. */
  amend(id: string, members: Answer): void {
    const remote = this.cached(id);
    if (remote) this.#recordWrite({ ...remote, ...members });
  }

  /** The listener is called for each cached remote that an answer shows changed or gone. */
  onChange(listener: RemoteChangeListener): void {
    this.#inventory.onChange(listener);
  }

  cached(id: string): Remote | undefined {
    return this.#inventory.get(id);
  }

  allCached(): Remote[] {
    return this.#inventory.all();
  }

  /** Sends a command to a session. Call it right after `admit`. */
  async command(command: SessionCommand, id: string, signal: AbortSignal): Promise<void> {
    await this.#calls.changeAdmitted((options) => this.#options.client.command(command, id, options), { signal });
  }

  markedFor(object: string): Remote[] {
    return this.#inventory.markedFor(object);
  }

  get #title(): string {
    return `the list of each ${this.resource.title}`;
  }

  #now = (): number => this.#options.clock.now();

  #readList(lane: Lane): { startedAt: number; done: Promise<void> } {
    const startedAt = this.#now();
    const request = { lane, signal: this.#options.signal };
    const done = this.#room
      .read(this.#list, this.#title, (reading) => this.#readAll(startedAt, request, reading))
      .catch(failList(this.#options))
      .finally(() => {
        this.#listing = undefined;
      });
    return { startedAt, done };
  }

  async #readAll(startedAt: number, request: RequestOptions, reading: Reading): Promise<void> {
    const { keyProof } = this.#options;
    if (keyProof.problem) await keyProof.ensure();
    const remotes: Remote[] = [];
    const unreadable = new Set<string>();
    let [hadUnreadable, pages] = [false, 0];
    for await (const page of this.#sharedPages(request, reading)) {
      pages += 1;
      reading.add(page.rows);
      remotes.push(...page.rows.map((row) => this.#withoutSecrets(row)));
      for (const { id } of page.problems) if (id) unreadable.add(id);
      hadUnreadable ||= page.problems.length > 0;
    }
    await keyProof.ensure(this.resource);
    this.#hadUnreadable = hadUnreadable;
    const rows = this.#marks?.ofList(remotes, (id) => this.cached(id)) ?? remotes;
    const delta = this.#inventory.recordList(rows, startedAt, { unreadable, pages });
    // What lists leave out stays as it was read.
    const isListed = (id: string) => this.#inventory.seenAt(id) === startedAt && !this.hidesMarks;
    for (const id of this.#singles.ids) if (isListed(id)) this.#singles.drop(id);
    this.#options.onListDelta?.(delta);
  }

  async #recordAnswer(answer: Promise<Remote>): Promise<Remote> {
    const remote = await answer;
    this.#marks?.ofWrite(remote);
    this.#recordWrite(this.#withoutSecrets(remote));
    return remote;
  }

  /** What is known may be of a list that began after the read of this remote, and that has no metadata. */
  #showMetadata({ id, metadata }: Remote): void {
    const known = this.cached(id);
    const at = this.#inventory.seenAt(id);
    if (!this.hidesMarks || metadata === undefined || at === undefined || known?.["metadata"] !== undefined) return;
    this.#inventory.recordRead({ ...known, id, metadata }, at);
  }

  #recordWrite(remote: Remote): void {
    this.#singles.keep(remote.id, () => this.#inventory.recordWrite(remote, this.#now()));
    this.#options.onOwnChange?.(remote.id, remote);
  }

  #withoutSecrets(remote: Remote): Remote {
    return this.resource.secrets.length > 0 ? (withoutSecrets(remote, this.resource.secrets) as Remote) : remote;
  }
}
