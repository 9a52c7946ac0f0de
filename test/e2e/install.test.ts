import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FINALIZER } from "../../src/schema/contract.ts";
import { examples } from "../../tools/shared/examples.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { chart } from "./support/helm.ts";
import { Installation, type Release, until } from "./support/installation.ts";
import type { Pod } from "./support/pod.ts";
import type { Recorded } from "./support/recording-proxy.ts";
import { askAgain, type Rule, rightOf, rightsOf } from "./support/rights.ts";

const NAMESPACE = "gateway-system";
const TEAM = "team";
/** No limits, and sessions at once. */
const SWIFT = {
  "gateway.requestsPerMinute": 0,
  "gateway.maxDeletesPerMinute": 0,
  "gateway.sessionSyncInterval": "1s",
};
const DEPLOYMENT = "gateway-tunnel-gateway-operator";
const SECRET = `${DEPLOYMENT}-credentials`;

let world: Installation;
let release: Release;
let operator: Pod;

beforeAll(async () => {
  world = await Installation.start();
  release = world.release("gateway", NAMESPACE);
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

// each step stands on the one before
let isBroken = false;
beforeEach(({ skip }) => skip(isBroken, "an earlier step failed"));
afterEach(({ task }) => {
  isBroken ||= task.result?.state === "fail";
  if (task.result?.state === "fail") console.error(operator?.output.slice(-3000));
});

/** All that the chart has granted to the operator, and to its hooks by either policy. */
const granted = { operator: [] as string[], hooks: new Set<string>() };
const unused = (rights: string[], requests: readonly Recorded[]): string[] => {
  const used = new Set(requests.map(rightOf));
  return rights.filter((right) => !used.has(right));
};

const team = () => world.objects(TEAM);
const isReleased = ({ metadata }: KubeJSON) => !metadata.finalizers?.includes(FINALIZER);

async function allReady(): Promise<void> {
  let waiting: string[] = [];
  const ask = async () => {
    waiting = (await team())
      .filter((object) => !isReady(object))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    return waiting.length === 0;
  };
  await until("all examples are Ready", ask, 60).catch((error) => {
    throw new Error(`${error.message}: ${waiting.join(", ")}\n${operator.output.slice(-3000)}`);
  });
}

/** And the kubelet brings it to the pod. */
async function patchSecret(key: string): Promise<void> {
  const patch = JSON.stringify({ stringData: { "api-key": key } });
  await world.kubectl("patch", "secret", SECRET, "-n", NAMESPACE, "--type=merge", "-p", patch);
  await operator.syncVolumes();
}

/** Leases of the operator and copies of them, in all namespaces. */
const leases = () =>
  world.kubectl("get", "leases", "-A", "-l", "app.kubernetes.io/part-of=tunnel-gateway-operator", "-o", "name");

async function isToldToStop(): Promise<void> {
  const scaled = async () => (await world.get("deployment", DEPLOYMENT, "-n", NAMESPACE)).spec.replicas === 0;
  await until("the operator is told to stop", scaled);
}

/** While the release and the roles of its hook are there. */
async function noteGranted(): Promise<void> {
  const rulesOf = async (...role: string[]): Promise<Rule[]> => (await world.get(...role)).rules;
  const [cluster, own, hook, hookOwn] = await Promise.all([
    rulesOf("clusterrole", DEPLOYMENT),
    rulesOf("role", `${DEPLOYMENT}-own`, "-n", NAMESPACE),
    rulesOf("clusterrole", `${DEPLOYMENT}-uninstall`),
    rulesOf("role", `${DEPLOYMENT}-uninstall-own`, "-n", NAMESPACE),
  ]);
  granted.operator = rightsOf([...cluster, ...own]);
  for (const right of rightsOf([...hook, ...hookOwn])) granted.hooks.add(right);
}

async function restartOperator(): Promise<void> {
  await operator.stop();
  operator = await release.operator();
}

describe("a release with one value", () => {
  test("installs, and says what is missing", async () => {
    const notes = await release.install();
    expect(notes).toContain("WARNING: no credentials are configured");
    expect(notes).toContain(`kubectl create secret generic ${SECRET}`);
    expect(notes).toContain("\n  kubectl tunnelgateway status --all-namespaces\n");
    const { home } = parse(await readFile(join(chart, "Chart.yaml"), "utf8"));
    expect(notes).toContain(`Pages: ${home}\n`);
    operator = await release.operator();
  });

  test("tells objects that there are no credentials, and goes on by itself when there are", async () => {
    await world.kubectl("create", "namespace", TEAM);
    await world.apply(TEAM, manifest("ReservedAddress", "first", { region: "eu", description: "" }));
    await until("it says what is missing", async () => {
      const [object] = await team();
      return conditionOf(object, "Ready")?.reason === "AccountNotReady";
    });
    const literal = `--from-literal=api-key=${world.simulator.apiKey}`;
    await world.kubectl("create", "secret", "generic", SECRET, "-n", NAMESPACE, literal);
    await operator.syncVolumes();
    await until("it is Ready", async () => (await team()).every(isReady), 60);
  });

  test("takes up a key that is rotated, without a restart", async () => {
    const { apiKeys } = world.simulator.control;
    apiKeys.accept("the-next-key");
    await patchSecret("the-next-key");
    apiKeys.revoke(world.simulator.apiKey);
    await world.apply(TEAM, manifest("ReservedAddress", "rotated", { region: "eu" }));
    await until("it is Ready", async () => (await team()).every(isReady), 60);
    apiKeys.accept(world.simulator.apiKey);
    await patchSecret(world.simulator.apiKey);
    await world.kubectl("delete", "reservedaddress", "rotated", "-n", TEAM, "--timeout=20s");
  });

  test("keeps what Helm stores well below the limit of a Secret", async () => {
    const secrets = await world.get("secrets", "-n", NAMESPACE, "-l", "owner=helm");
    const sizes = secrets.items.map(({ data }: KubeJSON) => data.release.length);
    expect(sizes).toHaveLength(1);
    expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
  });

  test("doctor finds nothing to say", async () => {
    await using doctor = await release.doctor();
    expect({ code: await doctor.ended(), output: doctor.output }).toEqual({ code: 0, output: expect.any(String) });
    expect(doctor.lines.filter((line) => line.startsWith("ok"))).toHaveLength(6);
  });

  test("doctor names a right that is missing", async () => {
    const role = await world.get("clusterrole", DEPLOYMENT);
    const rules = role.rules.filter(({ resources }: KubeJSON) => !resources.includes("secrets"));
    const patch = (to: KubeJSON[]) =>
      world.kubectl("patch", "clusterrole", DEPLOYMENT, "--type=merge", "-p", JSON.stringify({ rules: to }));
    await patch(rules);
    await using doctor = await release.doctor();
    expect(await doctor.ended()).toBe(1);
    expect(doctor.output).toContain("get secrets in all namespaces");
    await patch(role.rules);
  });
});

describe("an upgrade", () => {
  const logLevel = async (): Promise<string> => {
    const { spec } = await world.get("deployment", DEPLOYMENT, "-n", NAMESPACE);
    return spec.template.spec.containers[0].env.find(({ name }: KubeJSON) => name === "LOG_LEVEL").value;
  };

  test("changes the operator, and nothing in the account", async () => {
    const before = world.changesSent();
    await release.upgrade({ ...SWIFT, logLevel: "debug" });
    await restartOperator();
    expect(await logLevel()).toBe("debug");
    await allReady();
    expect(world.changesSent()).toBe(before);
  });

  test("can be rolled back, and made again", async () => {
    const before = world.changesSent();
    await release.rollback();
    await restartOperator();
    expect(await logLevel()).toBe("info");
    await release.upgrade({ ...SWIFT });
    await restartOperator();
    await allReady();
    expect(world.changesSent()).toBe(before);
  });

  test("of Kubernetes, from a version that does not stream lists, is none that it notices", async () => {
    world.proxy.streamsLists = false;
    await restartOperator();
    expect(operator.output).toContain("did not stream the list");
    await allReady();
    world.proxy.streamsLists = true;
  });
});

test("all examples become Ready with the rights of the chart, and no request is denied", async () => {
  const objects = await examples();
  for (const { kind, spec } of objects) {
    // the only resource that cannot be made through the service's interface
    if (kind === "HTTPSEdgeRoute") world.simulator.control.addRoute({ edgeId: spec.edgeId, routeId: spec.routeId });
  }
  await world.apply(TEAM, ...objects);
  await allReady();
  const denied = world.proxy.requests.filter(({ status }) => status === 403);
  expect(denied).toEqual([]);
});

test("sessions are mirrored in the namespace of the release, and commands obeyed", async () => {
  const sessions = async (): Promise<KubeJSON[]> => (await world.get("tunnelsessions", "-n", NAMESPACE)).items;
  const { id } = world.simulator.control.addSession({ region: "eu" });
  await until("the session is there", async () => (await sessions()).length === 1);
  world.simulator.control.patch(String(id), { region: "us" });
  await until("its labels follow", async () => {
    const [{ metadata }] = await sessions();
    return metadata.labels["tunnelgateway.dev/region"] === "us";
  });
  const command = { command: "Stop", sessionRef: { id }, ttlSecondsAfterFinished: 0 };
  await world.apply(NAMESPACE, manifest("AgentCommand", "stop", command));
  await until("the session is gone", async () => (await sessions()).length === 0);
  await until("the command is gone", async () => (await world.objects(NAMESPACE)).length === 0);
});

test("a GatewayAccount of a namespace is used, and its Secret held on to", async () => {
  const name = "ours";
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    stringData: { token: world.simulator.apiKey },
  };
  const account = manifest("GatewayAccount", name, { apiKeySecretRef: { name, key: "token" } });
  await world.apply(TEAM, secret, account, manifest("ReservedAddress", name, { region: "eu", accountRef: { name } }));
  await allReady();
  await until("the Secret is held", async () => {
    const { metadata } = await world.get("secret", name, "-n", TEAM);
    return metadata.finalizers?.includes(FINALIZER);
  });
});

test("what happens twice is one event that counts", async () => {
  const { status } = await world.get("reservedaddress", "first", "-n", TEAM);
  for (const time of ["once", "twice"]) {
    world.simulator.control.patch(status.id, { description: "by somebody else" });
    const look = `tunnelgateway.dev/reconcile-requested-at=${time}`;
    await world.kubectl("annotate", "reservedaddress", "first", "-n", TEAM, look, "--overwrite");
    await until("it is put right", async () => !world.simulator.control.get(status.id)?.["description"]);
  }
  await until("the event counts", async () => {
    const { items } = await world.get("events.v1.events.k8s.io", "-n", TEAM, "--field-selector=reason=RemoteDiffers");
    return items.some(({ series }: KubeJSON) => series?.count === 2);
  });
});

// guards against two installations with the same objects: the other one may read in its own namespaces only
test("an installation that cannot see this one finds a copy of its Lease, until it is gone", async () => {
  const said = { name: "default", namespaces: ["elsewhere"], claim: "waiting", attempt: 1 };
  await world.kubectl("create", "namespace", "elsewhere");
  await world.apply("elsewhere", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name: "tunnel-gateway-operator",
      labels: { "app.kubernetes.io/part-of": "tunnel-gateway-operator" },
      annotations: { "tunnelgateway.dev/installation": JSON.stringify(said) },
    },
    spec: { holderIdentity: "other", leaseDurationSeconds: 3600 },
  });
  const copy = `tunnel-gateway-operator.${NAMESPACE}`;
  const leases = () => world.kubectl("get", "leases", "-n", "elsewhere", "-o", "name");
  await until("the copy is there", async () => (await leases()).includes(copy), 20);
  await world.kubectl("delete", "lease", "tunnel-gateway-operator", "-n", "elsewhere");
  await until("the copy is gone", async () => (await leases()) === "", 20);
});

