import type { SessionCommand } from "../gateway/resources/index.ts";
import type { CommandName, Phase, ResultReason } from "../kinds/agent-command.ts";
import type { Condition, Status } from "../objects/object.ts";
import type { KubeObject } from "../runtime/object.ts";

export interface CommandSpec {
  command: CommandName;
  accountRef?: { name: string };
  sessionRef?: { name?: string; id?: string };
  selector?: { matchLabels: Readonly<Record<string, string>> };
  maxConcurrent: number;
  ttlSecondsAfterFinished?: number;
}

/** The state of one session of a command. Times are RFC 3339. */
export interface SessionResult {
  id: string;
  name: string;
  phase: Phase;
  reason?: ResultReason | undefined;
  message?: string | undefined;
  newSession?: { id: string; name: string } | undefined;
  agent?: string | undefined;
  sending?: SessionCommand | undefined;
  attempts?: number | undefined;
  sentAt?: string | undefined;
  restartAfter?: string | undefined;
  startedSince?: string | undefined;
  notThese?: readonly string[] | undefined;
}

export type CommandStatus = {
  startedAt?: string | undefined;
  completedAt?: string | undefined;
  completions?: string | undefined;
  total?: number | undefined;
  active?: number | undefined;
  succeeded?: number | undefined;
  skipped?: number | undefined;
  failed?: number | undefined;
  unknown?: number | undefined;
  sessions?: readonly SessionResult[] | undefined;
  observedGeneration?: number;
  conditions?: readonly Condition[];
  columns?: Status["columns"];
};

export interface CommandObject extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string; uid: string; generation: number; resourceVersion: string };
  spec: CommandSpec;
  status?: CommandStatus;
}

const results: ReadonlySet<Phase> = new Set<Phase>(["Succeeded", "Skipped", "Failed", "Unknown"]);

export const hasResult = ({ phase }: SessionResult): boolean => results.has(phase);

/** A request to the agent is under way, or the agent is restarting. */
export const isActive = (session: SessionResult): boolean => session.phase !== "Pending" && !hasResult(session);

export const restarts = ({ command }: CommandSpec): boolean => command === "Restart" || command === "UpdateAndRestart";
