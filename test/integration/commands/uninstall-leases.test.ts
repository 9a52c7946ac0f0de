import { beforeAll, describe, expect, test } from "vitest";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

/** Leases as operators leave them that were killed: nobody has released the Lease, or deleted its copies. */
const world = useWorld({ startOperator: false });
let home: string;
let other: string;

beforeAll(async () => {
  home = await world.cluster.freshNamespace("home");
  other = await world.cluster.freshNamespace("other");
});

const LABELS = { "app.kubernetes.io/part-of": "tunnel-gateway-operator" };

async function lease(namespace: string, name: string, { ageSeconds = 3600 } = {}): Promise<void> {
  const renewTime = new Date(Date.now() - ageSeconds * 1000).toISOString().replace("Z", "000Z");
  const object = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace, labels: LABELS },
    spec: { holderIdentity: "killed", leaseDurationSeconds: 15, renewTime },
  };
  await world.cluster.kubectlRun(["apply", "-f", "-"], { input: JSON.stringify(object) });
}

async function left(): Promise<string[]> {
  const { stdout } = await world.cluster.kubectlRun(["get", "leases", "-A", "-o", "json"]);
  const items: { metadata: { namespace: string; name: string } }[] = JSON.parse(stdout).items;
  const names = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return names.filter((name) => [home, other, world.namespace].includes(name.split("/")[0] ?? "")).sort();
}

const uninstall = (policy: string, env: Record<string, string> = {}) =>
  command(world, ["uninstall", "--policy", policy], { POD_NAMESPACE: home, WATCH_NAMESPACES: world.namespace, ...env });

/** What an installation with another name or home has put beside. */
const ofOthers = () => [`${other}/tunnel-gateway-operator`, `${world.namespace}/tunnel-gateway-operator.${other}`];

describe.each(["retain", "delete"])("uninstall --policy %s", (policy) => {
  beforeAll(async () => {
    await lease(home, "tunnel-gateway-operator");
    await lease(world.namespace, `tunnel-gateway-operator.${home}`);
    for (const name of ofOthers()) await lease(...(name.split("/") as [string, string]));
  });

  // guards against another installation that waits for one that is not there any more
  test("deletes the Lease and its copies, and those of no other installation", async () => {
    expect(await uninstall(policy)).toMatchObject({ code: 0, stderr: "" });
    expect(await left()).toEqual(ofOthers().sort());
  });

  test("of all namespaces, deletes the copies in them", async () => {
    await lease(other, `tunnel-gateway-operator.${home}`);
    expect(await uninstall(policy, { WATCH_NAMESPACES: "", WATCH_SELECTOR: `none=${home}` })).toMatchObject({
      code: 0,
    });
    expect(await left()).toEqual(ofOthers().sort());
  });
});

test("an operator that runs keeps its Lease and the copies, with nothing left to delete as well", async () => {
  await lease(home, "tunnel-gateway-operator", { ageSeconds: -60 });
  await lease(world.namespace, `tunnel-gateway-operator.${home}`);
  expect(await uninstall("delete")).toMatchObject({ code: 0 });
  expect(await uninstall("retain")).toMatchObject({ code: 1, stderr: expect.stringContaining("killed is running") });
  expect(await left()).toHaveLength(4);
});