test("each rule is needed: without it, what it was used for is denied", async () => {
  await operator.stop();
  const { stdout } = await world.cluster.kubectlRun(["create", "token", DEPLOYMENT, "-n", NAMESPACE]);
  const requests = new Map(world.proxy.requests.map((request) => [rightOf(request), request]));
  const answers = async (rights: string[]): Promise<boolean[]> =>
    Promise.all(
      rights
        .flatMap((right) => requests.get(right) ?? [])
        .map(async (request) => {
          const status = await askAgain(request, world.proxy.url, stdout.trim());
          return status === 403;
        }),
    );
  for (const role of [
    ["clusterrole", DEPLOYMENT],
    ["role", `${DEPLOYMENT}-own`, "-n", NAMESPACE],
  ]) {
    const { rules } = (await world.get(...role)) as { rules: Rule[] };
    const change = (to: Rule[]) => world.kubectl("patch", ...role, "--type=merge", "-p", JSON.stringify({ rules: to }));
    for (const rule of rules) {
      const rights = rightsOf([rule]).filter((right) => requests.has(right));
      expect(rights, JSON.stringify(rule)).not.toEqual([]);
      const denied = async () => (await answers(rights)).every(Boolean);
      await change(rules.filter((one) => one !== rule));
      await until(`all of ${JSON.stringify(rule)} is denied`, denied, 10);
    }
    await change(rules);
    await until("all is granted again", async () => !(await answers(rightsOf(rules))).some(Boolean), 10);
  }
  operator = await release.operator();
});

