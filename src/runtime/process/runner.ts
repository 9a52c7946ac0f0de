import { type Clock, sleep, systemClock } from "../clock.ts";
import type { Logger } from "../log.ts";

/** The parts of an operator that are started and stopped. */
export interface Parts {
  /** Started first and closed late, so that probes and metrics are served during start and stop too. */
  health?: { listen(): Promise<unknown>; close(): Promise<void> };
  informers?: readonly { start(): void; synced: Promise<void>; stop(): Promise<void> }[];
  elector?: {
    start(): void;
    elected: Promise<void>;
    lost: Promise<Error>;
    release(): Promise<void>;
    stop(): Promise<void>;
  };
  /** Started when the election is won. Controllers start when all of them are done. */
  preparations?: readonly { start(): void; synced: Promise<void>; stop(): Promise<void> }[];
  controllers?: readonly { start(hardStop: AbortSignal): void; drain(): Promise<void> }[];
  /** Started with the controllers, and aborted when the controllers start to drain. */
  background?: readonly ((signal: AbortSignal) => Promise<void>)[];
  recorder?: { close(): Promise<void> };
  /** Called last, one after the other. */
  close?: readonly (() => Promise<void>)[];
}

/** The members of `process` that are used. */
export interface ProcessLike {
  on(event: string, listener: (value: unknown) => void): unknown;
  off(event: string, listener: (value: unknown) => void): unknown;
  exit(code: number): unknown;
}

export interface RunOptions {
  log: Logger;
  clock?: Clock;
  /** Time for running work to end at a stop; default 30. The pod's termination grace period must be longer. */
  graceSeconds?: number;
  process?: ProcessLike;
  /** Has the effect of SIGTERM. */
  signal?: AbortSignal;
}

/**
 * Runs an operator from start to stop, and resolves with the exit code: 0 when all work ended in time.
 *
 * Start: health; informers, until all are synced; the election, until it is won; preparations, until all are done;
 * controllers.
 *
 * Stop, at SIGTERM or SIGINT: controllers take no more work. Running work has the grace period to end, and is then
 * aborted. Informers stop, events are written, health closes. The lease is released, unless work is still running. Then
 * everything else closes, such as connections. A part that does not close in 20 seconds ends the process, and the lease
 * expires: a process that waited for it would renew the lease and do nothing.
 *
 * A second signal, a lost lease or an unhandled error ends the process at once, without these steps.
 */
export async function run(parts: Parts, options: RunOptions): Promise<number> {
  return new Run(parts, options).run();
}

/**
 * Signals this close together count as one: npm passes Ctrl-C on to a process that the terminal has sent it to already.
 */
const SAME_SIGNAL_MS = 1_000;

/** The longest that the parts may take to close, after running work has ended. */
const CLOSING_MS = 20_000;

class Run {
  readonly #parts: Parts;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #grace: number;
  readonly #process: ProcessLike;
  /** Aborted at the request to stop. */
  readonly #stop = new AbortController();
  /** Aborted when running work must not go on. */
  readonly #hardStop = new AbortController();
  #background: Promise<unknown> = Promise.resolve();
  #signalledAt = Number.NEGATIVE_INFINITY;
  /** The part that is closing, for the log. */
  #closing = "";

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
      SIGTERM: () => this.#onSignal("SIGTERM"),
      SIGINT: () => this.#onSignal("SIGINT"),
      unhandledRejection: (error: unknown) => this.#exitAtOnce(error, "Unhandled rejection"),
      uncaughtException: (error: unknown) => this.#exitAtOnce(error, "Uncaught exception"),
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

  /** Resolves at the request to stop, however far the start has got. */
  async #start(): Promise<undefined> {
    const { health, informers = [], elector, preparations = [], controllers = [], background = [] } = this.#parts;
    await health?.listen();
    for (const informer of informers) informer.start();
    await this.#unlessStopped(Promise.all(informers.map(({ synced }) => synced)));
    if (this.#stop.signal.aborted) return;

    elector?.start();
    elector?.lost.then((error) => this.#exitAtOnce(error, "Lost the lease, stopping at once"));
    await this.#unlessStopped(elector?.elected);
    if (this.#stop.signal.aborted) return;

    for (const preparation of preparations) preparation.start();
    await this.#unlessStopped(Promise.all(preparations.map(({ synced }) => synced)));
    if (this.#stop.signal.aborted) return;

    for (const controller of controllers) controller.start(this.#hardStop.signal);
    this.#background = Promise.all(background.map((begin) => begin(this.#stop.signal).catch(this.#backgroundFailed)));
    this.#log.info({ controllers: controllers.length }, "Started");
    await this.#unlessStopped(new Promise(() => {}));
  }

  async #shutDown(): Promise<boolean> {
    this.#stop.abort();
    const drained = await this.#drain();
    if (await this.#within(CLOSING_MS, this.#close(drained))) {
      this.#log.info({ drained }, "Stopped");
      return drained;
    }
    this.#exitAtOnce(new Error(`${this.#closing} did not close within ${CLOSING_MS / 1000} s`), "Could not stop");
    return false;
  }

  async #close(drained: boolean): Promise<void> {
    const { health, informers = [], elector, recorder, close = [] } = this.#parts;
    const steps: [string, () => Promise<unknown> | undefined][] = [
      ["A watch", () => Promise.all(informers.map((informer) => informer.stop()))],
      ["The writer of events", () => recorder?.close()],
      ["The server of probes and metrics", () => health?.close()],
      ["The leader election", () => (drained ? elector?.release() : elector?.stop())],
      ...close.map((closing): [string, () => Promise<unknown>] => ["A part that closes last", closing]),
    ];
    for (const [part, closing] of steps) {
      this.#closing = part;
      await closing();
    }
  }

  /** False when work did not end in the grace period. Aborted work has two more seconds to end. */
  async #drain(): Promise<boolean> {
    const { preparations = [], controllers = [] } = this.#parts;
    const prepared = preparations.map((preparation) => preparation.stop());
    const drains = controllers.map((controller) => controller.drain());
    const work = Promise.all([...prepared, ...drains, this.#background]);
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
    if (!this.#stop.signal.aborted) this.#exitAtOnce(error, "Background work failed");
  };

  #onSignal(name: string): void {
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

  #exitAtOnce(error: unknown, message: string): void {
    this.#hardStop.abort(error);
    this.#log.error({ error }, message);
    this.#process.exit(1);
  }
}
