import type { IncomingHttpHeaders } from "node:http";
import { matches, type RequestFilter } from "./request-filter.ts";

export interface LoggedRequest {
  readonly seq: number;
  /** Milliseconds since the epoch, by the simulator's clock. */
  readonly time: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The status of the answer, even if the answer did not arrive; null before there is one. */
  readonly status: number | null;
  /** Without the credential. */
  readonly headers: IncomingHttpHeaders;
  /** Undefined when there was none, or it was not JSON. */
  readonly body: unknown;
  /** Whether the service handled it. If it did not, the request had no effect. */
  readonly handled: boolean;
  /** Why it failed: the action of the fault, as JSON, or `outage`. */
  readonly fault?: string;
}

export type MutableRequest = { -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] };

export interface LogFilter extends RequestFilter {
  readonly status?: number;
  readonly handled?: boolean;
  /** Only requests after this `seq`. */
  readonly after?: number;
}

/** The last requests, oldest first. */
export class RequestLog {
  readonly #limit: number;
  #entries: MutableRequest[] = [];
  #sequence = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The entry may be filled in later. */
  add(given: Omit<LoggedRequest, "seq" | "status" | "handled" | "body" | "fault">): MutableRequest {
    const entry: MutableRequest = { ...given, seq: ++this.#sequence, status: null, body: undefined, handled: false };
    this.#entries.push(entry);
    if (this.#entries.length > this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit);
    return entry;
  }

  read(filter: LogFilter = {}): LoggedRequest[] {
    const { status, handled, after = 0 } = filter;
    return this.#entries
      .filter((entry) => entry.seq > after && matches(filter, entry))
      .filter((entry) => status === undefined || entry.status === status)
      .filter((entry) => handled === undefined || entry.handled === handled)
      .slice(-this.#limit)
      .map((entry) => ({ ...entry }));
  }

  clear(): void {
    this.#entries = [];
  }
}
