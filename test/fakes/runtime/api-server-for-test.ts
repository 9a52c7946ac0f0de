import { onTestFinished } from "vitest";
import { type ClientOptions, KubeClient } from "../../../src/runtime/connection/client.ts";
import { Transport } from "../../../src/runtime/connection/transport.ts";
import { FakeApiServer } from "./fake-api-server.ts";

/** A server, and a client of it, for one test and its hooks. They end after the last hook. */
export async function apiServerForTest(
  options: Partial<ClientOptions> = {},
): Promise<{ server: FakeApiServer; client: KubeClient }> {
  const server = await FakeApiServer.start();
  const transport = new Transport(server.connection);
  onTestFinished(async () => {
    await transport.close();
    await server[Symbol.asyncDispose]();
  });
  return { server, client: new KubeClient(transport, { fieldManager: "test", ...options }) };
}
