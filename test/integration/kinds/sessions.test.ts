import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { sessionName } from "../../../src/sessions/naming.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const examples = join(import.meta.dirname, "../../../examples/commands");

const world = useWorld({
  process: true,
  simulator: { sessions: { restartMs: 300, updateMs: 1000 } },
  env: { SESSION_SYNC_INTERVAL: "1s", REQUEST_TIMEOUT: "2s" },
});

const mirrored = async (): Promise<KubeJSON[]> => world.kube.list("TunnelSession");
const mirror = (id: string) => world.get("TunnelSession", sessionName(id));
const online = (members: object = {}, behaviour: object = {}): string =>
  String(world.simulator.control.addSession(members as never, behaviour).id);

const seen = (id: string) =>
  world.until(`session ${id} is mirrored`, async () => (await mirror(id))?.status?.id === id);

async function finished(name: string, seconds = 30): Promise<KubeJSON> {
  return world.until(
    `command ${name} has finished`,
    async () => {
      const command = await world.get("AgentCommand", name);
      return command?.status?.completedAt && command;
    },
    seconds,
  );
}

const sent = (id: string, request?: string) =>
  world.simulator.control.requests({ method: "POST", path: `/tunnel_sessions/${id}${request ? `/${request}` : ""}` });

/** Deletes it, and waits until it is gone. */
async function ended(kind: string, name: string): Promise<void> {
  await world.kube.delete(kind, name);
  await world.gone(kind, name);
}

const results = ({ status }: KubeJSON) =>
  Object.fromEntries(
    status.sessions.map(({ id, phase, reason }: KubeJSON) => [id, reason ? `${phase} ${reason}` : phase]),
  );

beforeEach(async () => {
  await world.until("no session is mirrored", async () => {
    // again each time: an agent that was restarted before comes back with another session
    for (const { id } of world.simulator.control.objects("tunnel_sessions")) {
      world.simulator.control.removeSession(String(id));
    }
    return (await mirrored()).length === 0;
  });
  world.simulator.control.clearRequests();
});

describe("the mirror", () => {
  test("shows a session, its changes and its end", async () => {
    const id = online({ os: "linux", region: "eu", transport: "svc/v2", agent_version: "3.1.0", metadata: "mine" });
    await seen(id);
    const object = await mirror(id);
    expect(object.metadata.labels).toEqual({
      "tunnelgateway.dev/mirror": "sessions",
      "tunnelgateway.dev/region": "eu",
      "tunnelgateway.dev/os": "linux",
      "tunnelgateway.dev/transport": "svc-v2",
      "tunnelgateway.dev/agent-version": "3.1.0",
    });
    expect(object.metadata.finalizers).toBeUndefined();
    expect(object.status).toMatchObject({
      id,
      agentVersion: "3.1.0",
      credential: { id: "cr_simulator" },
      ip: "203.0.113.7",
      metadata: "mine",
      os: "linux",
      region: "eu",
      transport: "svc/v2",
    });
    const { stdout } = await world.kubectl("get", "gwts");
    expect(stdout.split("\n")[0]?.trim().split(/\s+/)).toEqual([
      "NAME",
      "REGION",
      "OS",
      "TRANSPORT",
      "AGENT",
      "IP",
      "SINCE",
    ]);

    world.simulator.control.patch(id, { agent_version: "3.2.0" });
    await world.until("the new version is shown", async () => {
      const { metadata, status } = await mirror(id);
      return status.agentVersion === "3.2.0" && metadata.labels["tunnelgateway.dev/agent-version"] === "3.2.0";
    });

    world.simulator.control.removeSession(id);
    await world.gone("TunnelSession", sessionName(id));
  });

  test("asks once in each interval and writes nothing while nothing changes", async () => {
    await seen(online());
    await sleep(1200);
    const before = (await world.operator.clusterRequests()).writes;
    world.simulator.control.clearRequests();
    const [from, { length }] = [Date.now(), world.simulator.control.requests({ path: "/tunnel_sessions" })];
    await sleep(3500);
    const lists = world.simulator.control.requests({ path: "/tunnel_sessions" }).length - length;
    const passed = (Date.now() - from) / 1000;
    expect(lists).toBeGreaterThanOrEqual(2);
    expect(lists).toBeLessThanOrEqual(Math.ceil(passed));
    expect((await world.operator.clusterRequests()).writes).toBe(before);
  });

  test("brings back what somebody deleted, and puts edits of status and labels right", async () => {
    const id = online({ region: "eu" });
    await seen(id);
    await world.kube.delete("TunnelSession", sessionName(id));
    await seen(id);
    await world.kube.patchStatus("TunnelSession", sessionName(id), { region: "us" });
    const labels = { "tunnelgateway.dev/region": "us", a: "b" };
    await world.kube.patch("TunnelSession", sessionName(id), { metadata: { labels } });
    await world.until("both are put right", async () => {
      const { metadata, status } = await mirror(id);
      return (
        status.region === "eu" && metadata.labels["tunnelgateway.dev/region"] === "eu" && metadata.labels.a === "b"
      );
    });
  });

  test("leaves the objects of others alone", async () => {
    await world.kube.apply(manifest("TunnelSession", "mine", { id: "ts_mine" }));
    await seen(online());
    await sleep(1500);
    expect(await world.get("TunnelSession", "mine")).toBeDefined();
    await ended("TunnelSession", "mine");
  });

  test("removes nothing while the list fails or has rows that cannot be read", async () => {
    const id = online();
    await seen(id);
    world.simulator.control.outage(true);
    world.simulator.control.removeSession(id);
    await sleep(2500);
    expect(await mirror(id)).toBeDefined();
    const bad = online({ ip: 7 as never });
    world.simulator.control.outage(false);
    // after an outage requests go through again with the next probe
    await world.until("a list succeeds", async () => {
      const lists = world.simulator.control.requests({ method: "GET", path: "/tunnel_sessions", status: 200 });
      return lists.some(({ fault }) => !fault);
    });
    await sleep(1500);
    expect(await mirror(id)).toBeDefined();
    world.simulator.control.removeSession(bad);
    await world.gone("TunnelSession", sessionName(id));
    expect(world.operator.isRunning).toBe(true);
    expect(await world.operator.metric("tunnelgateway_session_syncs_total", { result: "error" })).toBeGreaterThan(0);
  });
});

