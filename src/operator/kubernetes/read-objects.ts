import { wayToRead, wayToReadNamespaces } from "../../objects/way-to-read.ts";
import type { Visibility } from "../../reconcile/cluster.ts";
import type { Informer } from "../../runtime/cache/informer.ts";

type Source = Pick<Informer, "namespaces" | "hasSyncedIn" | "refusalIn" | "addListHandler">;
type Accounts = Source & Pick<Informer, "isDeadIn" | "problemIn">;

export interface ReadObjectsOptions {
  /** By kind: all kinds of which the operator takes objects for absent. Read at use. */
  informers: ReadonlyMap<string, Source>;
  /** The informer of the GatewayAccounts. */
  accounts: Accounts;
  /** Reads the API keys of a namespace's GatewayAccounts. Resolves also when some cannot be read. */
  readKeys: (namespace: string) => Promise<void>;
}

/**
 * Which objects the operator has read, by kind and namespace. Others may exist that it has not read. A namespace counts
 * as read only when its GatewayAccounts and their API keys are known: without them nobody knows to which account its
 * objects belong. A store that was complete once counts as read, also while its watch is broken.
 */
export class ReadObjects {
  readonly #options: ReadObjectsOptions;
  readonly #open = new Set<string>();
  readonly #handlers = new Set<(namespace: string) => void>();

  constructor(options: ReadObjectsOptions) {
    this.#options = options;
    options.accounts.addListHandler((namespace) => void this.#readKeys(namespace));
  }

  /** `onOpen` is called with each namespace when `isOpen` becomes true; "": all namespaces. */
  addOpenHandler(onOpen: (namespace: string) => void): void {
    this.#handlers.add(onOpen);
  }

  /** Whether the GatewayAccounts of the namespace and their keys are known, so that its objects can be reconciled. */
  isOpen(namespace: string): boolean {
    return this.#open.has("") || this.#open.has(namespace);
  }

  /** Default: in all namespaces that the operator watches. */
  visibilityOf(kind: string, namespace?: string): Visibility {
    const informer = this.#options.informers.get(kind);
    if (!informer) return "Visible";
    if (namespace !== undefined) return this.#visibilityIn(informer, namespace);
    const all = informer.namespaces.map((one) => this.#visibilityIn(informer, one));
    const [first = "Visible"] = all;
    if (all.includes("Unreadable")) return "Unreadable";
    return all.every((one) => one === first) ? first : "Visible";
  }

  /** Namespaces in which objects of the kind may exist unseen. Empty if that is so in all watched namespaces. */
  unreadNamespaces(kind: string): string[] {
    const informer = this.#options.informers.get(kind);
    const unread = informer?.namespaces.filter((one) => this.#visibilityIn(informer, one) === "Unreadable") ?? [];
    return unread.length === informer?.namespaces.length ? [] : unread;
  }

  /** The kinds whose objects in this namespace may exist unseen. Default: in any namespace. */
  unreadKinds(namespace?: string): string[] {
    const kinds = [...this.#options.informers.keys()];
    return kinds.filter((kind) => this.visibilityOf(kind, namespace) === "Unreadable");
  }

  /** What a person does so that no object in this namespace is unseen. Undefined: there is nothing to do. */
  wayToReadAll(namespace?: string): string | undefined {
    const kinds = this.unreadKinds(namespace);
    const [first] = kinds;
    if (first === undefined) return undefined;
    const asked = this.#options.accounts.namespaces.filter((one) => one !== "" && (namespace ?? one) === one);
    const closed = asked.filter((one) => !this.isOpen(one));
    if (closed.length > 0) return wayToReadNamespaces(closed);
    const unread = this.unreadNamespaces(first);
    return wayToRead(first, namespace !== undefined && unread.includes(namespace) ? [namespace] : unread);
  }

  /**
   * Which of several watched namespaces cannot be read, now or since the start: why, and what a person does. Undefined:
   * all can be read.
   */
  get problem(): string | undefined {
    const { accounts } = this.#options;
    const isLost = (one: string) => accounts.refusalIn(one) !== undefined || accounts.isDeadIn(one);
    const lost = accounts.namespaces.filter((one) => one !== "" && isLost(one));
    const [first] = lost;
    return first === undefined ? undefined : `${wayToReadNamespaces(lost)}: ${accounts.problemIn(first)}`;
  }

  #visibilityIn(informer: Source, namespace: string): Visibility {
    if (informer.hasSyncedIn(namespace)) return this.isOpen(namespace) ? "Visible" : "Unreadable";
    return informer.refusalIn(namespace) === "notServed" ? "NotDefined" : "Unreadable";
  }

  async #readKeys(namespace: string): Promise<void> {
    await this.#options.readKeys(namespace);
    this.#open.add(namespace);
    for (const onOpen of this.#handlers) onOpen(namespace);
  }
}
