import type { LoggedRequest } from "../../tools/simulator/control/request-log.ts";
import type { Members } from "../../tools/simulator/shape/members.ts";
import type { Simulator } from "../../tools/simulator/simulator.ts";

/** What each request to the service left behind, and that it never left what must not be. */
export class AccountWatch {
  readonly faults: string[] = [];
  #simulator: Simulator | undefined;
  #most = new Map<string, number>();

  /** For the options of a simulator. */
  readonly onHandled = (request: LoggedRequest): void => {
    if (!this.#simulator) return;
    this.#count();
    this.#checkDangling(request);
    // to try and be refused would be no harm here, but not every service refuses
    if (request.method === "DELETE" && request.status !== 204 && request.status !== 404) this.#note(request, "refused");
  };

  /** Watches from now on. */
  begin(simulator: Simulator): void {
    this.#simulator = simulator;
    this.faults.length = 0;
    this.#most = new Map();
    this.#count();
  }

  /** The most rows that a collection has had since the watch began, after any request. */
  most = (collection: string): number => this.#most.get(collection) ?? 0;

  #objects = (collection: string): Members[] => this.#simulator?.control.objects(collection) ?? [];

  #count(): void {
    for (const [collection, rows] of Object.entries(this.#simulator?.control.summary() ?? {})) {
      this.#most.set(collection, Math.max(rows, this.most(collection)));
    }
  }

  /** A reference to something that is gone shows as null, or is left out of its list. */
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
