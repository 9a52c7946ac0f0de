import type { ListRoom, Reading } from "../../account/requests/list-room.ts";
import { RequestBudget } from "../../account/requests/request-budget.ts";
import type { CallOptions, Page } from "../../gateway/client.ts";
import {
  isForbidden,
  isGatewayError,
  isLimited,
  isNotFound,
  isUnauthorized,
  NO_API_KEY,
} from "../../gateway/errors.ts";
import { GatewayReader } from "../../gateway/reader.ts";
import type { Module, ModuleOwner, Remote, Resource } from "../../gateway/resource.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import { systemClock } from "../../runtime/clock.ts";
import { textOf } from "../../runtime/log.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";
import { withArticle } from "../../schema/nouns.ts";
import { CommandError } from "../terminal/terminal.ts";
import type { Credentials } from "./credentials.ts";

/** How often a request is sent if the service answers 429. */
const ATTEMPTS = 5;

const ONE_BY_ONE = "what has to be read one by one";

/** The account cannot be reached or refuses the key. Any other request would fail as well, so the command ends. */
export class AccountFailure extends CommandError {}

/** Reads an account within the request budget. It cannot change anything: see `AccountChanges`. */
export class AccountReader implements AsyncDisposable {
  readonly #client: GatewayReader;
  readonly #budget: RequestBudget;
  readonly #room: ListRoom;
  /** All answers that no list has shown. */
  readonly #singles: Reading;

  constructor({ baseURL, apiKey, proxies, requestsPerMinute, requestSeconds, room }: Credentials) {
    const timeoutMs = requestSeconds * 1000;
    this.#client = new GatewayReader({ baseURL, apiKey, proxies, timeoutMs, userAgent: OPERATOR_NAME });
    this.#budget = new RequestBudget({ perMinute: requestsPerMinute, clock: systemClock });
    this.#room = room;
    this.#singles = room.begin(this, ONE_BY_ONE);
  }

  /** All rows, each id once. Throws CommandError. `onRows` gets the number of rows read so far. */
  list(resource: Resource, onRows: (count: number) => void = () => {}): Promise<Remote[]> {
    return this.#patiently(`list ${resource.path}`, () =>
      this.#room.read(resource.name, `the list of each ${resource.title}`, (reading) =>
        this.#rows(resource, reading, onRows),
      ),
    );
  }

  async #rows(resource: Resource, reading: Reading, onRows: (count: number) => void): Promise<Remote[]> {
    const rows = new Map<string, Remote>();
    const pages = this.#client.list(resource, { onAnswer: reading.onAnswer });
    let isLast = false;
    while (!isLast) {
      await this.#budget.acquire("sync");
      const { value: page } = await pages.next();
      for (const row of page ? rowsOf(resource, page) : []) rows.set(row.id, row);
      reading.add(page?.rows);
      onRows(rows.size);
      isLast = page?.last ?? true;
    }
    return [...rows.values()];
  }

  /** Undefined: the account has no such remote. */
  get(resource: Resource, id: string): Promise<Remote | undefined> {
    return this.#patiently(`read ${resource.path}/${id}`, async () => {
      await this.#budget.acquire("edit");
      return this.#one((options) => this.#client.get(resource, id, options), undefined);
    });
  }

  /** Null: the module is not set. */
  module(module: Module, owner: ModuleOwner): Promise<object | null> {
    return this.#patiently(`read the ${module.title}`, async () => {
      await this.#budget.acquire("sync");
      return this.#one((options) => this.#client.getModule(module, owner, options), null);
    });
  }

  [Symbol.asyncDispose] = (): Promise<void> => {
    this.#room.release(this);
    return this.#client.close();
  };

  async #one<T, None>(read: (options: CallOptions) => Promise<T>, none: None): Promise<T | None> {
    try {
      const answer = await this.#room.readOnce(ONE_BY_ONE, ({ onAnswer }) => read({ onAnswer }));
      this.#singles.add(answer);
      this.#singles.keep();
      return answer;
    } catch (error) {
      if (isNotFound(error)) return none;
      throw error;
    }
  }

  async #patiently<T>(what: string, read: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read();
      } catch (error) {
        if (!isLimited(error) || attempt === ATTEMPTS) throw problemOf(error, what);
        this.#budget.pauseAfter429(error.retryAfterSeconds);
      }
    }
  }
}

function rowsOf({ title }: Resource, { rows, problems: [bad] }: Page<Remote>): readonly Remote[] {
  if (bad) throw new CommandError(`The service shows ${withArticle(title)} that cannot be read: ${bad.problem}`);
  return rows;
}

function problemOf(error: unknown, what: string): unknown {
  if (isUnauthorized(error)) return new AccountFailure(`Replace the API key: ${textOf(error)}`);
  if (isForbidden(error)) return new CommandError(`Use an API key with the right to ${what}: ${textOf(error)}`);
  if (isReconcileError(error)) return new CommandError(error.message);
  if (!isGatewayError(error) || error.fault) return error;
  if (error.code === NO_API_KEY) return new AccountFailure(`Give another API key: ${textOf(error)}`);
  if (error.status === undefined) return new AccountFailure(`The account cannot be reached: ${textOf(error)}`);
  return new CommandError(`Could not ${what}: ${textOf(error)}`);
}
