import { recreating, replacements } from "./replacements.ts";
import type { StepName } from "./steps.ts";
import { subjects } from "./subjects.ts";

/** Requests that several objects share: kill-again.test.ts kills at the first, kill-delete.test.ts at the others. */
export const shared = ["LIST", "kind", "namespace"] as const satisfies readonly StepName[];

/** All steps at which some test kills. */
export const killed: readonly StepName[] = [
  ...subjects.flatMap(({ steps }) => Object.values(steps).flat()),
  ...replacements.flatMap(({ steps }) => steps),
  ...recreating,
  ...shared,
];
