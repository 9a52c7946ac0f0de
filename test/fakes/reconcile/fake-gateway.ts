import type { Body, CallOptions, GatewayClient, Page } from "../../../src/gateway/client.ts";
import { type Failure, GatewayError, kindOfStatus } from "../../../src/gateway/errors.ts";
import type { Module, ModuleOwner, Resource } from "../../../src/gateway/resource.ts";
import { eventSources, eventSubscriptions } from "../../../src/gateway/resources/index.ts";
import { answerTo, updated } from "../../../src/schema/wire/prediction.ts";
import type { VirtualClock } from "../runtime/virtual-clock.ts";

export type FakeRemote = Record<string, unknown> & { id: string };

/** How the client sends each call: the method, and what follows the path of the resource or module in the route. */
const sent = {
  create: { method: "POST", below: "" },
  get: { method: "GET", below: "/{id}" },
  update: { method: "PATCH", below: "/{id}" },
  delete: { method: "DELETE", below: "/{id}" },
  list: { method: "GET", below: "" },
  createSource: { method: "POST", below: "" },
  deleteSource: { method: "DELETE", below: "/{type}" },
  getModule: { method: "GET", below: "" },
  putModule: { method: "PUT", below: "" },
  deleteModule: { method: "DELETE", below: "" },
} as const;

type Verb = keyof typeof sent;

export interface Call {
  verb: Verb;
  resource: string;
  id?: string;
  body?: Body;
  /** The option `confidential` of the call. */
  confidential?: boolean | undefined;
}

/** A planned failure of a call. `done`: the call is carried out before it fails. */
interface Fault {
  done: boolean;
  failure: Pick<Failure, "kind"> & Partial<Failure>;
}

