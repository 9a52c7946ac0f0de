import type { ReconcileError } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";

/** One question before something is created, taken or deleted. It may read, and changes nothing. */
export interface Check<Subject, Name extends string> {
  readonly name: Name;
  /** One sentence: what it protects. docs/architecture/checks.md prints it. */
  readonly why: string;
  readonly refuse: (
    context: ReconcileContext,
    subject: Subject,
  ) => ReconcileError | undefined | Promise<ReconcileError | undefined>;
  /** Asked again right before the first byte of a change, when nothing more can be read. */
  readonly stillHolds?: (context: ReconcileContext, subject: Subject) => boolean;
}

/** Why something must not be done. */
export interface Refusal<Name extends string> {
  /** The check that is against it. */
  readonly check: Name;
  readonly error: ReconcileError;
}

/** A reason to do something. */
export interface Way<Name extends string> {
  readonly when: string;
  /** The checks that are left out then, each with the reason. */
  readonly leavesOut?: Readonly<Partial<Record<Name, string>>>;
}

/** Whether a way asks a check. */
export const asks = <Name extends string>({ leavesOut }: Way<Name>, { name }: { name: Name }): boolean =>
  leavesOut?.[name] === undefined;

/** The first refusal of a list of checks, in order. Undefined: it may be done. */
export async function firstRefusal<Subject, Name extends string>(
  checks: readonly Check<Subject, Name>[],
  way: Way<Name>,
  context: ReconcileContext,
  subject: Subject,
): Promise<Refusal<Name> | undefined> {
  for (const check of checks.filter((one) => asks(way, one))) {
    const error = await check.refuse(context, subject);
    if (error) return { check: check.name, error };
  }
  return undefined;
}
