import type { Informer } from "../../runtime/cache/informer.ts";
import type { Logger } from "../../runtime/log.ts";
import type { ReadObjects } from "./read-objects.ts";

type Watched = Pick<Informer, "type" | "namespaces" | "hasSyncedIn" | "problem" | "addListHandler">;

export interface LateReadingOptions {
  watched: readonly Watched[];
  /** The namespaces of `watched` may be more: an operator also has the sessions of its own. */
  accounts: Pick<Informer, "namespaces" | "problemIn">;
  readObjects: Pick<ReadObjects, "isOpen" | "addOpenHandler">;
  log: Logger;
  /** Something can be read that could not when the controllers started. */
  onRead: () => void;
  /** All that is needed of a namespace is known ("": of all), and could not be read when the controllers started. */
  onOpen: (namespace: string) => void;
}

/** Tells which objects could not be read when the controllers started, and goes on with them when they can be read. */
export class LateReading {
  readonly #options: LateReadingOptions;
  #hasBegun = false;

  constructor(options: LateReadingOptions) {
    this.#options = options;
    for (const informer of options.watched)
      informer.addListHandler((namespace) => this.#listed(informer.type.kind, namespace));
    options.readObjects.addOpenHandler((namespace) => this.#opened(namespace));
  }

  /** Call it when the controllers start. */
  begin(): void {
    const { watched, accounts, readObjects, log } = this.#options;
    this.#hasBegun = true;
    const closed = accounts.namespaces.filter((namespace) => !readObjects.isOpen(namespace));
    for (const namespace of closed)
      log.warn(
        { namespace, problem: accounts.problemIn(namespace) },
        "Started without a namespace that cannot be read",
      );
    for (const informer of watched) {
      const { type, namespaces, problem } = informer;
      const missing = namespaces.filter((one) => !informer.hasSyncedIn(one) && !closed.includes(one));
      const where = missing.includes("") ? {} : { namespaces: missing };
      const about = { kind: type.kind, ...where, problem };
      if (missing.length > 0) log.warn(about, "Started without a kind that cannot be read");
    }
  }

  #listed(kind: string, namespace: string): void {
    if (!this.#hasBegun) return;
    this.#options.log.info({ kind, ...(namespace && { namespace }) }, "The kind can be read now");
    this.#options.onRead();
  }

  #opened(namespace: string): void {
    if (!this.#hasBegun) return;
    this.#options.log.info({ namespace }, "The namespace can be read now");
    this.#options.onOpen(namespace);
    this.#options.onRead();
  }
}
