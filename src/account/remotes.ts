import type { Body } from "../gateway/client.ts";
import type { Module, Remote } from "../gateway/resource.ts";
import type { RequestOptions } from "./calls.ts";

/**
 * The remotes of one kind in one account: calls within the budget, and what is known from their answers.
 * Rejects with GatewayError, with a ReconcileError, or with the reason of the signal. Times are monotonic milliseconds.
 */
export interface Remotes {
  /**
   * The remote as last seen, or undefined when the service said that it is not there. `fresh` asks in any case.
   * `members`: those that the caller is interested in; others may be missing where each has to be asked for.
   */
  find(id: string, sending: RequestOptions, fresh?: boolean, members?: readonly string[]): Promise<Remote | undefined>;
  /** Like `find`, and true at `since` or later. `alike`: how many rows are looked for like this. */
  recent(id: string, since: number, alike: number, sending: RequestOptions): Promise<Remote | undefined>;
  /** Resolves when `rows` are of a list that began at `since` or later; at once where there is no list. */
  listed(since: number, lane: RequestOptions["lane"]): Promise<void>;
  /** All that is known, without asking. Takes time with their number. */
  readonly rows: Remote[];
  known(id: string): Remote | undefined;
  /** Of what is known, the rows whose metadata names this owner. */
  ownedBy(owner: string): Remote[];
  /** Not where it should be in the latest list, nor in any answer since. */
  isMissing(id: string): boolean;
  /** For a create: waits until one request may be sent, before anything is recorded about it. */
  admit(sending: RequestOptions, body: Body): Promise<void>;
  /** To be called right after `admit`. */
  create(body: Body, sending: RequestOptions): Promise<Remote>;
  update(id: string, body: Body, sending: RequestOptions): Promise<Remote>;
  /** False when there was nothing to remove. */
  remove(id: string, sending: RequestOptions): Promise<boolean>;
  /** Removes a part by its own operation. A 404 counts as done. */
  removeModule(id: string, member: string, module: Module, sending: RequestOptions): Promise<void>;
}
