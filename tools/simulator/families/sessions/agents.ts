import type { Agenda } from "../../agenda.ts";
import { commandFailed } from "../../http/refusal.ts";
import type { Row } from "../../resource/collection.ts";
import type { Store } from "../../resource/store.ts";
import type { Members } from "../../shape/members.ts";
import { stamp } from "../../shape/time.ts";
import { tunnelSessions } from "./tunnel-sessions.ts";

export type UpdateRefusal = "none_available" | "disabled" | "updating" | "awaiting_restart";

/** How the agent of a session reacts to commands. */
export interface AgentBehaviour {
  /** How long a restart takes. The agent comes back with a new session id. */
  readonly restartMs?: number;
  /** The agent does not come back after a restart. */
  readonly lostOnRestart?: boolean;
  /** How long an update takes until a restart applies it. An earlier restart cancels the update. */
  readonly updateMs?: number;
  /** The version that an update installs. Default: the next minor version. */
  readonly latestVersion?: string;
  /** Refuses every update for this reason. */
  readonly updateRefusal?: UpdateRefusal;
}

interface Agent extends AgentBehaviour {
  /** When a restart applies the requested update. */
  readonly updatedAt?: number;
}

export interface AgentsOptions {
  readonly store: Store;
  readonly agenda: Agenda;
  readonly clock: () => number;
  readonly restartMs: number;
  readonly updateMs: number;
}

const refusals: Readonly<Record<UpdateRefusal, string>> = {
  none_available: "No update is available",
  disabled: "The agent's configuration disables update checks",
  updating: "The agent is currently updating",
  awaiting_restart: "The agent already updated but has not restarted",
};

const nextMinor = (version: string): string => {
  const [major = "0", minor = "0"] = version.split(".");
  return `${major}.${Number(minor) + 1}.0`;
};

/** The agents of the tunnel sessions, and their reactions to commands. */
export class Agents {
  readonly #options: AgentsOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  connect(members: Members, agent: AgentBehaviour = {}): Row {
    const { store, clock } = this.#options;
    const { id, ...given } = members;
    const session = {
      agent_version: "3.1.0",
      credential_id: "cr_simulator",
      ip: "203.0.113.7",
      metadata: "",
      os: "linux",
      region: "us",
      started_at: stamp(clock()),
      transport: "svc/v2",
      ...given,
    };
    const row = store.add(tunnelSessions, session, typeof id === "string" ? { id } : {});
    this.#agents.set(row.id, agent);
    return row;
  }

  behave(row: Row, behaviour: AgentBehaviour): void {
    this.#agents.set(row.id, { ...this.#agents.get(row.id), ...behaviour });
  }

  restart(row: Row): void {
    if (row.members.os === "windows") throw commandFailed("Restart is not supported on Windows");
    const { agenda, clock, restartMs } = this.#options;
    const { updatedAt, ...agent } = this.#agents.get(row.id) ?? {};
    const ready = updatedAt !== undefined && updatedAt <= clock();
    const { started_at: _, ...members } = row.members;
    const next = ready ? { ...members, agent_version: latest(row, agent) } : members;
    this.stop(row);
    if (!agent.lostOnRestart) agenda.at(clock() + (agent.restartMs ?? restartMs), () => this.connect(next, agent));
  }

  stop(row: Row): void {
    this.#agents.delete(row.id);
    this.#options.store.remove(row.id);
  }

  update(row: Row): void {
    const { clock, updateMs } = this.#options;
    const agent = this.#agents.get(row.id) ?? {};
    const refusal = refusalOf(row, agent, clock());
    if (refusal) throw commandFailed(refusals[refusal]);
    this.#agents.set(row.id, { ...agent, updatedAt: clock() + (agent.updateMs ?? updateMs) });
  }

  clear(): void {
    this.#agents.clear();
  }
}

const latest = (row: Row, { latestVersion }: Agent): string =>
  latestVersion ?? nextMinor(String(row.members.agent_version));

function refusalOf(row: Row, agent: Agent, now: number): UpdateRefusal | undefined {
  if (agent.updateRefusal) return agent.updateRefusal;
  if (agent.updatedAt !== undefined) return agent.updatedAt > now ? "updating" : "awaiting_restart";
  return latest(row, agent) === row.members.agent_version ? "none_available" : undefined;
}
