import { faultIn, isGatewayError } from "../../gateway/errors.ts";
import type { Resource } from "../../gateway/resource.ts";
import { listFailing, listFault } from "../../objects/errors/service.ts";
import { reconcileErrorOf } from "../../objects/map-error.ts";
import { isReconcileError, type ReconcileError, type Retry } from "../../objects/reconcile-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import { timestamp } from "../../schema/time.ts";

/** A list is repeated up to a tenth earlier than the interval. */
const INTERVAL_ROOM = 0.85;

interface ListFailuresOptions {
  clock: Clock;
  /** How often each list is read, in milliseconds. */
  intervalMs: number;
  /** Called when the list of a resource has failed for longer than an interval, and when it succeeds again. */
  onChange: (resource: Resource) => void;
}

interface Failing {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly since: string;
  problem?: ReconcileError;
}

/**
 * Which lists of an account fail for longer than an interval. Without its list, nobody sees what other clients change.
 * A problem stays the same until its list succeeds, so that reporting it costs one write, however long it lasts.
 */
export class ListFailures {
  readonly #options: ListFailuresOptions;
  readonly #failing = new Map<string, Failing>();

  constructor(options: ListFailuresOptions) {
    this.#options = options;
  }

  /** Call it when a list has failed with this error, which failList has thrown. */
  failed(resource: Resource, error: unknown): void {
    // Any other error says that this process may not send.
    if (!isGatewayError(error) && !isReconcileError(error)) return;
    const failure = reconcileErrorOf(error);
    if (!failure) return;
    const { clock, intervalMs, onChange } = this.#options;
    const now = clock.now();
    const failing = this.#failing.get(resource.name) ?? { at: now, since: timestamp(clock.date().getTime()) };
    this.#failing.set(resource.name, failing);
    if (failing.problem || now - failing.at < intervalMs * INTERVAL_ROOM) return;
    failing.problem = listFailing({ of: failure, since: failing.since });
    onChange(resource);
  }

  succeeded(resource: Resource): void {
    const failing = this.#failing.get(resource.name);
    this.#failing.delete(resource.name);
    if (failing?.problem) this.#options.onChange(resource);
  }

  problemOf({ name }: Resource): ReconcileError | undefined {
    return this.#failing.get(name)?.problem;
  }

  /** That of any list; the same one as long as it lasts. */
  get problem(): ReconcileError | undefined {
    return [...this.#failing.values()].find(({ problem }) => problem)?.problem;
  }
}

interface FailingList {
  resource: Resource;
  /** Aborted when the process, or the account, is about to end. */
  signal: AbortSignal;
  onListFailed?: (error: unknown) => void;
}

/**
 * Throws what those who wait for a list get when it fails. A fault of the program would reach no status, so it becomes an
 * error that does.
 */
export const failList =
  ({ resource, signal, onListFailed }: FailingList) =>
  (cause: unknown): never => {
    const error = faultIn(cause) && !signal.aborted ? faultOf(resource, cause) : cause;
    if (!signal.aborted) onListFailed?.(error);
    throw error;
  };

function faultOf({ title }: Resource, cause: unknown): Retry {
  const what = cause instanceof Error ? cause.name : typeof cause;
  return listFault({ title, what }, { cause });
}