describe("uninstalling with policy retain", () => {
  let before: KubeJSON;

  test("the hook stops the operator and releases all objects", async () => {
    before = world.simulator.control.summary();
    await using job = await release.uninstallJob();
    await noteGranted();
    await isToldToStop();
    // what the kubelet does when the pod is deleted
    await operator.stop();
    expect({ code: await job.ended(), output: job.output }).toMatchObject({ code: 0 });
    expect(job.output).toMatch(/Released \d+ objects; nothing in the account changes/);
    expect((await team()).filter((object) => !isReleased(object))).toEqual([]);
  });

  test("afterwards the objects, their kinds and the account are as before, and the rest is gone", async () => {
    const objects = (await team()).length;
    await release.uninstall();
    expect(await team()).toHaveLength(objects);
    expect(world.simulator.control.summary()).toEqual(before);
    const kinds = "all,clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts";
    const ours = ["-n", NAMESPACE, "-l", "app.kubernetes.io/instance=gateway"];
    const left = await world.kubectl("get", kinds, "-o", "name", ...ours);
    expect(left.split("\n").filter((name) => name && !name.includes("-uninstall"))).toEqual([]);
    expect(await leases()).toBe("");
  });

  test("installed again, it goes on where it stopped and makes nothing twice", async () => {
    await release.install({
      ...SWIFT,
      "uninstall.policy": "delete",
      "uninstall.timeout": "8s",
    });
    operator = await release.operator();
    await allReady();
    await until("all objects are held again", async () => (await team()).every((object) => !isReleased(object)));
    expect(world.simulator.control.summary()).toEqual(before);
  });
});

