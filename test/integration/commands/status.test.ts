import { expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { Replica } from "../../support/replica.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ startOperator: false });

interface Account {
  namespace: string;
  name: string;
  [member: string]: unknown;
}

/** The account of this name, as `status` shows it. */
async function accountOf(name: string): Promise<Account | undefined> {
  const { code, stdout } = await command(world, ["status", "-n", world.namespace, "-o", "json"]);
  expect(code).toBe(0);
  const { accounts } = JSON.parse(stdout) as { accounts: Account[] };
  return accounts.find((one) => one.name === name);
}

test("status shows how many requests the leader sends to each account, and when it listed it last", async () => {
  const replica = await Replica.launch(world);
  try {
    await world.until("it leads", () => replica.leads());
    await world.apply(
      { apiVersion: "v1", kind: "Secret", metadata: { name: "key" }, stringData: { key: world.simulator.apiKey } },
      manifest("GatewayAccount", "second", { apiKeySecretRef: { name: "key", key: "key" } }),
      manifest("IPPolicy", "office", { accountRef: { name: "second" } }),
    );
    await world.ready("IPPolicy", "office");
    // The list and the create have been sent, and the Lease tells of both once it is renewed.
    const account = await world.until("the Lease is renewed", async () => {
      const found = await accountOf("second");
      return found?.["lastList"] !== undefined && Number(found["requestsInLastMinute"]) >= 2 && found;
    });
    expect(account).toMatchObject({ ready: "True", objects: 1, requestsPerMinute: 0 });
    expect(Date.now() - Date.parse(String(account["lastList"]))).toBeLessThan(60_000);
    const lease = JSON.stringify(await world.get("lease", "tunnel-gateway-operator"));
    expect(lease).toContain("tunnelgateway.dev/accounts");
    expect(lease).not.toContain(world.simulator.apiKey);
  } finally {
    await replica.close();
  }
});
