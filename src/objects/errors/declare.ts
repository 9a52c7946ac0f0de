import type { Reason } from "../../schema/contract.ts";
import {
  Blocked,
  isReconcileError,
  type ReconcileError,
  type ReportOptions,
  Retry,
  Waiting,
} from "../reconcile-error.ts";

/**
 * One thing that the operator may have to report, with a text that has holes for values. Calling it makes the error. All
 * of them are in this folder, so that docs/troubleshooting.md can have each, with its examples.
 */
export interface DeclaredError<Values extends object, Made extends ReconcileError = ReconcileError> {
  (values: Values, options?: ReportOptions): Made;
  /** Undefined where the values say the reason. */
  readonly reason: Reason | undefined;
  readonly textOf: (values: Values) => string;
  /** For docs/troubleshooting.md. */
  readonly examples: readonly Values[];
  /** The values of an error that this declaration has made. Undefined for any other. */
  readonly valuesOf: (error: unknown) => Values | undefined;
}

type NewError<Made> = new (reason: Reason, message: string, options?: ReportOptions) => Made;

const declaring =
  <Made extends ReconcileError>(Type: NewError<Made>) =>
  /** `textOf`: one line that begins with what to do. */
  <Values extends object>(
    reason: Reason | ((values: Values) => Reason),
    textOf: (values: Values) => string,
    ...examples: readonly [NoInfer<Values>, ...NoInfer<Values>[]]
  ): DeclaredError<Values, Made> => {
    const isFixed = typeof reason === "string";
    const declared = (values: Values, options: ReportOptions = {}): Made =>
      new Type(isFixed ? reason : reason(values), textOf(values), { ...options, said: { by: declared, values } });
    return Object.assign(declared, {
      reason: isFixed ? reason : undefined,
      textOf,
      examples,
      valuesOf: (error: unknown): Values | undefined =>
        isReconcileError(error) && error.said?.by === declared ? (error.said.values as Values) : undefined,
    });
  };

/** Something that the object needs does not exist yet. */
export const waiting = declaring(Waiting);

/** No progress until a person changes something. */
export const blocked = declaring(Blocked);

/** Something failed that may succeed the next time. */
export const retry = declaring(Retry);
