import { isDeepStrictEqual } from "node:util";
import { shownMessage } from "../schema/columns.ts";
import type { Column } from "../schema/define.ts";
import { timestamp } from "../schema/time.ts";
import { annotationProblems } from "./annotations.ts";
import { type Condition, conditionOf, type Status } from "./object.ts";

/** `observedGeneration`: default the object's current generation. */
export type ConditionDraft = Pick<Condition, "type" | "status" | "reason" | "message" | "observedGeneration">;

/** Room for the longest message that the operator has words of its own for, with ids and names as they usually are. */
export const MESSAGE_CHARACTERS = 320;

/** The condition that tells of annotations that the operator cannot understand. It is absent when there are none. */
export const ANNOTATIONS_VALID = "AnnotationsValid";

/** The condition of type `AnnotationsValid`, if there is something to say. */
export function annotationConditions(object: Parameters<typeof annotationProblems>[0]): ConditionDraft[] {
  const problems = annotationProblems(object);
  const [message] = problems;
  if (message === undefined) return [];
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return [{ type: ANNOTATIONS_VALID, status: "False", reason: "InvalidAnnotation", message: `${message}${more}` }];
}

/** `status.columns` of a kind whose table shows nothing but `Ready`. */
export function readyColumns(
  columns: readonly Column[],
  conditions: readonly Condition[],
): NonNullable<Status["columns"]> {
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready ? { reason: ready.reason, message: shownMessage(columns, ready.message) } : {};
}

type WithConditions = { metadata: { generation: number }; status?: Pick<Status, "conditions"> | undefined };

/** The condition to write. `lastTransitionTime` changes only when the condition's `status` does. */
export function toCondition(object: WithConditions, draft: ConditionDraft, now: number): Condition {
  const { type, status, reason, message, observedGeneration = object.metadata.generation } = draft;
  const before = conditionOf(object.status, type);
  const unchanged = before?.status === status;
  return {
    type,
    status,
    reason,
    message: oneLine(message),
    lastTransitionTime: unchanged ? before.lastTransitionTime : timestamp(now),
    observedGeneration,
  };
}

function oneLine(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > MESSAGE_CHARACTERS ? `${line.slice(0, MESSAGE_CHARACTERS - 1)}…` : line;
}

/** Whether two statuses are equal. An undefined member counts as absent. */
export const isSameStatus = (before: Status | undefined, after: Status): boolean =>
  isDeepStrictEqual(withoutUnset(before ?? {}), withoutUnset(after));

const withoutUnset = (status: Status): Status =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
