import { afterAll, beforeAll, expect, test } from "vitest";
import { sessionName } from "../../../src/sessions/naming.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { Kube } from "../../support/kube.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** The operator's own account is that of the world. Two GatewayAccounts of another namespace lead to the other one. */
const world = useWorld({ startOperator: false, simulator: { sessions: { restartMs: 300 } } });

const KEY = "key-of-the-other";
let other: Simulator;
let team: Kube;

beforeAll(async () => {
  other = await startSimulator({ apiKey: KEY });
  const name = await world.cluster.freshNamespace("team");
  team = new Kube(world.cluster.kubeconfig, name);
  await world.startOperator({
    WATCH_NAMESPACES: [world.namespace, name].join(","),
    ALLOWED_GATEWAY_HOSTS: new URL(other.url).host,
    SESSION_SYNC_INTERVAL: "1s",
  });
  await team.apply(secret("key", { key: KEY }));
});

afterAll(async () => {
  await world.operator.stop();
  await other.stop();
  for (const { kind, metadata } of [...(await team.list("GatewayAccount")), ...(await team.list("Secret"))])
    await team.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
  await team.close();
});

const account = (name: string, tunnelSessions?: string): KubeJSON =>
  manifest("GatewayAccount", name, {
    apiKeySecretRef: { name: "key", key: "key" },
    baseURL: other.url,
    ...(tunnelSessions && { tunnelSessions }),
  });

const names = async (kube: Kube): Promise<string[]> =>
  (await kube.list("TunnelSession")).map(({ metadata }) => metadata.name).sort();

const shown = (kube: Kube, expected: string[]) =>
  world.until(`sessions ${expected.join()} are shown`, async () => {
    const found = await names(kube);
    return JSON.stringify(found) === JSON.stringify([...expected].sort());
  });

const online = (simulator: Simulator): string =>
  String(simulator.control.addSession({ os: "linux", region: "eu" } as never, {}).id);

const lists = (): number => other.control.requests({ method: "GET", path: "/tunnel_sessions" }).length;

const finished = (kube: Kube, name: string): Promise<KubeJSON> =>
  world.until(`command ${name} has finished`, async () => {
    const command = await kube.get("AgentCommand", name);
    return command?.status?.completedAt && command;
  });

test("an account has a mirror and commands in its namespace when its GatewayAccount asks for them", async () => {
  const own = online(world.simulator);
  const theirs = online(other);
  await team.apply(account("default"));
  await world.until("the account is used", async () =>
    (await team.get("GatewayAccount", "default"))?.status?.conditions?.some(
      ({ type, status }: KubeJSON) => type === "Ready" && status === "True",
    ),
  );
  await shown(world.kube, [sessionName(own)]);
  expect({ lists: lists(), shown: await names(team) }).toEqual({ lists: 0, shown: [] });
  const stop = { command: "Stop", sessionRef: { id: theirs } };
  await team.apply(manifest("AgentCommand", "too-early", stop));
  const refused = await finished(team, "too-early");
  expect(conditionOf(refused, "Failed")?.message).toBe(
    `Create it in namespace "${world.namespace}", where the operator's own sessions are, or set tunnelSessions: Mirror on GatewayAccount "default" of this namespace`,
  );

  await team.apply(account("default", "Mirror"), account("second", "Mirror"));
  await shown(team, [sessionName(theirs, "default"), sessionName(theirs, "second")]);
  const object = await team.get("TunnelSession", sessionName(theirs, "second"));
  expect(object?.metadata.labels).toMatchObject({ "tunnelgateway.dev/account": "second" });
  expect(await names(world.kube)).toEqual([sessionName(own)]);

  // Two mirrors of one account take no more lists than one.
  const before = { lists: lists(), syncs: await world.operator.metric("tunnelgateway_session_syncs_total") };
  await world.until("all mirrors have been synced", async () => {
    const syncs = await world.operator.metric("tunnelgateway_session_syncs_total");
    return syncs >= before.syncs + 15;
  });
  const syncs = (await world.operator.metric("tunnelgateway_session_syncs_total")) - before.syncs;
  expect(lists() - before.lists).toBeLessThan(syncs / 2);

  await team.apply(account("second", "Ignore"));
  await shown(team, [sessionName(theirs, "default")]);
  const selector = { matchLabels: { "tunnelgateway.dev/region": "eu" } };
  await team.apply(manifest("AgentCommand", "stop", { command: "Stop", selector }));
  expect((await finished(team, "stop")).status).toMatchObject({ total: 1, succeeded: 1 });
  expect(other.control.requests({ method: "POST", path: `/tunnel_sessions/${theirs}/stop` })).toHaveLength(1);
  await shown(team, []);
  const unmoved = manifest("AgentCommand", "not-mirrored", { ...stop, accountRef: { name: "second" } });
  await team.apply(unmoved);
  expect(conditionOf(await finished(team, "not-mirrored"), "Failed")?.message).toContain(
    'set tunnelSessions: Mirror on GatewayAccount "second"',
  );

  const last = online(other);
  await shown(team, [sessionName(last, "default")]);
  await team.delete("GatewayAccount", "default");
  await shown(team, []);
  expect(await names(world.kube)).toEqual([sessionName(own)]);
  const requests = world.simulator.control.requests({ method: "POST", path: "/tunnel_sessions" });
  expect(requests).toEqual([]);
});
