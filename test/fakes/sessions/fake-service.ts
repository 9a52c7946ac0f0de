import { GatewayError } from "../../../src/gateway/errors.ts";
import type { SessionCommand } from "../../../src/gateway/resources/index.ts";
import { sessionName } from "../../../src/sessions/naming.ts";
import { labelsOf, type Session, type SessionObject } from "../../../src/sessions/session.ts";

/** What happens to a request, and whether its answer arrives. */
export type RequestOutcome = "done" | "done, answer lost" | "not done, answer lost" | "limited" | "unsent";

export interface Received {
  request: SessionCommand;
  id: string;
  at: number;
}

export const session = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  os: "linux",
  region: "eu",
  ip: "203.0.113.7",
  transport: "ssh",
  agent_version: "3.1.0",
  started_at: "2026-01-01T00:00:00Z",
  credential: { id: "cr_1" },
  ...more,
});

/** The object of a session, as the API server would have it. */
export function mirrored(of: Session, more: object = {}, account?: string): SessionObject {
  const labels = Object.entries(labelsOf(of, account)).filter(
    (label): label is [string, string] => label[1] !== undefined,
  );
  const name = sessionName(of.id, account);
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: "TunnelSession",
    metadata: { namespace: "gateway", name, uid: `uid-${name}`, labels: Object.fromEntries(labels), ...more },
    spec: { id: of.id },
  };
}

/** Sessions and their agents. An agent reconnects at once after a restart. */
export class FakeService {
  readonly received: Received[] = [];
  readonly #sessions = new Map<string, Session>();
  readonly #updated = new Set<string>();
  readonly #now: () => number;
  #made = 0;

  constructor(now: () => number, sessions: readonly Session[]) {
    this.#now = now;
    for (const one of sessions) this.#sessions.set(one.id, one);
  }

  get online(): Session[] {
    return [...this.#sessions.values()];
  }

  /** Throws what the gateway's client would throw. */
  handle(request: SessionCommand, id: string, outcome: RequestOutcome): void {
    const fail = (kind: GatewayError["kind"], status?: number, serviceMessage?: string) =>
      new GatewayError({ kind, method: "POST", route: `/${request}`, problem: kind, status, serviceMessage });
    if (outcome === "unsent") throw fail("unsent");
    if (outcome === "limited") throw fail("limited", 429);
    if (outcome === "not done, answer lost") throw fail("unknown");
    this.received.push({ request, id, at: this.#now() });
    const refusal = this.#do(request, id);
    if (outcome === "done, answer lost") throw fail("unknown");
    if (refusal) throw fail("refused", refusal.status, refusal.message);
  }

  #do(request: SessionCommand, id: string): { status: number; message?: string } | undefined {
    const found = this.#sessions.get(id);
    if (!found) return { status: 404 };
    if (request === "update") {
      if (this.#updated.has(id)) return { status: 400, message: "The agent already updated but has not restarted" };
      this.#updated.add(id);
      return undefined;
    }
    this.#sessions.delete(id);
    if (request === "stop") return undefined;
    const next = { ...found, id: `ts_new${++this.#made}`, started_at: new Date(this.#now()).toISOString() };
    this.#sessions.set(next.id, next);
    return undefined;
  }
}
