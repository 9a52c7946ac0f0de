import type { Body, GatewayClient, Page } from "../gateway/client.ts";
import { GatewayError, kindOfStatus } from "../gateway/errors.ts";
import type { Module, ModuleOwner, Remote, Resource } from "../gateway/resource.ts";
import { eventSubscriptions } from "../gateway/resources/index.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Kind } from "../schema/define.ts";
import { snakeCase } from "../schema/wire/names.ts";
import { sentStatusFields } from "../schema/wire/needs.ts";
import { answerTo, updated } from "../schema/wire/prediction.ts";

/** Reads the real account. An error of a call reaches the reconciler as the failure of a request. */
export interface AccountSource {
  list(resource: Resource): Promise<readonly Remote[]>;
  /** Null when the module is not set. */
  module(module: Module, owner: ModuleOwner): Promise<object | null>;
}

type Members = Readonly<Record<string, unknown>>;

/** A request that changes something in the account. The copy has answered it, and it was never sent. */
export interface PlannedRequest {
  method: "POST" | "PATCH" | "PUT" | "DELETE";
  path: string;
  /** The id of the changed remote. After a create, a placeholder. */
  id: string;
  /** The body, including values of Secrets. */
  body?: Body;
  /** The member of the remote for a request about a module. Unset: the request concerns the whole remote. */
  member?: string;
  /** The remote or module before the request. */
  before?: Members | undefined;
  /** The status with which the service would refuse the request. It then changes nothing. */
  refused?: number;
}

type Verb =
  | ("create" | "get" | "update" | "delete" | "list")
  | ("createSource" | "deleteSource" | "getModule" | "putModule" | "deleteModule");

/** Begins only where a word does: a long text would otherwise be read once more from each of its characters. */
const PLANNED = /(?<![a-z0-9])[a-z0-9]+_planned\d+/g;

/** Replaces the ids in a text that the service has not chosen yet by what `name` returns for them. */
export const replacePlannedIDs = (text: string, name: (id: string) => string): string => text.replaceAll(PLANNED, name);

/**
 * An account whose reads are real and whose writes change only a copy. Writes are answered as the API page says. Values
 * that the service chooses, such as an id or address, are placeholders.
 */
export class AccountCopy {
  readonly requests: PlannedRequest[] = [];
  readonly #source: AccountSource;
  readonly #clock: Clock;
  readonly #kinds: readonly Kind[];
  readonly #rows = new Map<string, Promise<Map<string, Remote>>>();
  readonly #modules = new Map<string, object | null>();
  #created = 0;

  constructor(source: AccountSource, clock: Clock, kinds: readonly Kind[]) {
    this.#source = source;
    this.#clock = clock;
    this.#kinds = kinds;
  }

  /** Has no calls for tunnel sessions, because no reconcile makes them. */
  asClient(): GatewayClient {
    return this as Pick<GatewayClient, Verb> as GatewayClient;
  }

