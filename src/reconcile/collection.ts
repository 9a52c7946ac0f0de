import type { Body, CallOptions, GatewayClient, Page } from "../gateway/client.ts";
import { isGatewayError, isLimited, isNotFound } from "../gateway/errors.ts";
import type { Module, Resource } from "../gateway/resource.ts";
import type { Answer } from "../kinds/define.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Budget, Lane } from "./budget.ts";
import type { Gate } from "./gate.ts";
import { Inventory, type Row, type Sweep } from "./inventory.ts";

/** Rows that a page of a list usually has. */
const USUAL_PAGE = 100;

/** How a request is sent: in which lane it waits, and when to give up. */
export interface Sending {
  lane: Lane;
  signal: AbortSignal;
}

export interface CollectionOptions {
  client: GatewayClient;
  resource: Resource;
  budget: Budget;
  gate: Gate;
  clock: Clock;
  /** Ends the lists under way: they are shared, so no single pass may end them. */
  signal: AbortSignal;
  /** Asked right before anything is changed in the account; throws when this process may not. */
  permit: () => void;
  /** Told what each list changed. */
  onSweep?: (sweep: Sweep) => void;
}

/**
 * One resource of one account: calls within the budget, with every answer folded into the inventory.
 * Rejects with GatewayError, or with the reason of the signal.
 */
export class Collection {
  readonly resource: Resource;
  readonly #options: CollectionOptions;
  readonly #inventory = new Inventory();
  #hadUnreadable = false;
  #listing: { startedAt: number; done: Promise<void> } | undefined;

  constructor(options: CollectionOptions) {
    this.resource = options.resource;
    this.#options = options;
  }

  /** When the latest complete list began, in monotonic milliseconds. */
  get listedAt(): number | undefined {
    return this.#inventory.listedAt;
  }

  /** Whether the latest complete list had rows that could not be read, so that it does not tell what is gone. */
  get hadUnreadable(): boolean {
    return this.#hadUnreadable;
  }

  /**
   * The resource as last seen, or undefined when a 404 said that it is gone: absence from a list is only a hint.
   * `fresh` asks the service in any case.
   */
  async find(id: string, sending: Sending, fresh = false): Promise<Row | undefined> {
    if (!fresh && this.listedAt === undefined) await this.listed(0, sending.lane);
    const known = this.#inventory.get(id);
    if (known && !fresh) return known;
    try {
      return await this.#fold((options) => this.#options.client.get(this.resource, id, options), sending);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#inventory.drop(id, this.#now());
      return undefined;
    }
  }

  /**
   * Like `find`, and true at `since` (monotonic milliseconds) or later. `alike`: how many rows are looked for like this,
   * since one list can serve them all with fewer requests.
   */
  async recent(id: string, since: number, alike: number, sending: Sending): Promise<Row | undefined> {
    const seenAt = this.#inventory.seenAt(id);
    if (seenAt !== undefined && seenAt >= since) return this.#inventory.get(id);
    const pages = Math.ceil(this.#inventory.rows().length / USUAL_PAGE);
    if (alike < pages) return this.find(id, sending, true);
    await this.listed(since, sending.lane);
    return this.find(id, sending);
  }

  /** All rows, from a list that began at `since` (monotonic milliseconds) or later. Lists under way are shared. */
  async listed(since: number, lane: Lane): Promise<Row[]> {
    while (this.listedAt === undefined || this.listedAt < since) {
      // one that began too early says nothing, whether it fails or not
      if (this.#listing && this.#listing.startedAt < since) await Promise.allSettled([this.#listing.done]);
      this.#listing ??= this.#list(lane);
      await this.#listing.done;
    }
    return this.#inventory.rows();
  }

  create(body: Body, { signal }: Sending): Promise<Row> {
    // its place in the budget was taken before the intent was recorded, so that nothing delays it now
    return this.#folding((options) => {
      this.#options.permit();
      return this.#options.client.create(this.resource, body, options);
    }, signal);
  }

  /** For a create: waits until one request may be sent, before anything is recorded about it. */
  async admit({ lane, signal }: Sending): Promise<void> {
    this.#options.gate.enter();
    await this.#options.budget.acquire(lane, signal);
  }

