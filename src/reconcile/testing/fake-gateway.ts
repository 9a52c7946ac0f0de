import type { Body, CallOptions, GatewayClient, Page } from "../../gateway/client.ts";
import { type Failure, GatewayError, kindOfStatus } from "../../gateway/errors.ts";
import type { Module, ModuleOwner, Resource } from "../../gateway/resource.ts";
import { eventSubscriptions } from "../../gateway/resources/index.ts";
import type { Clock } from "../../runtime/clock.ts";
import { answerTo, updated } from "../../schema/testing/service.ts";

export type Row = Record<string, unknown> & { id: string };

type Verb =
  | "create"
  | "get"
  | "update"
  | "delete"
  | "list"
  | "createSource"
  | "deleteSource"
  | "getModule"
  | "putModule"
  | "deleteModule";

export interface Call {
  verb: Verb;
  resource: string;
  id?: string;
  body?: Body;
}

/** What happens to a call in place of, or after, the usual: `done` says whether it was carried out. */
interface Fault {
  done: boolean;
  failure: Pick<Failure, "kind"> & Partial<Failure>;
}

/** The account of a service that does as the API page says, in memory. */
export class FakeGateway {
  readonly calls: Call[] = [];
  /** Members of a resource that no two of an account may share. */
  readonly unique: Record<string, string> = { reserved_domains: "domain" };
  /** Changes what an answer to a write holds, as a service does that normalises. */
  normalise: (row: Row) => Row = (row) => row;
  pageSize = 100;
  /** Told of each call before it is carried out. */
  beforeCall: (call: Call) => void = () => {};
  readonly #clock: Clock;
  /** The service's own. */
  calendar = (): Date => this.#clock.date();
  readonly #rows = new Map<string, Map<string, Row>>();
  readonly #faults: { verb: Verb; fault: Fault }[] = [];
  #made = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  asClient(): GatewayClient {
    return this as Pick<GatewayClient, Verb> as GatewayClient;
  }

  // what a test does to the account

  /** The next call of this sort is carried out, and its answer lost. */
  loseAnswer(verb: Verb, more: Partial<Failure> = {}): void {
    this.#faults.push({ verb, fault: { done: true, failure: { kind: "unknown", ...more } } });
  }

  /** The next call of this sort is refused, and does nothing. */
  refuse(verb: Verb, status: number, more: Partial<Failure> = {}): void {
    this.#faults.push({ verb, fault: { done: false, failure: { kind: kindOfStatus(status), status, ...more } } });
  }

  /** The next call of this sort never arrives, whatever its caller can tell. */
  swallow(verb: Verb, kind: Failure["kind"] = "unknown"): void {
    this.#faults.push({ verb, fault: { done: false, failure: { kind } } });
  }

  rowsOf(resource: Resource): Row[] {
    return [...this.#of(resource).values()];
  }

  row(resource: Resource, id: string): Row | undefined {
    return this.#of(resource).get(id);
  }

  /** Somebody else makes a resource. */
  seed(resource: Resource, body: Body): Row {
    return this.#make(resource, body);
  }

  /** Somebody else changes a resource. */
  change(resource: Resource, id: string, members: Record<string, unknown>): void {
    const row = this.row(resource, id);
    if (!row) throw new TypeError(`no ${id} to change`);
    this.#of(resource).set(id, { ...row, ...members });
  }

  /** Somebody else deletes a resource. */
  drop(resource: Resource, id: string): void {
    this.#of(resource).delete(id);
  }

  /** A row appears under an id of the test's choice. */
  put(resource: Resource, row: Row): void {
    this.#keep(resource, row);
  }

  /** The calls since the last time, each as `verb` or `verb id`. */
  taken(): string[] {
    return this.calls.splice(0).map(({ verb, id }) => (id ? `${verb} ${id}` : verb));
  }

  // the calls of the client

  create = async (resource: Resource, body: Body): Promise<never> => {
    this.#arrive({ verb: "create", resource: resource.name, body });
    return this.#perform("create", resource, () => {
      refuseUnknown(body, resource.create);
      const member = this.unique[resource.name];
      const taken = member && this.rowsOf(resource).some((row) => row[member] === body[member]);
      if (taken) throw refusal(400, `${member} is taken`);
      return this.#make(resource, body);
    });
  };

  get = async (resource: Resource, id: string): Promise<never> => {
    this.#arrive({ verb: "get", resource: resource.name, id });
    return this.#perform("get", resource, () => this.#existing(resource, id));
  };

  update = async (resource: Resource, id: string, body: Body): Promise<never> => {
    this.#arrive({ verb: "update", resource: resource.name, id, body });
    return this.#perform("update", resource, () => {
      const row = this.#existing(resource, id);
      refuseUnknown(body, [...resource.update, ...resource.updateUndocumented]);
      if (Object.keys(body).length === 0) throw refusal(400, "nothing to update");
      return this.#keep(resource, this.normalise({ ...updated(resource, row, body), id }));
    });
  };

  delete = async (resource: Resource, id: string): Promise<void> => {
    this.#arrive({ verb: "delete", resource: resource.name, id });
    this.#perform("delete", resource, () => {
      this.#existing(resource, id);
      this.#of(resource).delete(id);
    });
  };

  async *list(resource: Resource, _options?: CallOptions): AsyncGenerator<Page<never>, void, void> {
    const rows = this.rowsOf(resource).reverse();
    for (let from = 0; from === 0 || from < rows.length; from += this.pageSize) {
      this.#arrive({ verb: "list", resource: resource.name });
      const page = this.#perform("list", resource, () => rows.slice(from, from + this.pageSize));
      const last = from + this.pageSize >= rows.length;
      yield { rows: page as never[], problems: [], startedAt: this.#clock.date().getTime(), last };
    }
  }

  createSource = async (id: string, type: string): Promise<never> => {
    this.#arrive({ verb: "createSource", resource: eventSubscriptions.name, id: `${id}/${type}` });
    return this.#perform("createSource", eventSubscriptions, () => {
      const row = this.#existing(eventSubscriptions, id);
      if (sourcesOf(row).includes(type)) throw refusal(409, `${type} is there`);
      const source = { type, uri: `https://service.test${eventSubscriptions.path}/${id}/sources/${type}` };
      this.#keep(eventSubscriptions, { ...row, sources: [...((row["sources"] as object[] | null) ?? []), source] });
      return source;
    });
  };

  deleteSource = async (id: string, type: string): Promise<void> => {
    this.#arrive({ verb: "deleteSource", resource: eventSubscriptions.name, id: `${id}/${type}` });
    this.#perform("deleteSource", eventSubscriptions, () => {
      const row = this.#existing(eventSubscriptions, id);
      if (!sourcesOf(row).includes(type)) throw refusal(404, "not found");
      const left = sourcesOf(row).filter((one) => one !== type);
      this.#keep(eventSubscriptions, { ...row, sources: left.map((one) => ({ type: one })) });
    });
  };

  getModule = async (module: Module, { id }: ModuleOwner): Promise<never> => {
    this.#arrive({ verb: "getModule", resource: module.name, id });
    return this.#perform("getModule", module, () => {
      const value = this.#owner(id)?.row[memberOf(module)];
      if (!value) throw refusal(404, "not found");
      return value;
    });
  };

  putModule = async (module: Module, { id }: ModuleOwner, body: Body): Promise<never> => {
    this.#arrive({ verb: "putModule", resource: module.name, id, body });
    return this.#perform("putModule", module, () => {
      const owner = this.#owner(id);
      if (!owner) throw refusal(404, "not found");
      refuseUnknown(body, module.put);
      // services echo secrets
      const value = answerTo({ ...module, secrets: [] } as never, body);
      owner.rows.set(id, { ...owner.row, [memberOf(module)]: value });
      return value;
    });
  };

  deleteModule = async (module: Module, { id }: ModuleOwner): Promise<void> => {
    this.#arrive({ verb: "deleteModule", resource: module.name, id });
    this.#perform("deleteModule", module, () => {
      const owner = this.#owner(id);
      if (owner) owner.rows.set(id, { ...owner.row, [memberOf(module)]: null });
    });
  };

  #owner(id: string): { rows: Map<string, Row>; row: Row } | undefined {
    for (const rows of this.#rows.values()) {
      const row = rows.get(id);
      if (row) return { rows, row };
    }
    return undefined;
  }

  #arrive(call: Call): void {
    this.calls.push(call);
    this.beforeCall(call);
  }

  #perform<T>(verb: Verb, { path }: { path: string }, work: () => T): never {
    const index = this.#faults.findIndex((one) => one.verb === verb);
    const [planned] = index < 0 ? [] : this.#faults.splice(index, 1);
    if (!planned) return work() as never;
    const { done, failure } = planned.fault;
    const made = done ? (work() as { id?: string } | undefined) : undefined;
    const id = failure.kind === "unreadable" ? { id: made?.id } : {};
    throw new GatewayError({
      method: verb.toUpperCase(),
      route: path,
      problem: "planned by the test",
      ...failure,
      ...id,
    });
  }

  #make(resource: Resource, body: Body): Row {
    this.#made += 1;
    const id = `${resource.idPrefix}${this.#made}`;
    const created = {
      id,
      uri: `https://service.test${resource.path}/${id}`,
      created_at: this.calendar().toISOString(),
    };
    return this.#keep(resource, this.normalise({ ...answerTo(resource, body), ...created }));
  }

  #keep(resource: Resource, row: Row): Row {
    this.#of(resource).set(row.id, row);
    return row;
  }

  #existing(resource: Resource, id: string): Row {
    const row = this.row(resource, id);
    if (!row) throw refusal(404, "not found");
    return row;
  }

  #of({ name }: Resource): Map<string, Row> {
    const rows = this.#rows.get(name) ?? new Map<string, Row>();
    this.#rows.set(name, rows);
    return rows;
  }
}

const memberOf = ({ path }: Module): string => path.split("/").at(-1) ?? "";

const sourcesOf = (row: Row): string[] => ((row["sources"] as { type: string }[] | null) ?? []).map(({ type }) => type);

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
