import type { LoggedRequest } from "../../tools/simulator/control/request-log.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import type { Simulator } from "../../tools/simulator/simulator.ts";

/** Checks the account after each request to the service, and records violations of invariants. */
export class AccountWatch {
  readonly faults: string[] = [];
  #simulator: Simulator | undefined;
  #most = new Map<string, number>();

  /** For the option `onHandled` of a simulator. */
  readonly onHandled = (request: LoggedRequest): void => {
    if (!this.#simulator) return;
    this.#count();
    this.#checkDangling(request);
    // A refused DELETE does no harm here, but another service might carry it out.
    if (request.method === "DELETE" && request.status !== 204 && request.status !== 404) this.#note(request, "refused");
  };

  /** Starts to watch. */
  begin(simulator: Simulator): void {
    this.#simulator = simulator;
    this.faults.length = 0;
    this.#most = new Map();
    this.#count();
  }

  /** The largest number of remotes that a collection has had after any request. */
  most = (collection: string): number => this.#most.get(collection) ?? 0;

  #objects = (collection: string): Members[] => this.#simulator?.control.objects(collection) ?? [];

  #count(): void {
    for (const [collection, rows] of Object.entries(this.#simulator?.control.summary() ?? {})) {
      this.#most.set(collection, Math.max(rows, this.most(collection)));
    }
  }

  /** When a remote that others use is deleted, they show null, or a list without it. */
  #checkDangling(request: LoggedRequest): void {
    for (const { id, certificate } of this.#objects("reserved_domains")) {
      if (certificate === null) this.#note(request, `${id} has no certificate`);
    }
    for (const { id, mutual_tls: module } of this.#objects("edges/tls")) {
      const { certificate_authorities: accepted = [] } = (module ?? {}) as { certificate_authorities?: unknown[] };
      if (module && accepted.length === 0) this.#note(request, `${id} accepts nobody`);
    }
  }

  #note({ method, path }: LoggedRequest, what: string): void {
    this.faults.push(`${method} ${path}: ${what}`);
  }
}
