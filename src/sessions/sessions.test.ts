import { expect, test } from "vitest";
import type { CommandObject } from "./command.ts";
import { flowOf } from "./sessions.ts";

test("commands share workers by account: GatewayAccounts of the same name in two namespaces are two", () => {
  const config = { podNamespace: "gateway", watchNamespaces: [], sessionSyncSeconds: 30 };
  const flow = (namespace: string, name?: string) =>
    flowOf(config, { metadata: { namespace }, spec: name ? { accountRef: { name } } : {} } as CommandObject);
  const flows = [flow("team-a"), flow("team-a", "default"), flow("team-b"), flow("gateway"), flow("gateway", "blue")];
  expect(flows).toEqual(["team-a/default", "team-a/default", "team-b/default", "", "gateway/blue"]);
});