describe("uninstalling with policy delete", () => {
  test("the hook says what it could not delete, and fails", async () => {
    await world.apply(TEAM, manifest("AgentCommand", "old", { command: "Stop", sessionRef: { id: "ts_gone" } }));
    await world.kubectl("annotate", "ippolicies", "--all", "-n", TEAM, "tunnelgateway.dev/paused=true", "--overwrite");
    await using job = await release.uninstallJob();
    await noteGranted();
    expect(await job.ended()).toBe(1);
    // On a busy machine, more may still be there after 8 s.
    expect(job.output).toMatch(/Still there:\n(?: {2}.*\n)*? {2}IPPolicy team\//);
    await world.kubectl("annotate", "ippolicies", "--all", "-n", TEAM, "tunnelgateway.dev/paused-");
  });

  test("the next one, which has more time, goes on, and leaves nothing in cluster and account", async () => {
    await release.upgrade({ "uninstall.timeout": "20m" });
    await using job = await release.uninstallJob();
    await isToldToStop();
    expect(await team()).toEqual([]);
    await operator.stop();
    expect({ code: await job.ended(), output: job.output }).toMatchObject({ code: 0 });
    expect(await leases()).toBe("");
    await release.uninstall();
  });

  test("one that is repeated after that finds nothing to do", async () => {
    await release.install({ "uninstall.policy": "delete" });
    await using job = await release.uninstallJob();
    expect({ code: await job.ended(), output: job.output }).toMatchObject({ code: 0 });
    await release.uninstall();
  });

  test("of the rights that the chart grants, none is without use", async () => {
    expect(granted.operator.length).toBeGreaterThan(50);
    expect(unused(granted.operator, world.proxy.requests)).toEqual([]);
    expect(granted.hooks.size).toBeGreaterThan(50);
    expect(unused([...granted.hooks], world.hooks.requests)).toEqual([]);
  });

  test("without an operator it says so, and deletes nothing", async () => {
    await release.install({ "uninstall.policy": "delete" });
    operator = await release.operator();
    await operator.stop();
    await world.apply(TEAM, manifest("ReservedAddress", "kept", { region: "eu" }));
    await using job = await release.uninstallJob();
    expect(await job.ended()).toBe(1);
    expect(job.output).toContain("Start the operator first");
    expect(await team()).toMatchObject([{ metadata: { name: "kept" } }]);
  });
});
