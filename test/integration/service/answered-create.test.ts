import { expect, test } from "vitest";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

// A create that the service carries out, and answers as if it had refused it.

const PATH = "/ip_policies";

const world = useWorld({ process: true, env: { REQUEST_TIMEOUT: "2s" } });
const made = (name: string) =>
  world.simulator.control.objects("ip_policies").filter(({ description }) => description === name);

/** The number in the annotation makes it another request. */
const ask = (name: string, number: number) =>
  world.kube.patch("IPPolicy", name, {
    metadata: { annotations: { "tunnelgateway.dev/reconcile-requested-at": `${number}` } },
  });

// guards against a second remote that nobody knows, and InvalidSpec beside the first
test.each([400, 403, 408, 429, 499, 502])("a policy is there once after a %d", async (status) => {
  const name = `answered-${status}`;
  world.simulator.control.fault({ method: "POST", path: PATH, action: { status, handledAfterMs: 0 } });
  await world.kube.apply(manifest("IPPolicy", name, { description: name }));
  for (let count = 0; count < 5; count += 1) await ask(name, count);
  const object: KubeJSON = await world.ready("IPPolicy", name);
  await ask(name, 9);
  await world.quiet();
  expect(made(name)).toMatchObject([{ id: object.status.id }]);
  await world.kube.delete("IPPolicy", name);
  await world.gone("IPPolicy", name);
  expect(made(name)).toEqual([]);
});

// guards against a second remote when a proxy gives up before the service does
test("a policy is there once when it is carried out after a 408", async () => {
  world.simulator.control.fault({ method: "POST", path: PATH, action: { status: 408, handledAfterMs: 1_500 } });
  await world.kube.apply(manifest("IPPolicy", "late", { description: "late" }));
  const object: KubeJSON = await world.ready("IPPolicy", "late");
  await world.quiet();
  expect(made("late")).toMatchObject([{ id: object.status.id }]);
});

// guards against a remote that is lost with the process that saw the answer
test("a process that ends after the answer leaves one policy", async () => {
  const { control } = world.simulator;
  control.fault({ method: "POST", path: PATH, action: { status: 400, handledAfterMs: 0 } });
  control.fault({ method: "GET", path: PATH, times: 3, action: { hang: true } });
  await world.kube.apply(manifest("IPPolicy", "ended", { description: "ended" }));
  await world.until("it is made", async () => made("ended").length > 0);
  await world.operator.stop("SIGKILL");
  await world.startOperator();
  const object: KubeJSON = await world.ready("IPPolicy", "ended");
  expect(made("ended")).toMatchObject([{ id: object.status.id }]);
});