/** A service that behaves as the API page says. It has one account, in memory. */
export class FakeGateway {
  readonly calls: Call[] = [];
  /** All calls, including those that `takeCalls` has returned. */
  readonly everyCall: Call[] = [];
  /** By resource, the member whose value must be unique in the account. */
  readonly unique: Record<string, string> = { reserved_domains: "domain" };
  /** Changes what a create or update stores, as a service does that normalises values. */
  normalise: (remote: FakeRemote) => FakeRemote = (remote) => remote;
  pageSize = 100;
  /** Ids of remotes whose rows in lists cannot be read. */
  readonly unreadable = new Set<string>();
  /** Members that lists leave out. */
  readonly unlisted = new Set<string>();
  /** Called with each call before it is carried out. */
  beforeCall: (call: Call) => void = () => {};
  readonly #clock: VirtualClock;
  /** The calendar of the service. */
  calendar = (): Date => this.#clock.date();
  /** By the client: called with the header `Date` of each answer to it. */
  readonly onDate = new Map<object, (date: string) => void>();
  readonly #remotes = new Map<string, Map<string, FakeRemote>>();
  readonly #faults: { verb: Verb; fault: Fault }[] = [];
  #created = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  asClient(): GatewayClient {
    return this as Pick<GatewayClient, Verb> as GatewayClient;
  }

  // What tests do to the account.

  /** The next call of this verb is carried out, and its answer is lost. */
  loseAnswer(verb: Verb, more: Partial<Failure> = {}): void {
    this.#faults.push({ verb, fault: { done: true, failure: { kind: "unknown", ...more } } });
  }

  /** The next call of this verb is refused and not carried out. */
  refuse(verb: Verb, status: number, more: Partial<Failure> = {}): void {
    this.#faults.push({ verb, fault: { done: false, failure: { kind: kindOfStatus(status), status, ...more } } });
  }

  /** The next call of this verb is carried out, and answered as if it had been refused. */
  answerWrongly(verb: Verb, status: number): void {
    this.#faults.push({ verb, fault: { done: true, failure: { kind: kindOfStatus(status), status } } });
  }

  /** The next call of this verb never arrives. `kind`: the error that the caller gets. */
  swallow(verb: Verb, kind: Failure["kind"] = "unknown"): void {
    this.#faults.push({ verb, fault: { done: false, failure: { kind } } });
  }

  /** Drops all planned faults that have not occurred yet. */
  forgetFaults(): void {
    this.#faults.length = 0;
  }

  remotesOf(resource: Resource): FakeRemote[] {
    return [...this.#collection(resource).values()];
  }

  remote(resource: Resource, id: string): FakeRemote | undefined {
    return this.#collection(resource).get(id);
  }

  /** Another client creates a remote. */
  seed(resource: Resource, body: Body): FakeRemote {
    return this.#createRemote(resource, body);
  }

  /** Another client changes a remote. */
  change(resource: Resource, id: string, members: Record<string, unknown>): void {
    const remote = this.remote(resource, id);
    if (!remote) throw new TypeError(`no ${id} to change`);
    this.#collection(resource).set(id, { ...remote, ...members });
  }

  /** Another client deletes a remote. */
  drop(resource: Resource, id: string): void {
    this.#collection(resource).delete(id);
  }

  /** Another client creates a remote with this id. */
  put(resource: Resource, remote: FakeRemote): void {
    this.#store(resource, remote);
  }

  /** The calls since the last time this was called, each as `verb` or `verb id`. */
  takeCalls(): string[] {
    return this.calls.splice(0).map(({ verb, id }) => (id ? `${verb} ${id}` : verb));
  }

  // The calls of the operator's client.

  create = async (resource: Resource, body: Body, { confidential }: CallOptions = {}): Promise<never> => {
    this.#receive({ verb: "create", resource: resource.name, body, confidential });
    return this.#perform("create", resource, () => {
      refuseUnknown(body, resource.create);
      const member = this.unique[resource.name];
      const isTaken = member && this.remotesOf(resource).some((remote) => remote[member] === body[member]);
      if (isTaken) throw refusal(400, `${member} is taken`);
      return this.#createRemote(resource, body);
    });
  };

  get = async (resource: Resource, id: string): Promise<never> => {
    this.#receive({ verb: "get", resource: resource.name, id });
    return this.#perform("get", resource, () => this.#getExisting(resource, id));
  };

  update = async (resource: Resource, id: string, body: Body, { confidential }: CallOptions = {}): Promise<never> => {
    this.#receive({ verb: "update", resource: resource.name, id, body, confidential });
    return this.#perform("update", resource, () => {
      const remote = this.#getExisting(resource, id);
      refuseUnknown(body, [...resource.update, ...resource.updateUndocumented]);
      if (Object.keys(body).length === 0) throw refusal(400, "nothing to update");
      return this.#store(resource, this.normalise({ ...updated(resource, remote, body), id }));
    });
  };

  delete = async (resource: Resource, id: string): Promise<void> => {
    this.#receive({ verb: "delete", resource: resource.name, id });
    this.#perform("delete", resource, () => {
      this.#getExisting(resource, id);
      this.#collection(resource).delete(id);
    });
  };

  async *list(resource: Resource, _options?: CallOptions): AsyncGenerator<Page<never>, void, void> {
    for (let [from, last] = [0, false]; !last; from += this.pageSize) {
      this.#receive({ verb: "list", resource: resource.name });
      // If a row was deleted since the previous page, the others have moved.
      const remotes = this.remotesOf(resource).reverse();
      const page: FakeRemote[] = this.#perform("list", resource, () => remotes.slice(from, from + this.pageSize));
      last = from + this.pageSize >= remotes.length;
      const [unreadable, readable] = [true, false].map((bad) =>
        page.filter(({ id }) => this.unreadable.has(id) === bad),
      );
      const problems = (unreadable ?? []).map(({ id, metadata }) => ({
        id,
        metadata: metadata as string | undefined,
        problem: "planned by the test",
      }));
      const rows = (readable ?? []).map((remote) => withoutMembers(remote, this.unlisted));
      yield { rows: rows as never[], problems, startedAt: this.#clock.date().getTime(), last };
    }
  }

  createSource = async (id: string, type: string): Promise<never> => {
    this.#receive({ verb: "createSource", resource: eventSubscriptions.name, id: `${id}/${type}` });
    return this.#perform("createSource", eventSources, () => {
      const remote = this.#getExisting(eventSubscriptions, id);
      if (sourcesOf(remote).includes(type)) throw refusal(409, `${type} is there`);
      const source = { type, uri: `https://service.test${eventSubscriptions.path}/${id}/sources/${type}` };
      this.#store(eventSubscriptions, {
        ...remote,
        sources: [...((remote["sources"] as object[] | null) ?? []), source],
      });
      return source;
    });
  };

  deleteSource = async (id: string, type: string): Promise<void> => {
    this.#receive({ verb: "deleteSource", resource: eventSubscriptions.name, id: `${id}/${type}` });
    this.#perform("deleteSource", eventSources, () => {
      const remote = this.#getExisting(eventSubscriptions, id);
      if (!sourcesOf(remote).includes(type)) throw refusal(404, "not found");
      const remaining = sourcesOf(remote).filter((one) => one !== type);
      this.#store(eventSubscriptions, { ...remote, sources: remaining.map((one) => ({ type: one })) });
    });
  };

  getModule = async (module: Module, { id }: ModuleOwner): Promise<never> => {
    this.#receive({ verb: "getModule", resource: module.name, id });
    return this.#perform("getModule", module, () => {
      const value = this.#owner(id)?.remote[memberOf(module)];
      if (!value) throw refusal(404, "not found");
      return value;
    });
  };

  putModule = async (
    module: Module,
    { id }: ModuleOwner,
    body: Body,
    { confidential }: CallOptions = {},
  ): Promise<never> => {
    this.#receive({ verb: "putModule", resource: module.name, id, body, confidential });
    return this.#perform("putModule", module, () => {
      const owner = this.#owner(id);
      if (!owner) throw refusal(404, "not found");
      refuseUnknown(body, module.put);
      // Services echo the secrets of modules.
      const value = answerTo({ ...module, secrets: [] } as never, body);
      const remote = this.normalise({ ...owner.remote, [memberOf(module)]: value });
      owner.collection.set(id, remote);
      return remote[memberOf(module)];
    });
  };

  deleteModule = async (module: Module, { id }: ModuleOwner): Promise<void> => {
    this.#receive({ verb: "deleteModule", resource: module.name, id });
    this.#perform("deleteModule", module, () => {
      const owner = this.#owner(id);
      if (owner) owner.collection.set(id, { ...owner.remote, [memberOf(module)]: null });
    });
  };

  #owner(id: string): { collection: Map<string, FakeRemote>; remote: FakeRemote } | undefined {
    for (const collection of this.#remotes.values()) {
      const remote = collection.get(id);
      if (remote) return { collection, remote };
    }
    return undefined;
  }

  #receive(call: Call): void {
    this.calls.push(call);
    this.everyCall.push(call);
    this.beforeCall(call);
  }

  #perform<T>(verb: Verb, { path }: { path: string }, work: () => T): never {
    const index = this.#faults.findIndex((one) => one.verb === verb);
    const [plannedFault] = index < 0 ? [] : this.#faults.splice(index, 1);
    if (!plannedFault) {
      for (const tell of this.onDate.values()) tell(this.calendar().toUTCString());
      return work() as never;
    }
    const { done, failure } = plannedFault.fault;
    // A list that began before the answer is older than one that begins after it.
    if (verb === "create") this.#clock.pass(1);
    const result = done ? (work() as { id?: string } | undefined) : undefined;
    const id = failure.kind === "unreadable" ? { id: result?.id } : {};
    throw new GatewayError({
      method: sent[verb].method,
      route: `${path}${sent[verb].below}`,
      problem: "planned by the test",
      ...failure,
      ...id,
    });
  }

  #createRemote(resource: Resource, body: Body): FakeRemote {
    this.#created += 1;
    const id = `${resource.idPrefix}${this.#created}`;
    const created = {
      id,
      uri: `https://service.test${resource.path}/${id}`,
      created_at: this.calendar().toISOString(),
    };
    return this.#store(resource, this.normalise({ ...answerTo(resource, body), ...created }));
  }

  #store(resource: Resource, remote: FakeRemote): FakeRemote {
    this.#collection(resource).set(remote.id, remote);
    return remote;
  }

  #getExisting(resource: Resource, id: string): FakeRemote {
    const remote = this.remote(resource, id);
    if (!remote) throw refusal(404, "not found");
    return remote;
  }

  #collection({ name }: Resource): Map<string, FakeRemote> {
    const collection = this.#remotes.get(name) ?? new Map<string, FakeRemote>();
    this.#remotes.set(name, collection);
    return collection;
  }
}

/** The same remote if no member is left out. */
const withoutMembers = (remote: FakeRemote, left: ReadonlySet<string>): FakeRemote =>
  left.size === 0
    ? remote
    : (Object.fromEntries(Object.entries(remote).filter(([name]) => !left.has(name))) as FakeRemote);

const memberOf = ({ path }: Module): string => path.split("/").at(-1) ?? "";

const sourcesOf = (remote: FakeRemote): string[] =>
  ((remote["sources"] as { type: string }[] | null) ?? []).map(({ type }) => type);

function refuseUnknown(body: Body, accepted: readonly string[]): void {
  const [unknown] = Object.keys(body).filter((member) => body[member] !== undefined && !accepted.includes(member));
  if (unknown) throw refusal(400, `unknown member ${unknown}`);
}

const refusal = (status: number, serviceMessage: string): GatewayError =>
  new GatewayError({
    kind: kindOfStatus(status),
    status,
    method: "?",
    route: "/",
    problem: serviceMessage,
    serviceMessage,
  });
