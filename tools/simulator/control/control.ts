import type { CertificateSteering } from "../certificates/course.ts";
import type { AgentBehaviour } from "../families/sessions/agents.ts";
import type { RouteId } from "../settings.ts";
import type { Members } from "../shape/members.ts";
import type { FaultOptions } from "./faults.ts";
import type { OutageKind } from "./outage.ts";
import type { RequestFilter } from "./request-filter.ts";
import type { LogFilter, LoggedRequest } from "./request-log.ts";

/** What tests see of the account and do to it, behind the back of those who use the service. */
export interface Control {
  /** Oldest first. */
  requests(filter?: LogFilter): LoggedRequest[];
  clearRequests(): void;
  count(filter?: RequestFilter): number;

  /** All of a collection (`reserved_domains`, `backends/weighted`, `https_routes`), oldest first, as answers show them. */
  objects(collection: string): Members[];
  /** As answers show it; null when there is none. */
  get(id: string): Members | null;
  /** Like `patch`, but what is left out goes back to how it is when a create leaves it out. */
  put(id: string, members: Members): Members;
  /** Writable members are in the words of requests, and checked; any other is stored as it is. */
  patch(id: string, members: Members): Members;
  /** Without asking who refers to it. */
  remove(id: string): void;
  /** Creates as somebody else would. May also give members that are otherwise read-only, such as `id`. */
  insert(collection: string, members: Members): Members;
  /** Whether nothing is left of what can be made through the interface. */
  accountIsEmpty(): boolean;
  /** Rows of each collection. */
  summary(): Record<string, number>;
  /** Back to the start: rows, log, faults, keys. */
  reset(): void;

  /** Steers the certificate job of a reserved domain or agent ingress. */
  certificate(id: string, steering: CertificateSteering): void;

  /** A tunnel session comes online; what is left out has a default. Answers the session. */
  addSession(members?: Members, behaviour?: AgentBehaviour): Members;
  removeSession(id: string): void;
  /** Changes how the agent behind the session takes commands. */
  behave(sessionId: string, behaviour: AgentBehaviour): void;

  /** An HTTPS edge route comes to exist; ids that are left out are made. */
  addRoute(route?: Partial<RouteId>): RouteId;

  fault(options: FaultOptions): void;
  clearFaults(): void;
  /** By default connections are destroyed. Control is not affected. */
  outage(on: boolean, kind?: OutageKind): void;

  readonly apiKeys: {
    /** The token answers 401 from now on. */
    revoke(token: string): void;
    accept(token: string): void;
    /** What a missing or wrong token answers from now on. Default 401. */
    refuseWith(status: 401 | 403): void;
  };
}
