import { type Clock, sleep, systemClock } from "../clock.ts";
import type { Logger } from "../log.ts";

/** The parts of an operator, as far as starting and stopping them goes. */
export interface Parts {
  /** Listens before anything else and closes late, so that probes and metrics tell about start and stop, too. */
  health?: { listen(): Promise<unknown>; close(): Promise<void> };
  informers?: readonly { start(): void; synced: Promise<void>; stop(): Promise<void> }[];
  elector?: {
    start(): void;
    elected: Promise<void>;
    lost: Promise<Error>;
    release(): Promise<void>;
    stop(): Promise<void>;
  };
  controllers?: readonly { start(hardStop: AbortSignal): void; drain(): Promise<void> }[];
  /** Begun with the controllers; aborted when they begin to drain. */
  background?: readonly ((signal: AbortSignal) => Promise<void>)[];
  recorder?: { close(): Promise<void> };
  /** Connections and the like, in the order in which they are to be closed; last of all. */
  close?: readonly (() => Promise<void>)[];
}

/** What is used of `process`. */
export interface ProcessLike {
  on(event: string, listener: (value: unknown) => void): unknown;
  off(event: string, listener: (value: unknown) => void): unknown;
  exit(code: number): unknown;
}

export interface RunOptions {
  log: Logger;
  clock?: Clock;
  /** For what is under way at a stop; default 30. The pod's termination grace period has to be longer. */
  graceSeconds?: number;
  process?: ProcessLike;
  /** Stops as SIGTERM does. */
  signal?: AbortSignal;
}

/**
 * Runs an operator from start to stop, and resolves with the exit code: 0 when all work ended in time.
 *
 * Start: health, then informers until all are synced, then the election until won, then controllers.
 * Stop, at SIGTERM or SIGINT: controllers take no more work and have the grace period to end what they do, then
 * they are aborted; informers stop; events are flushed; health closes; the lease is released, unless work is
 * still under way; connections close.
 * At once, without any of this: a second signal, a lost lease, an error that nobody handles. A signal within a second
 * of the first is the same one: npm passes Ctrl-C on to a process that has it from the terminal already.
 */
export async function run(parts: Parts, options: RunOptions): Promise<number> {
  return new Run(parts, options).run();
}

const SAME_SIGNAL_MS = 1_000;

class Run {
  readonly #parts: Parts;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #grace: number;
  readonly #process: ProcessLike;
  /** asked to stop */
  readonly #stop = new AbortController();
  /** no more waiting for work that is under way */
  readonly #hardStop = new AbortController();
  #background: Promise<unknown> = Promise.resolve();
  #signalledAt = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts, { log, clock = systemClock, graceSeconds = 30, process: given, signal }: RunOptions) {
    this.#parts = parts;
    this.#log = log;
    this.#clock = clock;
    this.#grace = graceSeconds * 1000;
    this.#process = given ?? process;
    if (signal?.aborted) this.#stop.abort();
    signal?.addEventListener("abort", () => this.#stop.abort(), { once: true, signal: this.#stop.signal });
  }

  async run(): Promise<number> {
    const listeners = Object.entries({
      SIGTERM: () => this.#signalled("SIGTERM"),
      SIGINT: () => this.#signalled("SIGINT"),
      unhandledRejection: (error: unknown) => this.#die(error, "Unhandled rejection"),
      uncaughtException: (error: unknown) => this.#die(error, "Uncaught exception"),
    });
    for (const [event, listener] of listeners) this.#process.on(event, listener);
    try {
      const failure = await this.#start().catch((error: unknown) => ({ error }));
      if (failure) this.#log.error(failure, "Could not start");
      const drained = await this.#shutDown();
      return drained && !failure ? 0 : 1;
    } finally {
      for (const [event, listener] of listeners) this.#process.off(event, listener);
    }
  }

  /** Resolves when it is time to stop, however far it got. */
  async #start(): Promise<undefined> {
    const { health, informers = [], elector, controllers = [], background = [] } = this.#parts;
    await health?.listen();
    for (const informer of informers) informer.start();
    await this.#unlessStopped(Promise.all(informers.map(({ synced }) => synced)));
    if (this.#stop.signal.aborted) return;

    elector?.start();
    elector?.lost.then((error) => this.#die(error, "Lost the lease, stopping at once"));
    await this.#unlessStopped(elector?.elected);
    if (this.#stop.signal.aborted) return;

    for (const controller of controllers) controller.start(this.#hardStop.signal);
    this.#background = Promise.all(background.map((begin) => begin(this.#stop.signal).catch(this.#backgroundFailed)));
    this.#log.info({ controllers: controllers.length }, "Started");
    await this.#unlessStopped(new Promise(() => {}));
  }

  async #shutDown(): Promise<boolean> {
    const { health, informers = [], elector, recorder, close = [] } = this.#parts;
    this.#stop.abort();
    const drained = await this.#drain();
    await Promise.all(informers.map((informer) => informer.stop()));
    await recorder?.close();
    await health?.close();
    await (drained ? elector?.release() : elector?.stop());
    for (const closing of close) await closing();
    this.#log.info({ drained }, "Stopped");
    return drained;
  }

  /** Work that was aborted has two more seconds to notice. */
  async #drain(): Promise<boolean> {
    const drains = (this.#parts.controllers ?? []).map((controller) => controller.drain());
    const work = Promise.all([...drains, this.#background]);
    if (await this.#within(this.#grace, work)) return true;
    this.#log.warn({ graceSeconds: this.#grace / 1000 }, "Aborting work that did not end in time");
    this.#hardStop.abort(new Error("The operator is stopping"));
    await this.#within(2_000, work);
    return false;
  }

  async #within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
    const over = new AbortController();
    const timeout = sleep(this.#clock, milliseconds, over.signal).then(
      () => false,
      () => true,
    );
    const ended = work.then(() => true);
    const result = await Promise.race([ended, timeout]);
    over.abort();
    return result;
  }

  async #unlessStopped(promise: Promise<unknown> | undefined): Promise<void> {
    const { signal } = this.#stop;
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) return;
    signal.addEventListener("abort", () => resolve(), { once: true });
    await Promise.race([promise, stopped]);
  }

  readonly #backgroundFailed = (error: unknown): void => {
    if (!this.#stop.signal.aborted) this.#die(error, "Background work failed");
  };

  #signalled(name: string): void {
    const now = this.#clock.now();
    if (now - this.#signalledAt < SAME_SIGNAL_MS) return;
    this.#signalledAt = now;
    if (this.#stop.signal.aborted) {
      this.#log.warn({ signal: name }, "Second signal, exiting at once");
      this.#process.exit(1);
      return;
    }
    this.#log.info({ signal: name }, "Stopping");
    this.#stop.abort();
  }

  #die(error: unknown, message: string): void {
    this.#hardStop.abort(error);
    this.#log.error({ error }, message);
    this.#process.exit(1);
  }
}
