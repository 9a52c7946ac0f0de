import { type Connection, exchange } from "./http/exchange.ts";
import { Unsent } from "./http/unsent.ts";
import { expandPath, type PathIds } from "./path.ts";
import type { Verb } from "./resource.ts";

export interface CallOptions {
  /** Aborts the call. If its request was written before, the call fails as `unknown`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called right before the first byte is written, which may be late, with the API key that is sent. When it throws, the
   * call fails as `unsent`.
   */
  readonly assertMaySend?: ((key: string) => void) | undefined;
  /** Called with the length of the answer, as far as it is known, again and again. When it throws, the call fails as `unreadable`. */
  readonly onAnswer?: ((bytes: number) => void) | undefined;
  /** The body has values that nobody may see. An error then has no words of the service, which may quote them. */
  readonly confidential?: boolean | undefined;
}

/** A call in the terms of the API page (docs/gateway-api.md). */
export interface Request<T> {
  readonly method: string;
  readonly route: string;
  readonly family: { readonly name: string; readonly secrets?: readonly string[] };
  readonly verb?: Verb;
  readonly ids?: PathIds;
  /** The path of a further page. It replaces `route` and its ids. */
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
    assertMaySend: options.assertMaySend,
    onAnswer: options.onAnswer,
    confidential: options.confidential,
    path() {
      if (verb === "none") throw new Unsent("there is no such operation");
      return path ?? connection.base.prefix + expandPath(rest.route, ids);
    },
  });
}
