import { kinds } from "../../../src/kinds/index.ts";
import { recordedRecreating, replacements } from "./replacements.ts";
import { type StepName, type StepType, stepTypeOf } from "./steps.ts";
import { subjects } from "./subjects.ts";

/** Requests that several objects share: kill-again.test.ts kills at the first two, kill-delete.test.ts at the others. */
const shared = ["LIST", "account", "kind", "namespace"] as const satisfies readonly StepName[];

/** An operation on one kind, with the steps at which it is killed. */
interface KilledOperation {
  readonly operation: string;
  readonly kind: string;
  /** Whether its metadata has no room for a mark. */
  readonly opaque: boolean;
  readonly steps: readonly StepName[];
}

const isOpaque = (metadata: unknown): boolean => typeof metadata === "string" && !metadata.startsWith("{");

export const killedOperations: readonly KilledOperation[] = [
  ...subjects.flatMap(({ kind, spec, steps }) =>
    Object.entries(steps).map(([operation, taken]) => ({
      operation,
      kind,
      steps: taken,
      opaque: isOpaque(spec("any")["metadata"]),
    })),
  ),
  ...replacements.map(({ kind, steps, manifests }) => ({
    operation: "replace",
    kind,
    steps,
    opaque: manifests("any").some(({ spec }) => isOpaque(spec?.metadata)),
  })),
  { operation: "replace", kind: "ReservedDomain", opaque: false, steps: recordedRecreating },
];

/** How a remote is found again after a crash. Each type of kind has its own way. */
export function lookupMethodOf({ kind, opaque }: Pick<KilledOperation, "kind" | "opaque">): string {
  const { naturalKey, output, location } = kinds.find((one) => one.kind === kind) ?? {};
  if (location?.type !== "collection") return `${location?.type}`;
  if (output?.shownOnce) return "shown once";
  if (naturalKey) return "natural key";
  return opaque ? "no mark" : "mark";
}

/** The types of all steps at which some test kills the operator. */
export const killedStepTypes: ReadonlySet<StepType> = new Set(
  [...killedOperations.flatMap(({ steps }) => steps), ...shared].map((step) => stepTypeOf(step)),
);