  update(id: string, body: Body, sending: Sending): Promise<Row> {
    return this.#fold((options) => {
      this.#options.permit();
      return this.#options.client.update(this.resource, id, body, options);
    }, sending);
  }

  /** One request that changes nothing: whether the service answers and accepts the key. */
  async probe(sending: Sending): Promise<void> {
    const pages = this.#options.client.list(this.resource, { signal: sending.signal });
    await this.#spend(() => pages.next(), sending);
    await pages.return();
  }

  /** A 404 counts as done, and is told by false. */
  async remove(id: string, sending: Sending): Promise<boolean> {
    const was = await this.#unlessGone((options) => this.#options.client.delete(this.resource, id, options), sending);
    this.#inventory.drop(id, this.#now());
    return was;
  }

  /** Neither in the latest list nor in any answer since. */
  isMissing(id: string): boolean {
    return this.#inventory.isMissing(id);
  }

  /** Removes a module of a resource by its own operation. A 404 counts as done. */
  async removeModule(id: string, member: string, module: Module, sending: Sending): Promise<void> {
    await this.#unlessGone((options) => this.#options.client.deleteModule(module, { id }, options), sending);
    const row = this.#inventory.get(id);
    if (row) this.#inventory.put({ ...row, [member]: null }, this.#now());
  }

  /** All that is known, without asking. */
  get rows(): Row[] {
    return this.#inventory.rows();
  }

  /** A call that is about no row, such as a command; its place in the budget was taken with `admit`. */
  async perform(call: (client: GatewayClient, options: CallOptions) => Promise<void>, signal: AbortSignal) {
    this.#options.permit();
    await this.#watched(() => call(this.#options.client, { signal }));
  }

  /** What is known of a resource, without asking. */
  known(id: string): Row | undefined {
    return this.#inventory.get(id);
  }

  #now = (): number => this.#options.clock.now();

  #list(lane: Lane): { startedAt: number; done: Promise<void> } {
    const startedAt = this.#now();
    const done = this.#readAll(startedAt, { lane, signal: this.#options.signal }).finally(() => {
      this.#listing = undefined;
    });
    return { startedAt, done };
  }

  async #readAll(startedAt: number, sending: Sending): Promise<void> {
    const rows: Row[] = [];
    const unreadable = new Set<string>();
    let unread = false;
    const pages = this.#options.client.list(this.resource, { signal: sending.signal });
    for (;;) {
      const { value, done } = await this.#spend(() => pages.next(), sending);
      if (done) break;
      const page = value as Page<Row>;
      rows.push(...page.rows.map((row) => this.#withoutSecrets(row)));
      for (const { id } of page.problems) if (id) unreadable.add(id);
      unread ||= page.problems.length > 0;
    }
    this.#hadUnreadable = unread;
    const sweep = this.#inventory.replace(rows, startedAt, unreadable);
    this.#options.onSweep?.(sweep);
  }

  /** Services echo secrets, and nothing that is kept may hold one. */
  #withoutSecrets(row: Row): Row {
    const { secrets } = this.resource;
    return secrets.length > 0 ? (stripped(row, secrets) as Row) : row;
  }

  async #fold(call: (options: CallOptions) => Promise<Answer & { id: string }>, sending: Sending): Promise<Row> {
    await this.admit(sending);
    return this.#folding(call, sending.signal);
  }

  async #folding(call: (options: CallOptions) => Promise<Answer & { id: string }>, signal: AbortSignal): Promise<Row> {
    const row = await this.#watched(() => call({ signal }));
    this.#inventory.put(this.#withoutSecrets(row), this.#now());
    return row;
  }

  async #unlessGone(call: (options: CallOptions) => Promise<void>, sending: Sending): Promise<boolean> {
    try {
      await this.#spend(() => {
        this.#options.permit();
        return call({ signal: sending.signal });
      }, sending);
      return true;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return false;
    }
  }

  async #spend<T>(call: () => Promise<T>, sending: Sending): Promise<T> {
    await this.admit(sending);
    return this.#watched(call);
  }

  /** What an answer says about the whole account is told to those who decide about the next request. */
  async #watched<T>(call: () => Promise<T>): Promise<T> {
    const { budget, gate } = this.#options;
    try {
      const answer = await call();
      gate.passed();
      return answer;
    } catch (error) {
      if (isLimited(error)) budget.limited(error.retryAfterSeconds);
      if (isGatewayError(error)) gate.failed(error);
      throw error;
    }
  }
}

function stripped(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => stripped(item, names));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, stripped(member, names)]));
}
