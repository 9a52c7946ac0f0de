import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import type { FaultAction } from "../../tools/simulator/control/faults.ts";
import { type Simulator, startSimulator } from "../../tools/simulator/simulator.ts";
import { secret } from "../support/samples.ts";
import { useWorld } from "../support/world.ts";

const world = useWorld({ startOperator: false });
let busy: Simulator;
let idle: Simulator;

beforeAll(async () => {
  [busy, idle] = await Promise.all([startSimulator(), startSimulator()]);
});

afterAll(() => Promise.all([busy.stop(), idle.stop()]));

const start = (env: Record<string, string>) => {
  const hosts = [busy, idle].map(({ url }) => new URL(url).host).join(",");
  return world.startOperator({ ALLOWED_GATEWAY_HOSTS: hosts, ...env });
};

const account = (name: string, { url: baseURL, apiKey }: Simulator, key = apiKey): KubeJSON[] => [
  secret(`key-of-${name}`, { key }),
  manifest("GatewayAccount", name, { apiKeySecretRef: { name: `key-of-${name}`, key: "key" }, baseURL }),
];

const policies = (accountName: string, count: number): KubeJSON[] =>
  Array.from({ length: count }, (_, index) =>
    manifest("IPPolicy", `${accountName}-${index}`, { accountRef: { name: accountName }, description: "x" }),
  );

const created = ({ control }: Simulator): number =>
  control.requests({ method: "POST" }).filter(({ status }) => status === 201).length;

const always = (action: FaultAction) => busy.control.fault({ times: Number.POSITIVE_INFINITY, action });

afterEach(async () => {
  await world.operator.stop("SIGKILL");
  await world.releaseAll();
  for (const { control } of [busy, idle]) {
    control.clearFaults();
    control.clearRequests();
  }
});

describe("an object of an idle account", () => {
  // guards against workers that all wait for the account of others
  test("is created while the service throttles another account, whose hundred objects follow", async () => {
    await start({ REQUESTS_PER_MINUTE: "0" });
    await world.kube.apply(...account("busy", busy), ...account("idle", idle));
    for (const name of ["busy", "idle"]) await world.ready("GatewayAccount", name);
    always({ rateLimit: { retryAfterSeconds: 20 } });
    await world.kube.apply(...policies("busy", 100));
    await world.until("it is throttled", async () => busy.control.requests().some(({ status }) => status === 429));
    await world.kube.apply(...policies("idle", 1));
    await world.ready("IPPolicy", "idle-0");
    expect(created(busy)).toBe(0);
    busy.control.clearFaults();
    await world.untilAll("the others follow", policies("busy", 100), isReady, 60);
    expect(created(busy)).toBe(100);
  });

  test("is created while a hundred and fifty of another account wait for its request budget", async () => {
    await start({ REQUESTS_PER_MINUTE: "20" });
    await world.kube.apply(...account("busy", busy), ...account("idle", idle));
    await world.kube.apply(...policies("busy", 150));
    await world.until("the first ones are sent", async () => created(busy) > 0);
    await world.kube.apply(...policies("idle", 1));
    await world.ready("IPPolicy", "idle-0");
    expect(created(busy)).toBeLessThan(100);
  });
});

describe.each<[string, FaultAction]>([
  ["are throttled", { rateLimit: { retryAfterSeconds: 600 } }],
  ["hang", { hang: true }],
])("beside twenty GatewayAccounts whose services %s", (_, action) => {
  test("another one is Ready", async () => {
    await start({ REQUEST_TIMEOUT: "5m" });
    always(action);
    const others = Array.from({ length: 20 }, (_, index) => account(`other-${index}`, busy, `key-${index}`)).flat();
    await world.kube.apply(...others);
    const isAsked = async () => busy.control.requests().length >= ("hang" in action ? 4 : 20);
    await world.until("their services are asked", isAsked);
    await world.kube.apply(...account("idle", idle));
    const found = await world.ready("GatewayAccount", "idle");
    expect(conditionOf(found, "Ready")?.reason).toBe("Available");
  });
});
