import { afterAll, beforeAll, expect, test } from "vitest";
import { manifest } from "../../tools/shared/objects.ts";
import { Installation, type Release } from "./support/installation.ts";
import type { Pod } from "./support/pod.ts";

const NAMESPACE = "operator";
const [WATCHED, OTHER] = ["watched", "other"];

let world: Installation;
let release: Release;
let operator: Pod;

beforeAll(async () => {
  world = await Installation.start();
  for (const name of [WATCHED, OTHER]) await world.kubectl("create", "namespace", name);
  release = world.release("gateway", NAMESPACE);
  await release.install({ "watchNamespaces[0]": WATCHED, "credentials.apiKey": world.simulator.apiKey });
  operator = await release.operator();
  await world.apply(OTHER, manifest("ReservedAddress", "first", { region: "eu" }));
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

test("an installation that would have the same objects waits, and says for whom", async () => {
  const all = world.release("all", "everything");
  await all.install({ "credentials.apiKey": world.simulator.apiKey, "crds.enabled": false, installation: "all" });
  const before = world.changesSent();
  const second = await all.startOperator();
  try {
    await second.said(`in namespace ${NAMESPACE} has the same objects`);
    await using doctor = await all.doctor();
    expect(await doctor.ended()).toBe(1);
    expect(doctor.output).toContain(`failed  installations: Divide the objects`);
    expect(await world.objects(OTHER)).toMatchObject([{ status: { observedGeneration: -1 } }]);
    expect(world.changesSent()).toBe(before);
  } finally {
    await second[Symbol.asyncDispose]();
  }
  await all.uninstall();
});

test("it waits for an installation of all namespaces that was there before, and goes on when that one has ended", async () => {
  await operator.stop();
  await world.kubectl("delete", "lease", "tunnel-gateway-operator", "-n", NAMESPACE);
  const all = world.release("all", "everything");
  await all.install({
    "credentials.apiKey": world.simulator.apiKey,
    "crds.enabled": false,
    installation: "all",
    watchSelector: "part",
  });
  const first = await all.operator();
  const second = await release.startOperator();
  await second.said("in namespace everything has the same objects");
  await first.stop();
  await second.said('"msg":"Started"');
  operator = second;
  await first[Symbol.asyncDispose]();
  await all.uninstall();
});
