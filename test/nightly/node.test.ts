import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { BUILD_MS } from "../../tools/cluster/build/build.ts";
import { useCluster } from "../../tools/cluster/use.ts";
import { conditionOf, isReady, type KubeJSON } from "../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../tools/simulator/simulator.ts";
import { chart, type Helm, helmFor, set, succeeded } from "../e2e/support/helm.ts";
import { IMAGE } from "./support/image.ts";
import { NODE_ADDRESS, RealNode } from "./support/node.ts";
import { NodePrograms } from "./support/node-programs.ts";

/**
 * The image of the Dockerfile and the chart on a real node, in a namespace with the Pod Security level `restricted`. This
 * is what the stand-in of the other tests claims: see test/support/pod-rules.ts.
 */
const NAMESPACE = "real-node";
const DEPLOYMENT = "gateway-tunnel-gateway-operator";

const programs = await NodePrograms.find();
const isHere = typeof programs !== "string";
const cluster = useCluster();
const kubectl = async (args: string[], input?: string) =>
  (await cluster.kubectlRun(["--namespace", NAMESPACE, ...args], input === undefined ? {} : { input })).stdout;
const get = async (...args: string[]): Promise<KubeJSON> => JSON.parse(await kubectl(["get", ...args, "-o", "json"]));

let node: RealNode;
let simulator: Simulator;
let helm: Helm;
let home: string;

beforeAll(async () => {
  if (!isHere) return;
  home = await mkdtemp(join(tmpdir(), "helm-"));
  helm = await helmFor({ home, kubeconfig: cluster.kubeconfig });
  node = await RealNode.start(cluster, programs);
  simulator = await startSimulator({ host: NODE_ADDRESS });
  await kubectl(["create", "namespace", NAMESPACE]);
  await kubectl(["label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted"]);
}, BUILD_MS);

afterAll(async () => {
  if (!isHere) return;
  await kubectl(["delete", "pods", "--all", "--timeout=120s"]).catch(console.error);
  await kubectl(["delete", "namespace", NAMESPACE, "--wait=false"]).catch(console.error);
  await node?.stop();
  await kubectl(["delete", "node", "--all"]);
  await simulator?.stop();
  await rm(home, { recursive: true });
});

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail" || !node) return;
  console.error(await kubectl(["describe", "pods"]), await kubectl(["get", "events"]), await node.lastLines());
});

const values = () =>
  set({
    "gateway.baseURL": simulator.url,
    "gateway.allowPlaintext": true,
    "credentials.apiKey": simulator.apiKey,
    "crds.enabled": false,
    "image.registry": "",
    "image.repository": IMAGE.repository,
    "image.tag": IMAGE.tag,
    "image.pullPolicy": "Never",
    "uninstall.policy": "delete",
  });
const available = ["wait", "--for=condition=Available", `deployment/${DEPLOYMENT}`, "--timeout=180s"];

/** The user and the groups of the only running pod of the operator. */
async function identity(): Promise<KubeJSON> {
  await kubectl(["rollout", "status", `deployment/${DEPLOYMENT}`, "--timeout=180s"]);
  const script = "console.log(JSON.stringify([process.getuid(), process.getgid()]))";
  return JSON.parse(await kubectl(["exec", `deployment/${DEPLOYMENT}`, "--", "node", "--eval", script]));
}

describe.skipIf(!isHere)(`on a real node${isHere ? "" : ` (${programs})`}`, () => {
  test("the pod starts with the default values, as the user and the group of the image", async () => {
    await succeeded(helm("install", "gateway", chart, "--namespace", NAMESPACE, ...values()));
    await kubectl(available);
    expect(await identity()).toEqual([65532, 65532]);
  });

  test("it has its key, and reaches the API server and the service", async () => {
    const policy = { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata: { name: "first" }, spec: {} };
    await kubectl(["apply", "-f", "-"], JSON.stringify(policy));
    await vi.waitFor(async () => expect(isReady(await get("ippolicy", "first"))).toBe(true), {
      timeout: 60_000,
      interval: 500,
    });
    expect(simulator.control.objects("ip_policies")).toHaveLength(1);
  });

  test("the pod of helm test finds nothing to say", async () => {
    await succeeded(helm("test", "gateway", "--namespace", NAMESPACE));
  });

  test("where the platform chooses the user, it starts too, with that of the image", async () => {
    await succeeded(
      helm("upgrade", "gateway", chart, "--namespace", NAMESPACE, "--reuse-values", "--set", "runAsImageUser=false"),
    );
    const [user] = await identity();
    expect(user).toBe(65532);
  });

  test("a group without a user is refused in the words of the stand-in", async () => {
    const { spec } = await get("deployment", DEPLOYMENT);
    const { containers, securityContext } = spec.template.spec;
    const [{ name, image, imagePullPolicy, securityContext: own }] = containers;
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "group-alone" },
      spec: {
        securityContext: { ...securityContext, runAsGroup: 65532 },
        containers: [{ name, image, imagePullPolicy, securityContext: own }],
      },
    };
    await kubectl(["create", "-f", "-"], JSON.stringify(pod));
    const said = () =>
      kubectl([
        "get",
        "events",
        "--field-selector=involvedObject.name=group-alone",
        "-o",
        "jsonpath={.items[*].message}",
      ]);
    await vi.waitFor(async () => expect(await said()).toContain('user group "65532" is specified without user'), {
      timeout: 60_000,
      interval: 500,
    });
    expect(conditionOf(await get("pod", "group-alone"), "Ready")?.status).toBe("False");
    await kubectl(["delete", "pod", "group-alone"]);
  });

  test("the Job before an uninstallation ends, and the account has nothing left", async () => {
    await succeeded(helm("uninstall", "gateway", "--namespace", NAMESPACE, "--timeout", "5m"));
    expect(simulator.control.objects("ip_policies")).toHaveLength(0);
  });
});
