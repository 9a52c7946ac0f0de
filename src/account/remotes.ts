import type { Body } from "../gateway/client.ts";
import type { Module, Remote } from "../gateway/resource.ts";
import type { RequestOptions } from "./calls.ts";

/**
 * The remotes of one kind in one account: calls within the budget, and what is known from their answers.
 * Rejects with GatewayError, with a ReconcileError, or with the reason of the signal. Times are monotonic milliseconds.
 */
export interface Remotes {
  /**
   * What is cached, else what the service answers. Undefined when the service said that there is none.
   * `members`: those that the caller needs. Others may be missing where each member has to be asked for.
   */
  get(id: string, options: RequestOptions, members?: readonly string[]): Promise<Remote | undefined>;
  /** What the service answers, which is asked in any case. */
  read(id: string, options: RequestOptions, members?: readonly string[]): Promise<Remote | undefined>;
  /** What is known from lists and answers. Never asks the service. */
  cached(id: string): Remote | undefined;
  /** All that is cached. Takes time with their number. */
  allCached(): Remote[];
  /** Of what is cached, the remotes whose metadata names this owner. */
  ownedBy(owner: string): Remote[];
  /** Resolves when the cache holds a list that began at `since` or later; at once where there is no list. */
  listed(since: number, lane: RequestOptions["lane"]): Promise<void>;
  /** Not where it should be in the latest list, nor in any answer since. */
  isMissing(id: string): boolean;
  /** For a create: waits until one request may be sent, before anything is recorded about it. */
  admit(request: RequestOptions, body: Body): Promise<void>;
  /** To be called right after `admit`. */
  create(body: Body, request: RequestOptions): Promise<Remote>;
  update(id: string, body: Body, request: RequestOptions): Promise<Remote>;
  /** False when there was nothing to delete. */
  delete(id: string, request: RequestOptions): Promise<boolean>;
  /** Deletes a module by its own operation. A 404 counts as done. */
  deleteModule(id: string, member: string, module: Module, request: RequestOptions): Promise<void>;
}
