import { beforeAll, expect, onTestFinished, test } from "vitest";
import { STATE_SECRET, secretAnnotations } from "../../../src/schema/contract.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { useWorld } from "../../support/world.ts";

// A newer version has been the leader, and the one before it is started again.

const world = useWorld({ startOperator: false });
let home = "";

beforeAll(async () => {
  home = await world.cluster.freshNamespace("home");
  await world.startOperator({ POD_NAMESPACE: home });
});

const recordFormat = (format: string) =>
  world.cluster.kubectlRun([
    ...["--namespace", home, "annotate", "secret", STATE_SECRET, "--overwrite"],
    `${secretAnnotations.format}${format}`,
  ]);

test("an earlier version sends and writes nothing, and reports what to do, until the newer one is installed again", async () => {
  await world.kube.apply(manifest("IPPolicy", "office", { description: "before" }));
  const object = await world.ready("IPPolicy", "office");
  await world.operator.stop();

  await recordFormat("=999");
  await world.kube.apply(manifest("IPPolicy", "office", { description: "after" }));
  const requests = world.simulator.control.requests().length;
  const before = new OperatorProcess({
    kubeconfig: world.cluster.kubeconfig,
    gateway: world.simulator,
    namespaces: [world.namespace],
    env: { POD_NAMESPACE: home },
  });
  onTestFinished(async () => void (await before.stop()));
  await before.said("install the newer version of the operator again");
  const health = await fetch(`${await before.url()}/readyz`);
  expect(health.status).toBe(503);
  expect(await health.text()).toContain("it keeps its state in format 999");
  expect(world.simulator.control.requests()).toHaveLength(requests);
  expect((await world.kube.get("IPPolicy", "office")).status).toEqual(object.status);

  await recordFormat("-");
  await world.until(
    "the edit is carried out",
    async () => {
      const [row] = world.simulator.control.objects("ip_policies");
      return row?.["description"] === "after";
    },
    60,
  );
});
