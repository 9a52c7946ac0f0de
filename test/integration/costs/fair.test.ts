import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { FaultAction } from "../../../tools/simulator/control/faults.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { json, serve } from "../../support/gateway-service.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const REQUESTED = "tunnelgateway.dev/reconcile-requested-at";
const world = useWorld({ startOperator: false });
let busy: Simulator;
let idle: Simulator;

beforeEach(async () => {
  [busy, idle] = await Promise.all([startSimulator(), startSimulator()]);
});

const start = (env: Record<string, string>) => {
  const hosts = [busy, idle].map(({ url }) => new URL(url).host).join(",");
  return world.startOperator({ ALLOWED_GATEWAY_HOSTS: hosts, ...env });
};

const account = (name: string, { url: baseURL, apiKey: key }: Pick<Simulator, "url" | "apiKey">): KubeJSON[] => [
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
  await world.operator.stop();
  await world.releaseAll();
  const left = [...(await world.kube.custom()), ...(await world.kube.list("GatewayAccount"))];
  await Promise.all(left.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name).catch(() => undefined)));
  await world.until("all are gone", async () => (await world.kube.list("GatewayAccount", "IPPolicy")).length === 0);
  await Promise.all([busy.stop(), idle.stop()]);
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

/** Services of which one asks for a long pause, and one never answers. Each key is an account of its own. */
describe.each([
  { they: "are throttled", answer: (response: ServerResponse) => json(response, 429, {}, { "retry-after": "600" }) },
  { they: "hang", answer: () => undefined },
])("beside twenty GatewayAccounts whose services $they", ({ answer }) => {
  test("another one is Ready", async () => {
    const { url, seen } = await serve(answer);
    await start({ REQUEST_TIMEOUT: "5m", ALLOWED_GATEWAY_HOSTS: `${new URL(url).host},${new URL(idle.url).host}` });
    const names = Array.from({ length: 20 }, (_, index) => `other-${index}`);
    await world.kube.apply(...names.flatMap((name) => account(name, { url, apiKey: name })));
    await world.until("the services are asked", async () => seen.length >= 4);
    for (const name of names) await world.kube.annotate("GatewayAccount", name, { [REQUESTED]: "now" });
    await world.kube.apply(...account("idle", idle));
    const found = await world.ready("GatewayAccount", "idle");
    expect(conditionOf(found, "Ready")?.reason).toBe("Available");
  });
});
