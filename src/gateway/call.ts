import { type Connection, exchange } from "./http/exchange.ts";
import { Unsent } from "./http/unsent.ts";
import { expandPath, type PathIds } from "./path.ts";
import type { Verb } from "./resource.ts";

export interface CallOptions {
  /** Ends the call. Once its request is written, the outcome is `unknown`. */
  readonly signal?: AbortSignal | undefined;
  /** Asked when the first byte is about to be written, however long that took. What it throws leaves the call unsent. */
  readonly permit?: (() => void) | undefined;
}

/** A call in terms of the API page. */
export interface Request<T> {
  readonly method: string;
  readonly route: string;
  readonly family: { readonly name: string; readonly secrets?: readonly string[] };
  readonly verb?: Verb;
  readonly ids?: PathIds;
  /** Instead of `route` with its ids: the path of a further page. */
  readonly path?: string | undefined;
  readonly body?: object;
  readonly read: (body: string) => T;
}

export function call<T>(connection: Connection, request: Request<T>, options: CallOptions = {}): Promise<T> {
  const { family, verb, ids = {}, path, ...rest } = request;
  return exchange(connection, {
    ...rest,
    resource: family.name,
    secrets: family.secrets,
    signal: options.signal,
    permit: options.permit,
    path() {
      if (verb === "none") throw new Unsent("there is no such operation");
      return path ?? connection.base.prefix + expandPath(rest.route, ids);
    },
  });
}
