import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { annotations } from "../../src/schema/contract.ts";
import { examples } from "../../tools/shared/examples.ts";
import { isReady, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { chart, objectsIn, set, succeeded } from "./support/helm.ts";
import { Installation, until } from "./support/installation.ts";
import { Kubelet } from "./support/kubelet.ts";
import { LATER_FIELD, olderChart } from "./support/older-chart.ts";

/** By Helm and the controllers of the cluster alone: a node runs what the Deployment says. */
const NAMESPACE = "gateway-system";
const TEAM = "team";
const DEPLOYMENT = "gateway-tunnel-gateway-operator";

let world: Installation;
let kubelet: Kubelet | undefined;
let older: string;

beforeAll(async () => {
  world = await Installation.start();
  older = await olderChart(world.home);
  await world.kubectl("create", "namespace", TEAM);
}, 600_000);
afterAll(async () => {
  await kubelet?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

// each step stands on the one before
let isBroken = false;
beforeEach(({ skip }) => skip(isBroken, "an earlier step failed"));
afterEach(({ task }) => {
  isBroken ||= task.result?.state === "fail";
  if (task.result?.state === "fail") console.error(kubelet?.output);
});

const helm = (...args: string[]) => world.helm(...args, "--namespace", NAMESPACE);
const install = (...args: string[]) =>
  helm(
    ...["install", "gateway", older, "--create-namespace", "--wait", ...args],
    ...set({ "gateway.baseURL": world.simulator.url, "credentials.apiKey": world.simulator.apiKey }),
    ...set({ "gateway.requestsPerMinute": 0, "gateway.maxDeletesPerMinute": 0, "gateway.sessionSyncInterval": "1h" }),
  );

/** What a change that nobody should notice leaves as it is: with the same resourceVersion nothing was written. */
async function unnoticed(change: () => Promise<unknown>): Promise<void> {
  const seen = async () => ({
    sent: world.changesSent(),
    objects: (await world.objects(TEAM))
      .filter(({ metadata }) => metadata.name !== "probe")
      .map(({ kind, metadata: { name, uid, resourceVersion }, status }) => ({
        kind,
        name,
        uid,
        resourceVersion,
        status,
      })),
  });
  const before = await seen();
  await change();
  await world.kubectl("wait", "--for=condition=Available", "deployment", DEPLOYMENT, "-n", NAMESPACE);
  await operatorLooks();
  expect(await seen()).toEqual(before);
}

/** The operator that is at work now has looked at an object; it has listed the others before. */
async function operatorLooks(): Promise<void> {
  const asked = String(performance.now());
  const look = `${annotations.reconcileRequestedAt}=${asked}`;
  await world.kubectl("annotate", "reservedaddress", "probe", "-n", TEAM, look, "--overwrite");
  const handled = async () => {
    const { status } = await world.get("reservedaddress", "probe", "-n", TEAM);
    return status.lastHandledReconcileAt === asked;
  };
  await until("the operator looks", handled, 60);
}

const definitions = async (): Promise<KubeJSON[]> => {
  const { items } = await world.get("crds", "-l", "app.kubernetes.io/part-of=tunnel-gateway-operator");
  return items;
};
const specOf = ({ spec }: KubeJSON) => spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
const managed = (all: KubeJSON[]) => all.filter((one) => "managementPolicy" in specOf(one));

test("helm install --wait gives up when no pod becomes ready, and says what was waited for", async () => {
  const { code, stderr } = await install("--timeout", "5s");
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(DEPLOYMENT) });
  await succeeded(helm("uninstall", "gateway", "--no-hooks"));
}, 60_000);

test("an older chart is installed, and its objects become Ready", async () => {
  kubelet = await Kubelet.start(world.cluster);
  await succeeded(install());
  expect(managed(await definitions()).filter((one) => LATER_FIELD in specOf(one))).toEqual([]);
  await world.apply(TEAM, ...(await examples()).map(withoutLater), manifest("ReservedAddress", "probe", {}));
  await allReady();
}, 120_000);

async function allReady(): Promise<void> {
  await until("all are Ready", async () => (await world.objects(TEAM)).every(isReady), 60);
}

const withoutLater = (object: KubeJSON): KubeJSON => {
  const { [LATER_FIELD]: _, ...spec } = object.spec ?? {};
  return object.spec ? { ...object, spec } : object;
};

test("an upgrade brings the present definitions, and nobody notices", async () => {
  await unnoticed(() => succeeded(helm("upgrade", "gateway", chart, "--reset-then-reuse-values", "--wait")));
  for (const definition of await definitions()) {
    const file = join(chart, `../../crds/tunnelgateway.dev_${definition.spec.names.plural}.yaml`);
    const [expected] = objectsIn(await readFile(file, "utf8"));
    expect(definition.spec).toMatchObject(expected.spec);
  }
  await world.apply(TEAM, manifest("IPPolicy", "later", { [LATER_FIELD]: "Report" }));
  await allReady();
}, 120_000);

test("a rollback brings back what there was, and nobody notices", async () => {
  await unnoticed(() => succeeded(helm("rollback", "gateway", "--wait")));
  expect(managed(await definitions()).filter((one) => LATER_FIELD in specOf(one))).toEqual([]);
}, 120_000);

test("and it can be upgraded again", async () => {
  await unnoticed(() => succeeded(helm("upgrade", "gateway", chart, "--reset-then-reuse-values", "--wait")));
  const { items } = await world.get("pods", "-n", NAMESPACE);
  expect(items).toHaveLength(1);
}, 120_000);
