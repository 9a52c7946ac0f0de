import type { Body, CallOptions } from "../../gateway/client.ts";
import { GatewayError, isNotFound } from "../../gateway/errors.ts";
import type { Module, Remote, Resource } from "../../gateway/resource.ts";
import type { SessionCommand } from "../../gateway/resources/index.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import type { Answer } from "../../schema/define.ts";
import { Calls, isConfidential, type ListRequest, type RequestOptions, withoutSecrets } from "../requests/calls.ts";
import type { Reading } from "../requests/list-room.ts";
import type { CollectionOptions } from "./collection-options.ts";
import { Inventory, type ListProperties, type RemoteChangeListener } from "./inventory.ts";
import { ListedMarks } from "./listed-marks.ts";
import type { CreatableRemotes, Find, UpdatableRemotes } from "./remotes.ts";
import { SharedList } from "./shared-list.ts";
import { SingleAnswers } from "./single-answers.ts";

/** How many remotes a page of a list usually has. */
const USUAL_PAGE = 100;

/**
 * The remotes of one resource in one account. The inventory is its cache, and every answer goes into it. Calls reject
 * with GatewayError, or with the reason of the signal.
 */
export class Collection implements CreatableRemotes, UpdatableRemotes {
  readonly resource: Resource;
  readonly list: SharedList;
  /** What lists tell of owner marks. Undefined: remotes have none. */
  readonly marks: ListedMarks | undefined;
  readonly #options: CollectionOptions;
  readonly #calls: Calls;
  readonly #singles: SingleAnswers;
  readonly #inventory = new Inventory();
  /** Reads that callers share, by id. `startedAt`: when the read began, in monotonic milliseconds. */
  readonly #reads = new Map<string, { startedAt: number; done: Promise<Remote | undefined> }>();

  constructor(options: CollectionOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#calls = new Calls(options);
    this.list = new SharedList(options, this.#calls, this.#inventory, (...list) => this.#recordList(...list));
    const { room, signal, resource } = options;
    const cached = (id: string) => this.cached(id);
    this.#singles = new SingleAnswers({ room, title: resource.title, signal, cached });
    this.#inventory.onChange(({ id }, after) => {
      if (!after) this.#singles.drop(id);
    });
    this.marks = resource.create.includes("metadata") ? new ListedMarks() : undefined;
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
      this.marks?.ofRead(remote, startedAt >= (this.listedAt ?? 0));
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
    return withoutSecrets(await this.#calls.read(read, request), this.resource.secrets);
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

  listed(since: number, request: ListRequest): Promise<void> {
    return this.list.listed(since, request);
  }

  async search(since: number, find: Find, request: RequestOptions): Promise<Remote | undefined> {
    const from = Math.max(since, this.#inventory.listInvalidatedAt);
    await this.listed(from, request);
    let found = await this.#findExisting(find, request);
    while (!found && !this.#inventory.provesAbsence(from)) {
      await this.list.listedAgain(from, request);
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

  create(body: Body, request: RequestOptions): Promise<Remote> {
    const confidential = isConfidential(Object.keys(body), request);
    return this.#recordAnswer(
      this.#calls.changeAdmitted(async (options) => {
        const remote = await this.#options.client.create(this.resource, body, { ...options, confidential });
        this.#refuseOther(remote, body);
        return remote;
      }, request),
    );
  }

  /**
   * A service, or a gateway before it, may answer a create with what somebody else has made. Nobody has given that to the
   * object. The create may have made another remote, so this says no more than that the answer cannot be used.
   */
  #refuseOther(remote: Remote, body: Body): void {
    const mark = ownerMarkOf(body);
    // The service shows a secret in the answer to a create alone, and nobody would see this one again.
    if (mark === undefined || this.resource.secrets.some((member) => remote[member])) return;
    const isMade =
      typeof remote["metadata"] === "string" ? ownerMarkOf(remote) === mark : this.cached(remote.id) === undefined;
    if (isMade) return;
    const problem = `the answer shows ${remote.id}, which this create has not made`;
    throw new GatewayError({ kind: "unreadable", method: "POST", route: this.resource.path, problem, status: 200 });
  }

  admit(request: RequestOptions): Promise<void> {
    return this.#calls.admitChange(request);
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

  update(id: string, body: Body, request: RequestOptions): Promise<Remote> {
    const confidential = isConfidential(Object.keys(body), request);
    return this.#recordAnswer(
      this.#calls.change(
        (options) => this.#options.client.update(this.resource, id, body, { ...options, confidential }),
        request,
      ),
    );
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
    this.#inventory.invalidateList(at);
  }

  /**
   * Records that this process has changed or deleted a remote through other credentials, which may be of the same
   * account.
   */
  learn(id: string, after: Remote | undefined): void {
    if (this.cached(id) === undefined) {
      if (this.list.isUnderWay) this.invalidateList();
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

  unreadableMarkedFor(object: string): Remote[] {
    return this.#inventory.unreadableMarkedFor(object);
  }

  #now = (): number => this.#options.clock.now();

  #recordList(remotes: readonly Remote[], startedAt: number, properties: ListProperties): void {
    const rows = this.marks?.ofList(remotes, (id) => this.cached(id)) ?? remotes;
    const delta = this.#inventory.recordList(rows, startedAt, properties);
    // What lists leave out stays as it was read.
    const isListed = (id: string) => this.#inventory.seenAt(id) === startedAt && !this.marks?.areHidden;
    for (const id of this.#singles.ids) if (isListed(id)) this.#singles.drop(id);
    this.#options.onListDelta?.(delta);
  }

  async #recordAnswer(answer: Promise<Remote>): Promise<Remote> {
    const remote = await answer;
    this.marks?.ofWrite(remote);
    this.#recordWrite(withoutSecrets(remote, this.resource.secrets));
    return remote;
  }

  /** What is known may be of a list that began after the read of this remote, and that has no metadata. */
  #showMetadata({ id, metadata }: Remote): void {
    const known = this.cached(id);
    const at = this.#inventory.seenAt(id);
    if (!this.marks?.areHidden || metadata === undefined || at === undefined || known?.["metadata"] !== undefined)
      return;
    this.#inventory.recordRead({ ...known, id, metadata }, at);
  }

  #recordWrite(remote: Remote): void {
    this.#singles.keep(remote.id, () => this.#inventory.recordWrite(remote, this.#now()));
    this.#options.onOwnChange?.(remote.id, remote);
  }
}
