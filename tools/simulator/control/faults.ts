import type { Random } from "../random.ts";
import { matches, type RequestFilter, type RequestLine } from "./request-filter.ts";

export type FaultAction =
  /** Answered without being handled. A body that is a string is sent as it is. */
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Handled so much later, even when the caller has gone by then. */
  | { readonly delayMs: number }
  /** The connection is destroyed before the request is handled, or instead of the answer. */
  | { readonly cut: "before" | "after" }
  /** Handled; the connection is destroyed in the middle of the answer's body. */
  | { readonly truncate: true }
  /** Handled; the answer has the status of success and a page of HTML. */
  | { readonly garbage: true }
  | { readonly rateLimit: { readonly retryAfterSeconds: number } }
  /** No answer at all: without being handled, or (`after`) although it was. */
  | { readonly hang: true | "after" };

export interface FaultOptions extends RequestFilter {
  /** The first matching request that is hit, counted from 1. */
  readonly nth?: number;
  /** How many matching requests are hit from then on. Default 1. */
  readonly times?: number;
  /** The chance of each matching request to be hit. Default 1. */
  readonly probability?: number;
  readonly action: FaultAction;
}

interface Fault {
  readonly options: FaultOptions;
  seen: number;
  left: number;
}

/** The faults that wait for requests, in the order in which they were set. */
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
