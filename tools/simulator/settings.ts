import { randomInt } from "node:crypto";
import type { LoggedRequest } from "./control/request-log.ts";

export interface RouteId {
  readonly edgeId: string;
  readonly routeId: string;
}

export interface SimulatorOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: any free port. */
  readonly port?: number | undefined;
  /** The token that authenticates from the start. Default: a random one. */
  readonly apiKey?: string | undefined;
  /** Rows in a page of a list. Default 100. */
  readonly pageSize?: number | undefined;
  /** Makes ids, tokens and chances repeatable. Default: a different one each time. */
  readonly seed?: number | undefined;
  /** Added before each request is handled. */
  readonly latencyMs?: number | undefined;
  /** Milliseconds since the epoch, for certificate jobs and agents. Latency and delays pass in real time. */
  readonly clock?: (() => number) | undefined;
  /** How far the clock is ahead: that of `Date` in answers, and of all that the service dates. Default 0. */
  readonly clockOffsetMs?: number | undefined;
  /**
   * How long it takes until a certificate job starts, during which the answers show a policy and no job, and how long
   * the job runs. Defaults 0 and 300.
   */
  readonly certificates?:
    | {
        readonly startMs?: number | undefined;
        readonly provisionMs?: number | undefined;
        /** A DNS server, `address:port`: a job succeeds only if it has the CNAME record, and looks again until then. */
        readonly resolver?: string | undefined;
      }
    | undefined;
  /** How long an agent takes to come back, and to update itself. Defaults 300 and 10,000. */
  readonly sessions?: { readonly restartMs?: number | undefined; readonly updateMs?: number | undefined } | undefined;
  /** Whether operations that the API page does not show are served. Otherwise they answer 405. Default true. */
  readonly undocumented?: boolean | undefined;
  /** Requests beyond this number within a minute are answered 429. Default: no limit. */
  readonly rateLimitPerMinute?: number | undefined;
  /** Lists show the account as it was this long ago. Default 0. */
  readonly listLagMs?: number | undefined;
  /**
   * How a page is addressed: by the last row of the page before, or by the number of rows before it. With numbers, a row
   * that is removed while the pages are read shifts the others, and one of them is on no page. Default `row`.
   */
  readonly paging?: "row" | "number" | undefined;
  /** The status of a DELETE of something in use. Default 400. */
  readonly inUseStatus?: 400 | 409 | undefined;
  /** What a GET of a module that was never set answers: 404, or 200 with `null`. Default 404. */
  readonly unsetModule?: 404 | 200 | undefined;
  /** What the messages of errors quote of the body of the request. Default: nothing. */
  readonly quoteInErrors?: ((body: string) => string) | undefined;
  /** Answers repeat all that was sent for a row, in a member `x_echo`. Default false. */
  readonly echo?: boolean | undefined;
  /** Members that answers leave out, of any resource. Default: none. */
  readonly unanswered?: readonly string[] | undefined;
  /** Members that lists leave out and a GET shows, of any resource. Default: none. */
  readonly unlisted?: readonly string[] | undefined;
  /** Members that an update is refused for with 400, of any resource. Default: none. */
  readonly refusedOnUpdate?: readonly string[] | undefined;
  /** Members that are refused in one update even when one of them is null. Default: none. */
  readonly refusedTogether?: readonly string[] | undefined;
  /** HTTPS edge routes that exist from the start. */
  readonly routes?: readonly RouteId[] | undefined;
  /** How many requests the log remembers. Default 100,000. */
  readonly logLimit?: number | undefined;
  /** Called with each request right after it was handled, before the account can change again. */
  readonly onHandled?: ((request: LoggedRequest) => void) | undefined;
}

export interface Settings {
  readonly pageSize: number;
  readonly seed: number;
  readonly latencyMs: number;
  readonly clock: () => number;
  readonly startMs: number;
  readonly provisionMs: number;
  readonly resolver: string | undefined;
  readonly restartMs: number;
  readonly updateMs: number;
  readonly undocumented: boolean;
  readonly rateLimitPerMinute: number;
  readonly listLagMs: number;
  readonly paging: "row" | "number";
  readonly inUseStatus: 400 | 409;
  readonly unsetModule: 404 | 200;
  readonly quoteInErrors: ((body: string) => string) | undefined;
  readonly echo: boolean;
  readonly unanswered: readonly string[];
  readonly unlisted: readonly string[];
  readonly refusedOnUpdate: readonly string[];
  readonly refusedTogether: readonly string[];
  readonly routes: readonly RouteId[];
  readonly logLimit: number;
  readonly onHandled: (request: LoggedRequest) => void;
}

/** Options that are left out have their defaults. */
export function settingsOf(options: SimulatorOptions): Settings {
  const { certificates, sessions, clock = Date.now, clockOffsetMs = 0, ...others } = options;
  const defaults: Settings = {
    pageSize: 100,
    seed: randomInt(2 ** 32 - 1),
    latencyMs: 0,
    clock: () => clock() + clockOffsetMs,
    startMs: 0,
    provisionMs: 300,
    resolver: undefined,
    restartMs: 300,
    updateMs: 10_000,
    undocumented: true,
    rateLimitPerMinute: Number.POSITIVE_INFINITY,
    listLagMs: 0,
    paging: "row",
    inUseStatus: 400,
    unsetModule: 404,
    quoteInErrors: undefined,
    echo: false,
    unanswered: [],
    unlisted: [],
    refusedOnUpdate: [],
    refusedTogether: [],
    routes: [],
    logLimit: 100_000,
    onHandled: () => undefined,
  };
  const given = Object.entries({ ...others, ...certificates, ...sessions }).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