describe("commands", () => {
  const command = (name: string, spec: object) => world.kube.apply(manifest("AgentCommand", name, spec));

  test("restart one after another, each when the one before is back", async () => {
    const ids = ["eu", "eu", "eu", "us"].map((region, at) => online({ region, ip: `203.0.113.${at}` }));
    for (const id of ids) await seen(id);
    const selector = { matchLabels: { "tunnelgateway.dev/region": "eu" } };
    await command("restart", { command: "Restart", selector });
    const done = await finished("restart");
    expect(done.status).toMatchObject({ total: 3, succeeded: 3, failed: 0, unknown: 0, completions: "3/3" });
    expect(conditionOf(done, "Complete")).toMatchObject({ status: "True", reason: "Completed" });
    expect(conditionOf(done, "Ready")).toMatchObject({ status: "True" });
    expect(conditionOf(done, "Reconciling")).toBeUndefined();
    expect(sent(ids[3] as string)).toEqual([]);

    const requests = world.simulator.control.requests({ method: "POST", path: "/tunnel_sessions" });
    expect(requests).toHaveLength(3);
    for (const { id, newSession } of done.status.sessions) {
      expect(newSession.name).toBe(sessionName(newSession.id));
      expect(world.simulator.control.get(newSession.id)?.["ip"]).toBe(`203.0.113.${ids.indexOf(id)}`);
    }
    const waits = requests.slice(1).map(({ time }, at) => time - (requests[at]?.time ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(300);
    await world.kubectl("wait", "--for=condition=Complete", "agentcommand/restart", "--timeout=1s");
    const { stdout } = await world.kubectl("get", "gwcmd", "restart");
    expect(stdout).toMatch(/COMMAND\s+COMPLETIONS\s+READY\s+REASON[\s\S]*Restart\s+3\/3\s+True\s+Completed/);
    await ended("AgentCommand", "restart");
  });

  test("stop, by name, and nothing is written or sent afterwards", async () => {
    const id = online();
    await seen(id);
    await command("stop", { command: "Stop", sessionRef: { name: sessionName(id) } });
    expect(results(await finished("stop"))).toEqual({ [id]: "Succeeded" });
    await world.gone("TunnelSession", sessionName(id));
    const before = (await world.operator.clusterRequests()).writes;
    await sleep(2500);
    expect((await world.operator.clusterRequests()).writes).toBe(before);
    expect(sent(id)).toHaveLength(1);
    await ended("AgentCommand", "stop");
  });

  test("update, and say why where it cannot be", async () => {
    const reasons = ["none_available", "disabled", "updating", "awaiting_restart"];
    const ids = reasons.map((updateRefusal) => online({ region: "ap" }, { updateRefusal }));
    const fine = online({ region: "ap" });
    for (const id of [...ids, fine]) await seen(id);
    const selector = { matchLabels: { "tunnelgateway.dev/region": "ap" } };
    await command("update", { command: "Update", selector, maxConcurrent: 5 });
    const done = await finished("update");
    expect(results(done)).toEqual({
      [ids[0] as string]: "Skipped NoUpdateAvailable",
      [ids[1] as string]: "Failed UpdateChecksDisabled",
      [ids[2] as string]: "Skipped Updating",
      [ids[3] as string]: "Skipped AwaitingRestart",
      [fine]: "Succeeded",
    });
    expect(done.status.completions).toBe("4/5");
    const failed = done.status.sessions.find(({ id }: KubeJSON) => id === ids[1]);
    expect(failed.message).toContain("disables update checks");
    expect(conditionOf(done, "Failed")).toMatchObject({ status: "True", reason: "CommandFailed" });
    expect(conditionOf(done, "Stalled")).toMatchObject({ status: "True" });
    await ended("AgentCommand", "update");
  });

  test("update and restart, at least 10 seconds apart, across a restart of the operator", async () => {
    const id = online({ agent_version: "3.1.0" });
    await seen(id);
    await command("both", { command: "UpdateAndRestart", sessionRef: { id } });
    await world.until("it is updated", async () => {
      const { status } = await world.get("AgentCommand", "both");
      return status.sessions?.[0]?.phase === "Updated";
    });
    await world.operator.stop("SIGKILL");
    await world.startOperator();
    const done = await finished("both", 40);
    const [session] = done.status.sessions;
    expect(session.phase).toBe("Succeeded");
    expect(world.simulator.control.get(session.newSession.id)?.["agent_version"]).toBe("3.2.0");
    const [update] = sent(id, "update");
    const [restart, ...more] = sent(id, "restart");
    expect((restart?.time ?? 0) - (update?.time ?? 0)).toBeGreaterThanOrEqual(10_000);
    expect([...more, ...sent(id, "update").slice(1)]).toEqual([]);
    await ended("AgentCommand", "both");
  });

  test("never restart an agent on Windows", async () => {
    const id = online({ os: "windows" });
    await seen(id);
    await command("windows", { command: "Restart", sessionRef: { id } });
    expect(results(await finished("windows"))).toEqual({ [id]: "Failed RestartUnsupported" });
    expect(sent(id)).toEqual([]);
    await ended("AgentCommand", "windows");
  });

  test("end where they mean no session", async () => {
    await command("nobody", { command: "Stop", selector: { matchLabels: { "tunnelgateway.dev/os": "plan9" } } });
    const message = "Correct spec.selector: no session that is online has these labels";
    expect(conditionOf(await finished("nobody"), "Failed")).toMatchObject({ status: "True", message });
    await command("unknown", { command: "Stop", sessionRef: { id: "ts_unknown" }, ttlSecondsAfterFinished: 0 });
    await world.gone("AgentCommand", "unknown");
    await ended("AgentCommand", "nobody");
  });

  test("take a lost answer for unknown and never send a stop or restart again", async () => {
    const id = online();
    await seen(id);
    world.simulator.control.fault({ method: "POST", path: `/tunnel_sessions/${id}/restart`, action: { cut: "after" } });
    await command("lost", { command: "Restart", sessionRef: { id } });
    expect(results(await finished("lost"))).toEqual({ [id]: "Unknown AnswerLost" });
    await sleep(2000);
    expect(sent(id)).toHaveLength(1);
    await ended("AgentCommand", "lost");
  });

  test("repeat an update whose answer was lost, since the service tells whether it was done", async () => {
    const id = online();
    await seen(id);
    world.simulator.control.fault({ method: "POST", path: `/tunnel_sessions/${id}/update`, action: { cut: "after" } });
    await command("again", { command: "Update", sessionRef: { id } });
    expect(results(await finished("again"))).toEqual({ [id]: "Succeeded" });
    expect(sent(id)).toHaveLength(2);
    await ended("AgentCommand", "again");
  });

  test.each(["Restart", "Stop"])(
    "%s: killed between record and answer, it is unknown and not sent again",
    async (name) => {
      const id = online();
      await seen(id);
      world.simulator.control.fault({ method: "POST", path: `/tunnel_sessions/${id}`, action: { hang: true } });
      await command("killed", { command: name, sessionRef: { id } });
      await world.until("the request is under way", async () => sent(id).length > 0);
      await world.operator.stop("SIGKILL");
      await world.startOperator();
      const done = await finished("killed");
      expect(results(done)).toEqual({ [id]: "Unknown AnswerLost" });
      expect(conditionOf(done, "Ready")).toMatchObject({ status: "False", reason: "CommandFailed" });
      await sleep(2000);
      expect(sent(id)).toHaveLength(1);
      await ended("AgentCommand", "killed");
    },
  );

  test("stop where an agent does not come back is a matter of minutes, so that it is only under way here", async () => {
    const lost = online({ region: "sa", ip: "203.0.113.1" }, { lostOnRestart: true });
    const other = online({ region: "sa", ip: "203.0.113.2" });
    for (const id of [lost, other]) await seen(id);
    const selector = { matchLabels: { "tunnelgateway.dev/region": "sa" } };
    await command("slow", { command: "Restart", selector });
    await world.until("one is away", async () => {
      const object = await world.get("AgentCommand", "slow");
      return object?.status?.sessions?.some(({ phase }: KubeJSON) => phase === "Returning");
    });
    const object = await world.get("AgentCommand", "slow");
    expect(conditionOf(object, "Reconciling")).toMatchObject({ status: "True", reason: "Running" });
    await ended("AgentCommand", "slow");
  });
});

test("killed between the record and the request, the outcome is unknown and nothing is sent", async () => {
  const id = online();
  await seen(id);
  await world.operator.stop("SIGKILL");
  await world.kube.apply(manifest("AgentCommand", "recorded", { command: "Stop", sessionRef: { id } }));
  const record = { id, name: sessionName(id), phase: "Sending", sending: "stop", sentAt: new Date().toISOString() };
  await world.kube.patchStatus("AgentCommand", "recorded", { sessions: [record] });
  await world.startOperator();
  expect(results(await finished("recorded"))).toEqual({ [id]: "Unknown AnswerLost" });
  expect(sent(id)).toEqual([]);
  await ended("AgentCommand", "recorded");
});

test("the example is accepted, and commands are obeyed only where the sessions are", async () => {
  await world.cluster.kubectlRun(["apply", "--dry-run=server", "--namespace", world.namespace, "-f", examples]);
  const home = await world.cluster.freshNamespace("home");
  const id = online();
  await world.restartOperator({ POD_NAMESPACE: home });
  await world.kube.apply(manifest("AgentCommand", "abroad", { command: "Stop", sessionRef: { id } }));
  const abroad = await finished("abroad");
  expect(conditionOf(abroad, "Failed").message).toContain(`Create it in namespace "${home}"`);
  expect(sent(id)).toEqual([]);
  const name = sessionName(id);
  await world.until("it is mirrored there", async () => {
    const { code } = await world.cluster.kubectlRun(["get", "tunnelsession", name, "-n", home], { allowFailure: true });
    return code === 0;
  });
  await ended("AgentCommand", "abroad");
  await world.restartOperator();
});

describe("admission", () => {
  const refused = (spec: object): Promise<string> =>
    world.kube.create(manifest("AgentCommand", "refused", spec), { dryRun: true }).then(
      () => "accepted",
      ({ message }) => message,
    );

  test.each([
    ["no target", { command: "Stop" }, "exactly one of `sessionRef` and `selector`"],
    [
      "two targets",
      { command: "Stop", sessionRef: { id: "ts_1" }, selector: { matchLabels: { a: "b" } } },
      "exactly one of `sessionRef` and `selector`",
    ],
    ["two names", { command: "Stop", sessionRef: { id: "ts_1", name: "a" } }, "exactly one of `name`"],
    ["an empty selector", { command: "Stop", selector: { matchLabels: {} } }, "at least one label"],
    ["another command", { command: "Explode", sessionRef: { id: "ts_1" } }, "Unsupported value"],
    ["nobody at a time", { command: "Stop", sessionRef: { id: "ts_1" }, maxConcurrent: 0 }, "maxConcurrent"],
  ])("%s is refused", async (_, spec, words) => expect(await refused(spec)).toContain(words));

  test("a command is not changed, nor the id of a session", async () => {
    await world.kube.apply(manifest("AgentCommand", "fixed", { command: "Stop", sessionRef: { id: "ts_gone" } }));
    await finished("fixed");
    const change = world.kube.patch("AgentCommand", "fixed", { spec: { maxConcurrent: 2 } });
    await expect(change).rejects.toThrow("is immutable: a command runs once");
    await ended("AgentCommand", "fixed");
    const id = online();
    await seen(id);
    const other = world.kube.patch("TunnelSession", sessionName(id), { spec: { id: "ts_other" } });
    await expect(other).rejects.toThrow("`id` is immutable");
  });
});
