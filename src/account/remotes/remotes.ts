import type { Body } from "../../gateway/client.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import type { ListRequest, RequestOptions } from "../requests/calls.ts";

/** Picks one of all remotes, a list that takes time to make. May be called several times in a search. */
export type Find = (all: () => readonly Remote[]) => Remote | undefined | Promise<Remote | undefined>;

/**
 * The remotes of one kind in one account: a cache of what lists and answers have said, and calls within the request
 * budget. Calls reject with GatewayError, with a ReconcileError, or with the reason of the signal. Times are monotonic
 * milliseconds. What else can be done with them depends on the kind: see `isCreatable` and `isUpdatable`.
 */
export interface Remotes {
  /**
   * The cached remote, else the answer of the service. Undefined if the service said that it does not exist.
   * `members`: those that the caller needs. Others may be missing where each member has to be asked for.
   */
  get(id: string, request: RequestOptions, members?: readonly string[]): Promise<Remote | undefined>;
  /** Always asks the service. */
  read(id: string, request: RequestOptions, members?: readonly string[]): Promise<Remote | undefined>;
  /** Never asks the service. */
  cached(id: string): Remote | undefined;
  /** All that is cached. Takes time with their number. */
  allCached(): Remote[];
  /** Of what is cached, the remotes whose owner mark names the object `<namespace>/<name>`, of whichever cluster. */
  markedFor(object: string): Remote[];
  /** Resolves when the cache holds a list that began at `since` or later; at once where there is no list. */
  listed(since: number, request: ListRequest): Promise<void>;
  /**
   * What `find` picks among all remotes, in lists that began at `since` or later. Undefined only where that proves that
   * there is none: a list of one page does, or two that have several pages.
   */
  search(since: number, find: Find, request: RequestOptions): Promise<Remote | undefined>;
  /** Whether neither the latest list nor a later answer has it. */
  isMissing(id: string): boolean;
}

/** Remotes that the operator creates and deletes, unlike those of which it only sets modules. */
export interface CreatableRemotes extends Remotes {
  /** Waits until a create with this body may be sent, so that nothing delays it once it is recorded. */
  admit(request: RequestOptions, body: Body): Promise<void>;
  /** To be called right after `admit`. */
  create(body: Body, request: RequestOptions): Promise<Remote>;
  /** False when there was nothing to delete. */
  delete(id: string, request: RequestOptions): Promise<boolean>;
}

/** Remotes that can be changed, unlike entries, which are created and deleted only. */
export interface UpdatableRemotes extends Remotes {
  update(id: string, body: Body, request: RequestOptions): Promise<Remote>;
  /** Deletes a module by its own operation. False when the answer was 404. */
  deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<boolean>;
}

export const isCreatable = (remotes: Remotes): remotes is CreatableRemotes => "create" in remotes;

export const isUpdatable = (remotes: Remotes): remotes is UpdatableRemotes => "update" in remotes;
