import type { Random } from "../random.ts";
import { matches, type RequestFilter, type RequestLine } from "./request-filter.ts";

/** The caller gets this answer. A body that is a string is sent as it is. */
interface GivenAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long after this answer the service handles the request. 0: before it. Default: never. */
  readonly handledAfterMs?: number;
}

export type FaultAction =
  | GivenAnswer
  /** The service handles the request after this time, even if the caller has disconnected by then. */
  | { readonly delayMs: number }
  /** The connection is destroyed before the request is handled, or instead of the answer. */
  | { readonly cut: "before" | "after" }
  /** The service handles the request; the connection is destroyed in the middle of the answer's body. */
  | { readonly truncate: true }
  /** The service handles the request; its answer has the right status and a page of HTML as its body. */
  | { readonly garbage: true }
  | { readonly rateLimit: { readonly retryAfterSeconds: number } }
  /** There is never an answer. With `after` the service has handled the request. */
  | { readonly hang: true | "after" };

export interface FaultOptions extends RequestFilter {
  /** The number of the first matching request that fails, counted from 1. Default 1. */
  readonly nth?: number;
  /** How many matching requests fail from then on. Default 1. */
  readonly times?: number;
  /** The probability that a matching request fails. Default 1. */
  readonly probability?: number;
  readonly action: FaultAction;
}

interface Fault {
  readonly options: FaultOptions;
  seen: number;
  left: number;
}

/** The faults that are set, in the order in which they were added. */
export class Faults {
  readonly #random: Random;
  #faults: Fault[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(options: FaultOptions): void {
    this.#faults.push({ options, seen: 0, left: options.times ?? 1 });
  }

  /** The action of the first fault that hits this request. */
  hit(request: RequestLine): FaultAction | undefined {
    const fault = this.#faults.filter(({ options }) => matches(options, request)).find((one) => this.#fires(one));
    if (fault?.left === 0) this.#faults = this.#faults.filter((one) => one !== fault);
    return fault?.options.action;
  }

  clear(): void {
    this.#faults = [];
  }

  #fires(fault: Fault): boolean {
    const { nth = 1, probability = 1 } = fault.options;
    if (++fault.seen < nth) return false;
    if (probability < 1 && this.#random.fraction() >= probability) return false;
    fault.left--;
    return true;
  }
}
