import { AgentCommand } from "../kinds/agent-command.ts";
import { switchProblem } from "../objects/annotations.ts";
import { annotationConditions, type ConditionDraft, readyColumns, toCondition } from "../objects/conditions.ts";
import { Blocked, type ReconcileError } from "../objects/reconcile-error.ts";
import { timestamp } from "../schema/time.ts";
import { type CommandObject, type CommandStatus, isActive, type SessionResult } from "./command.ts";
import { isFinished } from "./progress.ts";

/** What the status of a command says. */
export type CommandState =
  /** The command can never start. The message begins with what to do. */
  | { refusal: string }
  /** `error`: why the command makes no progress now. `paused`: no request is sent. */
  | { sessions: readonly SessionResult[] | undefined; error?: ReconcileError | undefined; paused?: boolean };

/** The whole status of a command. Equal to the status before if nothing has changed. */
export function commandStatus(command: CommandObject, state: CommandState, now: number): CommandStatus {
  const before = command.status ?? {};
  const sessions = "refusal" in state ? [] : state.sessions;
  const finished = sessions !== undefined && isFinished(sessions);
  const time = timestamp(now);
  const conditions = [...conditionsOf(command, state), ...annotationConditions(command)].map((draft) =>
    toCondition(command, draft, now),
  );
  return {
    ...(sessions && { startedAt: before.startedAt ?? time, ...counted(sessions), sessions }),
    ...(finished && { completedAt: before.completedAt ?? time }),
    observedGeneration: command.metadata.generation,
    conditions,
    columns: readyColumns(AgentCommand.columns, conditions),
  };
}

function counted(sessions: readonly SessionResult[]) {
  const count = (phase: string) => sessions.filter((session) => session.phase === phase).length;
  const [succeeded, skipped] = [count("Succeeded"), count("Skipped")];
  return {
    completions: `${succeeded + skipped}/${sessions.length}`,
    total: sessions.length,
    active: sessions.filter(isActive).length,
    succeeded,
    skipped,
    failed: count("Failed"),
    unknown: count("Unknown"),
  };
}

function conditionsOf(command: CommandObject, state: CommandState): ConditionDraft[] {
  if ("refusal" in state) return failed(state.refusal);
  const { sessions, error, paused } = state;
  if (sessions && isFinished(sessions)) return finished(sessions);
  const { reason, message } = error ?? { reason: "Running" as const, message: progressOf(sessions ?? []) };
  return [
    { type: "Ready", status: "False", reason, message },
    { type: error instanceof Blocked ? "Stalled" : "Reconciling", status: "True", reason, message },
    ...(paused ? [pausedBy(command)] : []),
  ];
}

const pausedCondition: ConditionDraft = {
  type: "Paused",
  status: "True",
  reason: "Paused",
  message: "Remove the annotation tunnelgateway.dev/paused to go on: nothing more is sent",
};

const pausedBy = (command: CommandObject): ConditionDraft => ({
  ...pausedCondition,
  message: switchProblem(command, "paused") ?? pausedCondition.message,
});

function progressOf(sessions: readonly SessionResult[]): string {
  const { completions, active } = counted(sessions);
  return `Commanding the agents, no action is needed: ${completions} done, ${active} under way`;
}

function finished(sessions: readonly SessionResult[]): ConditionDraft[] {
  const { succeeded, skipped, failed: failures, unknown } = counted(sessions);
  const bad = sessions.find(({ phase }) => phase === "Unknown") ?? sessions.find(({ phase }) => phase === "Failed");
  if (bad) {
    const numbers = sessions.length > 1 ? ` (${failures} failed, ${unknown} unknown of ${sessions.length})` : "";
    return failed(`Look at session ${bad.id}: ${bad.reason}${numbers}: ${bad.message}`);
  }
  const message = skipped > 0 ? `${succeeded} done, ${skipped} had nothing to do` : `${succeeded} done`;
  return [
    { type: "Ready", status: "True", reason: "Completed", message },
    { type: "Complete", status: "True", reason: "Completed", message },
  ];
}

const failed = (message: string): ConditionDraft[] => [
  { type: "Ready", status: "False", reason: "CommandFailed", message },
  { type: "Failed", status: "True", reason: "CommandFailed", message },
  { type: "Stalled", status: "True", reason: "CommandFailed", message },
];
