import { expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

/** A GatewayAccount whose key an APIKey object has made, in the account of the operator's own credentials. */
const world = useWorld();
const control = () => world.simulator.control;

async function given(name: string): Promise<{ keyID: string; policyID: string }> {
  await world.kube.apply(manifest("APIKey", name, { tokenSecretName: name, accountRef: { name: "own" } }));
  const apiKeySecretRef = { name, key: "token" };
  await world.kube.apply(manifest("GatewayAccount", name, { apiKeySecretRef }));
  await world.kube.apply(manifest("IPPolicy", name, { accountRef: { name } }));
  const [key, policy] = [await world.ready("APIKey", name), await world.ready("IPPolicy", name)];
  return { keyID: key.status.id, policyID: policy.status.id };
}

const own = async (): Promise<void> => {
  const key = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "own" },
    stringData: { key: world.simulator.apiKey },
  };
  const account = manifest("GatewayAccount", "own", { apiKeySecretRef: { name: "own", key: "key" } });
  await world.kube.apply(key as unknown as KubeJSON, account);
};

test("the API key that a GatewayAccount uses is deleted after the GatewayAccount and the objects that need it", async () => {
  await own();
  const { keyID, policyID } = await given("robot");
  await world.kube.delete("APIKey", "robot");
  await world.condition("APIKey", "robot", { type: "Ready", status: "False", reason: "InUse" });
  expect(control().get(keyID)).not.toBeNull();
  await world.kube.delete("GatewayAccount", "robot");
  await world.condition("GatewayAccount", "robot", { type: "Ready", reason: "InUse" });
  await world.kube.delete("IPPolicy", "robot");
  for (const kind of ["IPPolicy", "GatewayAccount", "APIKey"]) await world.gone(kind, "robot");
  expect([control().get(policyID), control().get(keyID)]).toEqual([null, null]);
});

test("objects of a GatewayAccount with the annotation orphan are deleted without a request, but not while its key works", async () => {
  const { policyID } = await given("closed");
  const orphanAnnotation = { [annotations.orphan]: "true" };
  await world.kube.annotate("GatewayAccount", "closed", orphanAnnotation);
  await world.kube.apply(manifest("IPPolicy", "second", { accountRef: { name: "closed" } }));
  const second = await world.ready("IPPolicy", "second");
  await world.kube.delete("IPPolicy", "second");
  await world.gone("IPPolicy", "second");
  expect(control().get(second.status.id)).toBeNull();

  const { data } = (await world.kube.get("Secret", "closed")) as KubeJSON;
  control().apiKeys.revoke(Buffer.from(data.token, "base64").toString());
  await world.kube.delete("IPPolicy", "closed");
  await world.gone("IPPolicy", "closed");
  expect(control().get(policyID)).not.toBeNull();
});
