import { Backoff } from "../../runtime/backoff.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import { type Logger, textOf } from "../../runtime/log.ts";

/** Seconds; as for a reflector, which calls the same API server. */
const BACKOFF = { base: 0.8, cap: 30, resetAfter: 120 };

export interface StartStepOptions<T> {
  /** For messages, such as "the id of the cluster". */
  what: string;
  /** The place, such as "namespace kube-system". */
  where: string;
  /** Called again after each failure. */
  run: (signal: AbortSignal) => Promise<T>;
  clock: Clock;
  log: Logger;
  random?: (() => number) | undefined;
}

/**
 * Something that has to succeed once before other parts start. It is repeated until it succeeds. Start and await it
 * like an informer.
 */
export class StartStep<T> {
  /** Resolves when the step has succeeded. Rejects if it is stopped before. */
  readonly synced: Promise<void>;
  readonly #options: StartStepOptions<T>;
  readonly #synced = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #result: { value: T } | undefined;
  #problem: string | undefined;

  constructor(options: StartStepOptions<T>) {
    this.#options = options;
    this.synced = this.#synced.promise;
    this.synced.catch(() => {});
  }

  get value(): T {
    if (!this.#result) throw new Error(`${this.#options.what}: not known yet`);
    return this.#result.value;
  }

  /** Why the step has not succeeded yet. Undefined: it has. */
  get reason(): string | undefined {
    return this.#result ? undefined : `${this.#options.where}: ${this.#problem ?? "not read yet"}`;
  }

  /** The last failure. Undefined: the step has not failed, or has succeeded since. */
  get problem(): string | undefined {
    return this.#problem === undefined ? undefined : this.reason;
  }

  start(): void {
    this.#running ??= this.#run(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#synced.reject(new Error(`${this.#options.what}: stopped before it was done`));
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    const backoff = new Backoff(BACKOFF, clock, random);
    while (!(await this.#try(signal)) && !signal.aborted) {
      await sleep(clock, backoff.next(), signal).catch(() => {});
    }
    if (this.#result && !signal.aborted) this.#synced.resolve();
  }

  async #try(signal: AbortSignal): Promise<boolean> {
    const { run, what, log } = this.#options;
    try {
      this.#result = { value: await run(signal) };
    } catch (error) {
      this.#problem = textOf(error);
      if (!signal.aborted) log.warn({ error, what }, "Could not start yet");
    }
    return this.#result !== undefined;
  }
}

/** Started and awaited like an informer. */
export interface Startable {
  start(): void;
  stop(): Promise<void>;
  readonly synced: Promise<void>;
  readonly reason: string | undefined;
}

/**
 * The informer, for parts that wait for its start: they do not wait while the API server refuses its list. It then
 * starts later.
 */
export const unlessRefused = (informer: Startable & { readonly settled: Promise<void> }): Startable => ({
  start: () => informer.start(),
  stop: () => informer.stop(),
  synced: informer.settled,
  get reason() {
    return informer.reason;
  },
});

/** A part that starts only after all these steps have succeeded. */
export function startedAfter(steps: readonly Pick<StartStep<unknown>, "synced">[], part: Startable): Startable {
  let stopped = false;
  const start = () => {
    if (!stopped) part.start();
  };
  return {
    start: () => void Promise.all(steps.map(({ synced }) => synced)).then(start, () => {}),
    stop() {
      stopped = true;
      return part.stop();
    },
    synced: part.synced,
    get reason() {
      return part.reason;
    },
  };
}
