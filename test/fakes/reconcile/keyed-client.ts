import type { CallOptions, GatewayClient } from "../../../src/gateway/client.ts";
import { GatewayError } from "../../../src/gateway/errors.ts";
import type { FakeGateway } from "./fake-gateway.ts";

/** An API key, and the service as it shows the account of the key. */
export interface KeyOfAccount {
  key: string;
  gateway: FakeGateway;
}

/**
 * A client that reads the API key for each request, like the operator's client, and once more right before it sends.
 */
export function keyedClient(keyNow: () => KeyOfAccount, onKey: (key: string) => void): GatewayClient {
  const begin = (options: CallOptions | undefined): FakeGateway => {
    const { key, gateway } = keyNow();
    onKey(key);
    try {
      options?.assertMaySend?.(key);
    } catch {
      throw new GatewayError({ kind: "unsent", method: "?", route: "/", problem: "not sent" });
    }
    return gateway;
  };
  const perform =
    (verb: keyof GatewayClient) =>
    async (...args: unknown[]): Promise<unknown> => {
      const gateway = begin(args.at(-1) as CallOptions);
      return (gateway[verb as "create"] as (...given: unknown[]) => Promise<unknown>)(...args);
    };
  async function* list(...[resource, options]: Parameters<FakeGateway["list"]>): AsyncGenerator<unknown, void, void> {
    yield* begin(options).list(resource, options);
  }
  return new Proxy({} as GatewayClient, {
    get: (_, verb: keyof GatewayClient) => (verb === "list" ? list : perform(verb)),
  });
}
