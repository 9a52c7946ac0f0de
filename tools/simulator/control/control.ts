import type { ForcedCertificateState } from "../certificates/jobs.ts";
import type { AgentBehaviour } from "../families/sessions/agents.ts";
import type { RouteId } from "../settings.ts";
import type { Members } from "../shape/members.ts";
import type { FaultOptions } from "./faults.ts";
import type { OutageKind } from "./outage.ts";
import type { LogFilter, LoggedRequest } from "./request-log.ts";

/** Reads and changes the account without the API, for tests. Also makes the service fail. */
export interface Control {
  /** Oldest first. */
  requests(filter?: LogFilter): LoggedRequest[];
  clearRequests(): void;
  count(filter?: LogFilter): number;

  /** All of a collection (`reserved_domains`, `backends/weighted`, `https_routes`), oldest first, as answers show them. */
  objects(collection: string): Members[];
  /** As answers show it; null when there is none. */
  get(id: string): Members | null;
  /** Like `patch`, but members that are left out get the value that they have after a create without them. */
  put(id: string, members: Members): Members;
  /** Members that requests can write have the names and checks of requests. Any other member is stored as it is. */
  patch(id: string, members: Members): Members;
  /** Also removes something that is in use. */
  remove(id: string): void;
  /** Creates as another user of the account would. Can also set read-only members, such as `id`. */
  insert(collection: string, members: Members): Members;
  /** Whether there is nothing that can be created through the API. */
  accountIsEmpty(): boolean;
  /** Rows of each collection. */
  summary(): Record<string, number>;
  /** Resets rows, log, faults and keys. */
  reset(): void;

  /** Sets the state of the certificate job of a reserved domain or agent ingress. */
  certificate(id: string, forced: ForcedCertificateState): void;

  /** Starts a tunnel session, and returns it. Members that are left out have defaults. */
  addSession(members?: Members, behaviour?: AgentBehaviour): Members;
  removeSession(id: string): void;
  /** Changes how the agent behind the session takes commands. */
  behave(sessionId: string, behaviour: AgentBehaviour): void;

  /** Creates an HTTPS edge route. Ids that are left out are generated. */
  addRoute(route?: Partial<RouteId>): RouteId;

  fault(options: FaultOptions): void;
  clearFaults(): void;
  /** Starts or ends an outage. Default kind: `destroy`. Control still works. */
  outage(on: boolean, kind?: OutageKind): void;

  readonly apiKeys: {
    /** The token answers 401 from now on. */
    revoke(token: string): void;
    accept(token: string): void;
    /** What a missing or wrong token answers from now on. Default 401. */
    refuseWith(status: 401 | 403): void;
  };
}
