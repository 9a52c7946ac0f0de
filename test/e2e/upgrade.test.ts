import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ISSUED } from "../../src/schema/certificate.ts";
import { annotations } from "../../src/schema/contract.ts";
import { conditionOf, isReady, type KubeJSON, manifest, nameOf } from "../../tools/shared/objects.ts";
import { type Earlier, earlierVersions, LATER_FIELD } from "./support/earlier.ts";
import { chart, objectsIn, set, succeeded } from "./support/helm.ts";
import { Installation, until } from "./support/installation.ts";
import { Kubelet } from "./support/kubelet.ts";

/**
 * From each earlier version to the present, and back. By Helm and the controllers of the cluster alone: a node runs what the
 * Deployment says, which is the present operator with the definitions of each chart.
 */
const NAMESPACE = "gateway-system";
const TEAM = "team";
const DEPLOYMENT = "gateway-tunnel-gateway-operator";

describe.each(earlierVersions())("from $name", ({ isCopy, unpack }) => {
  let world: Installation;
  let kubelet: Kubelet | undefined;
  let older: Earlier;

  beforeAll(async () => {
    world = await Installation.start();
    older = await unpack(world.home);
    await world.kubectl("create", "namespace", TEAM);
  });
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
      ...["install", "gateway", older.chart, "--create-namespace", "--wait", ...args],
      ...set({ "gateway.baseURL": world.simulator.url, "credentials.apiKey": world.simulator.apiKey }),
      ...set({ "gateway.requestsPerMinute": 0, "gateway.maxDeletesPerMinute": 0, "gateway.sessionSyncInterval": "1h" }),
    );

  /** What a change that nobody should notice leaves as it is: with the same resourceVersion nothing was written. */
  async function unnoticed(change: () => Promise<unknown>): Promise<void> {
    const objects = async () => (await world.objects(TEAM)).filter(({ metadata }) => metadata.name !== "probe");
    const unsettled = new Set((await objects()).filter(learnsItsEnd).map(nameOf));
    const seen = async () => ({
      sent: world.changesSent(),
      objects: (await objects()).map((object) => {
        const { uid, generation, resourceVersion } = object.metadata;
        const kept = { name: nameOf(object), uid, generation, id: object.status?.id };
        // between definitions that differ more, a status may get what the older ones do not have
        return isCopy && !unsettled.has(kept.name) ? { ...kept, resourceVersion, status: object.status } : kept;
      }),
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

  const definitions = async (): Promise<KubeJSON[]> =>
    (await world.get("crds", "-l", "app.kubernetes.io/part-of=tunnel-gateway-operator")).items;

  /** What a chart says of each kind, by its name. */
  async function schemasOf(from: string): Promise<Map<string, KubeJSON>> {
    const rendered = await succeeded(
      helm("template", "gateway", from, "--set", "gateway.baseURL=https://gateway.example"),
    );
    return schemas(objectsIn(rendered).filter(({ kind }) => kind === "CustomResourceDefinition"));
  }

  async function allReady(): Promise<void> {
    await until("all are Ready", async () => (await world.objects(TEAM)).every(isReady), 60);
  }

  test("helm install --wait times out when no pod becomes ready, and reports what it waited for", async () => {
    const { code, stderr } = await install("--timeout", "5s");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(DEPLOYMENT) });
    await succeeded(helm("uninstall", "gateway", "--no-hooks"));
  });

  test("the older chart is installed, and its objects become Ready", async () => {
    kubelet = await Kubelet.start(world.cluster);
    await succeeded(install());
    const before = await schemasOf(older.chart);
    expect(before.size).toBeGreaterThan(0);
    if (isCopy) expect(before).not.toEqual(await schemasOf(chart));
    expect(schemas(await definitions())).toEqual(before);
    await world.apply(TEAM, ...older.objects, manifest("ReservedAddress", "probe", {}));
    await allReady();
  });

  test("an upgrade brings the present definitions, and changes no object or remote", async () => {
    await unnoticed(() => succeeded(helm("upgrade", "gateway", chart, "--reset-then-reuse-values", "--wait")));
    expect(schemas(await definitions())).toEqual(await schemasOf(chart));
    await world.apply(TEAM, manifest("IPPolicy", "later", { [LATER_FIELD]: "Report" }));
    await allReady();
  });

  test("a rollback restores the older chart, and changes no object or remote", async () => {
    await unnoticed(() => succeeded(helm("rollback", "gateway", "--wait")));
    expect(schemas(await definitions())).toEqual(await schemasOf(older.chart));
  });

  test("and it can be upgraded again", async () => {
    await unnoticed(() => succeeded(helm("upgrade", "gateway", chart, "--reset-then-reuse-values", "--wait")));
    const { items } = await world.get("pods", "-n", NAMESPACE);
    expect(items).toHaveLength(1);
  });
});

const schemas = (definitions: readonly KubeJSON[]): Map<string, KubeJSON> =>
  new Map(
    definitions.map(({ metadata, spec }) => [metadata.name, spec.versions.map(({ schema }: KubeJSON) => schema)]),
  );

/** Its certificate is issued, and the operator has not read yet until when. It writes that at the next list. */
const learnsItsEnd = (object: KubeJSON): boolean => conditionOf(object, "CertificateReady")?.message === ISSUED;