  create = async (resource: Resource, body: Body): Promise<never> => {
    const rows = await this.#rowsOf(resource);
    this.#created += 1;
    const id = `${resource.idPrefix}planned${this.#created}`;
    this.#receive({ method: "POST", path: resource.path, id, body }, this.#isTaken(resource, body, rows) ? 409 : 0);
    const answered = { ...answerTo(resource, body), id, created_at: this.#clock.date().toISOString() };
    const remote = { ...answered, ...this.#chosen(resource, answered) } as Remote;
    rows.set(id, remote);
    return remote as never;
  };

  get = async (resource: Resource, id: string): Promise<never> =>
    this.#existing(resource, id, await this.#rowsOf(resource)) as never;

  update = async (resource: Resource, id: string, body: Body): Promise<never> => {
    const rows = await this.#rowsOf(resource);
    const before = rows.get(id);
    this.#receive({ method: "PATCH", path: `${resource.path}/${id}`, id, body, before }, before ? 0 : 404);
    const after = { ...updated(resource, before ?? {}, body), id } as Remote;
    rows.set(id, after);
    return after as never;
  };

  delete = async (resource: Resource, id: string): Promise<void> => {
    const rows = await this.#rowsOf(resource);
    const before = rows.get(id);
    this.#receive({ method: "DELETE", path: `${resource.path}/${id}`, id, before }, before ? 0 : 404);
    rows.delete(id);
  };

  async *list(resource: Resource): AsyncGenerator<Page<never>, void, void> {
    const rows = [...(await this.#rowsOf(resource)).values()];
    yield { rows: rows as never[], problems: [], startedAt: this.#clock.date().getTime(), last: true };
  }

  createSource = async (id: string, type: string): Promise<never> => {
    const rows = await this.#rowsOf(eventSubscriptions);
    const before = this.#existing(eventSubscriptions, id, rows);
    const isThere = sourcesOf(before).some((source) => source.type === type);
    const request = { method: "POST", path: sourcesPath(id), id: `${id}/${type}`, body: { type } } as const;
    this.#receive(request, isThere ? 409 : 0);
    rows.set(id, { ...before, sources: [...sourcesOf(before), { type }] });
    return { type } as never;
  };

  deleteSource = async (id: string, type: string): Promise<void> => {
    const rows = await this.#rowsOf(eventSubscriptions);
    const before = this.#existing(eventSubscriptions, id, rows);
    const rest = sourcesOf(before).filter((source) => source.type !== type);
    const request = { method: "DELETE", path: `${sourcesPath(id)}/${type}`, id: `${id}/${type}` } as const;
    this.#receive({ ...request, before: { type } }, rest.length === sourcesOf(before).length ? 404 : 0);
    rows.set(id, { ...before, sources: rest });
  };

  getModule = async (module: Module, owner: ModuleOwner): Promise<never> => {
    const value = await this.#moduleOf(module, owner);
    if (!value) throw refusal(404, module.path);
    return value as never;
  };

  putModule = async (module: Module, owner: ModuleOwner, body: Body): Promise<never> => {
    const before = (await this.#moduleOf(module, owner)) as Members | null;
    const path = pathOf(module, owner);
    this.#receive({ method: "PUT", ...this.#about(module, owner), body, before: before ?? undefined });
    const value = answerTo(module as never, body);
    this.#modules.set(path, value);
    return value as never;
  };

  deleteModule = async (module: Module, owner: ModuleOwner): Promise<void> => {
    const before = (await this.#moduleOf(module, owner)) as Members | null;
    const request = { method: "DELETE", ...this.#about(module, owner) } as const;
    this.#receive({ ...request, ...(before && { before }) }, before ? 0 : 404);
    this.#modules.set(pathOf(module, owner), null);
  };

  /** `status`: the one with which the service refuses the request; 0: it accepts the request. */
  #receive(request: PlannedRequest, status = 0): void {
    this.requests.push({ ...request, ...(status > 0 && { refused: status }) });
    if (status > 0) throw refusal(status, request.path);
  }

  #about(module: Module, owner: ModuleOwner) {
    const path = pathOf(module, owner);
    const id = owner.edge_id === undefined ? owner.id : `${owner.edge_id}/${owner.id}`;
    return { path, id, member: path.split("/").at(-1) ?? "" };
  }

  #rowsOf(resource: Resource): Promise<Map<string, Remote>> {
    const known = this.#rows.get(resource.name);
    if (known) return known;
    const read = this.#source.list(resource).then((rows) => new Map(rows.map((row) => [row.id, row])));
    this.#rows.set(resource.name, read);
    return read;
  }

  async #moduleOf(module: Module, owner: ModuleOwner): Promise<object | null> {
    const path = pathOf(module, owner);
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const read = await this.#source.module(module, owner);
    this.#modules.set(path, read);
    return read;
  }

  #existing({ path }: Resource, id: string, rows: ReadonlyMap<string, Remote>): Remote {
    const remote = rows.get(id);
    if (!remote) throw refusal(404, path);
    return remote;
  }

  #isTaken({ name }: Resource, body: Body, rows: ReadonlyMap<string, Remote>): boolean {
    const { naturalKey } = this.#kinds.find(({ resource }) => resource.name === name) ?? {};
    const member = naturalKey && snakeCase(naturalKey);
    if (!member || body[member] === undefined) return false;
    return [...rows.values()].some((row) => row[member as keyof Remote] === body[member]);
  }

  /** Placeholders for values that the service chooses and that other objects or Secrets use. */
  #chosen({ name }: Resource, answered: Members): Members {
    const kind = this.#kinds.find(({ resource }) => resource.name === name);
    const sent = kind ? sentStatusFields(kind.kind, this.#kinds).map(snakeCase) : [];
    const members = [...sent, ...(kind?.output ? [kind.output.member] : [])];
    const unset = members.filter((member) => answered[member] === undefined || answered[member] === null);
    return Object.fromEntries(unset.map((member) => [member, `${member} of ${answered["id"]}`]));
  }
}

interface Source {
  type: string;
}

const sourcesOf = (remote: Members): Source[] => (remote["sources"] as Source[] | null | undefined) ?? [];

const sourcesPath = (id: string): string => `${eventSubscriptions.path}/${id}/sources`;

const pathOf = ({ path }: Module, { id, edge_id: edge = "" }: ModuleOwner): string =>
  path.replace("{id}", id).replace("{edge_id}", edge);

const refusal = (status: number, route: string): GatewayError =>
  new GatewayError({
    kind: kindOfStatus(status),
    status,
    method: "GET",
    route,
    problem: "answered by the plan's copy",
  });
