import type { Body } from "../../gateway/client.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import type { ListRequest, RequestOptions } from "../requests/calls.ts";

/** Picks one of all remotes. `all` makes a new list, which takes time. A search may call it several times. */
export type Find = (all: () => readonly Remote[]) => Remote | undefined | Promise<Remote | undefined>;

/**
 * The remotes of one kind in one account: a cache of lists and answers, and calls within the request budget. Calls
 * reject with GatewayError, with a ReconcileError, or with the reason of the signal. Times are monotonic milliseconds.
 * Which further operations there are depends on the kind: see `isCreatable` and `isUpdatable`.
 */
export interface Remotes {
  /**
   * The cached remote, else the answer of the service. Undefined if the service answered that it does not exist.
   * `members`: the members that the caller needs. Others may be missing where each member takes a request of its own.
   */
  get(id: string, request: RequestOptions, members?: readonly string[]): Promise<Remote | undefined>;
  /** Always asks the service. */
  read(id: string, request: RequestOptions, members?: readonly string[]): Promise<Remote | undefined>;
  /** Never asks the service. */
  cached(id: string): Remote | undefined;
  /** All cached remotes. Takes time in proportion to their number. */
  allCached(): Remote[];
  /** The cached remotes whose owner mark names the object `<namespace>/<name>`, in any cluster. */
  markedFor(object: string): Remote[];
  /** Like `markedFor`, for unknown remotes whose rows cannot be read. They have only `id` and `metadata`. */
  unreadableMarkedFor(object: string): Remote[];
  /**
   * Resolves when the cache holds a list that began at `since` or later. Resolves at once for remotes that have no
   * list.
   */
  listed(since: number, request: ListRequest): Promise<void>;
  /**
   * The remote that `find` picks in lists that began at `since` or later. Undefined only when these lists prove that
   * there is none: one list with one page, or two lists with several pages.
   */
  search(since: number, find: Find, request: RequestOptions): Promise<Remote | undefined>;
  /** Whether neither the latest list nor a later answer shows the remote. */
  isMissing(id: string): boolean;
}

/** Remotes that the operator creates and deletes. Of others it only sets modules. */
export interface CreatableRemotes extends Remotes {
  /**
   * Waits until a create with this body may be sent. Call it before the create is recorded, so that no wait lies
   * between.
   */
  admit(request: RequestOptions, body: Body): Promise<void>;
  /** Call it right after `admit`. */
  create(body: Body, request: RequestOptions): Promise<Remote>;
  /** False when there was nothing to delete. */
  delete(id: string, request: RequestOptions): Promise<boolean>;
}

/** Remotes that can be changed. Entries cannot: they are only created and deleted. */
export interface UpdatableRemotes extends Remotes {
  update(id: string, body: Body, request: RequestOptions): Promise<Remote>;
  /** Deletes a module by its own operation. False when the answer was 404. */
  deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<boolean>;
}

export const isCreatable = (remotes: Remotes): remotes is CreatableRemotes => "create" in remotes;

export const isUpdatable = (remotes: Remotes): remotes is UpdatableRemotes => "update" in remotes;
