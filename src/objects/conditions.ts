import { isDeepStrictEqual } from "node:util";
import { type Condition, conditionOf, type Status } from "./object.ts";

/** Without a generation it is told of the present one. */
export type ConditionDraft = Pick<Condition, "type" | "status" | "reason" | "message" | "observedGeneration">;

const MESSAGE_CHARACTERS = 200;

/** What conditions are about. */
type WithConditions = { metadata: { generation: number }; status?: Pick<Status, "conditions"> | undefined };

/** A condition that says the same as before keeps its time, and one that only changes its words does too. */
export function toCondition(object: WithConditions, told: ConditionDraft, now: number): Condition {
  const { type, status, reason, message, observedGeneration = object.metadata.generation } = told;
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

/** Kubernetes writes times without fractions of a second. */
const timestamp = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");

function oneLine(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > MESSAGE_CHARACTERS ? `${line.slice(0, MESSAGE_CHARACTERS - 1)}…` : line;
}

/** Whether two statuses say the same; a member that is undefined counts as absent. */
export const isSameStatus = (before: Status | undefined, after: Status): boolean =>
  isDeepStrictEqual(withoutUnset(before ?? {}), withoutUnset(after));

const withoutUnset = (status: Status): Status =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
