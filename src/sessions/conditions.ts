import { toCondition } from "../objects/conditions.ts";
import { Blocked, type ReconcileError } from "../objects/reconcile-error.ts";
import type { Reason } from "../schema/contract.ts";
import { type CommandObject, type CommandStatus, isActive, type SessionResult } from "./command.ts";
import { isFinished } from "./progress.ts";

/** Where a command stands. */
export type Standing =
  /** It can never begin. The message begins with what to do. */
  | { refusal: string }
  /** `trouble`: what keeps it from going on now. `paused`: nothing more is sent. */
  | { sessions: readonly SessionResult[] | undefined; trouble?: ReconcileError | undefined; paused?: boolean };

interface Told {
  type: string;
  status: "True" | "False";
  reason: Reason;
  message: string;
}

/** The whole status of a command. Equal to the one before when nothing has changed. */
export function commandStatus(command: CommandObject, standing: Standing, now: number): CommandStatus {
  const before = command.status ?? {};
  const sessions = "refusal" in standing ? [] : standing.sessions;
  const finished = sessions !== undefined && isFinished(sessions);
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    ...(sessions && { startedAt: before.startedAt ?? time, ...counted(sessions), sessions }),
    ...(finished && { completedAt: before.completedAt ?? time }),
    observedGeneration: command.metadata.generation,
    conditions: tell(standing).map((told) => toCondition(command, told, now)),
  };
}

function counted(sessions: readonly SessionResult[]) {
  const count = (phase: string) => sessions.filter((session) => session.phase === phase).length;
  const [succeeded, skipped] = [count("Succeeded"), count("Skipped")];
  return {
    completions: `${succeeded + skipped}/${sessions.length}`,
    total: sessions.length,
    active: sessions.filter(isActive).length,
    ...{ succeeded, skipped },
    failed: count("Failed"),
    unknown: count("Unknown"),
  };
}

function tell(standing: Standing): Told[] {
  if ("refusal" in standing) return failed(standing.refusal);
  const { sessions, trouble, paused } = standing;
  if (sessions && isFinished(sessions)) return finished(sessions);
  const { reason, message } = trouble ?? { reason: "Running" as const, message: progressOf(sessions ?? []) };
  return [
    { type: "Ready", status: "False", reason, message },
    { type: trouble instanceof Blocked ? "Stalled" : "Reconciling", status: "True", reason, message },
    ...(paused ? [pausedTold] : []),
  ];
}

const pausedTold: Told = {
  type: "Paused",
  status: "True",
  reason: "Paused",
  message: "Remove the annotation tunnelgateway.dev/paused to go on: nothing more is sent",
};

function progressOf(sessions: readonly SessionResult[]): string {
  const { completions, active } = counted(sessions);
  return `Commanding the agents, no action is needed: ${completions} done, ${active} under way`;
}

function finished(sessions: readonly SessionResult[]): Told[] {
  const { succeeded, skipped, failed: lost, unknown } = counted(sessions);
  const bad = sessions.find(({ phase }) => phase === "Unknown") ?? sessions.find(({ phase }) => phase === "Failed");
  if (bad) {
    const numbers = sessions.length > 1 ? ` (${lost} failed, ${unknown} unknown of ${sessions.length})` : "";
    return failed(`Look at session ${bad.id}: ${bad.reason}${numbers}: ${bad.message}`);
  }
  const message = skipped > 0 ? `${succeeded} done, ${skipped} had nothing to do` : `${succeeded} done`;
  return [
    { type: "Ready", status: "True", reason: "Completed", message },
    { type: "Complete", status: "True", reason: "Completed", message },
  ];
}

const failed = (message: string): Told[] => [
  { type: "Ready", status: "False", reason: "CommandFailed", message },
  { type: "Failed", status: "True", reason: "CommandFailed", message },
  { type: "Stalled", status: "True", reason: "CommandFailed", message },
];
