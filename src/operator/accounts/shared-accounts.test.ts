import { expect, it } from "vitest";
import { AccountScene } from "../../../test/fakes/operator/account-scene.ts";
import type { Account } from "../../account/account.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";

// What goes with credentials that leave an account, or move to that of others.

async function given(keys: Record<string, string>): Promise<AccountScene> {
  const scene = await AccountScene.begin();
  for (const [name, key] of Object.entries(keys)) {
    scene.accepted.add(key);
    scene.secret(name, { key });
    scene.account(name);
  }
  return scene;
}

const objectOf = (name: string): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: IPPolicy.kind,
  spec: { accountRef: { name } },
  metadata: { name: "office", namespace: "n", uid: "u", generation: 1 },
});

async function accountOf(scene: AccountScene, name: string): Promise<Account> {
  await scene.accounts.settle(objectOf(name));
  return scene.accounts.accountOf(objectOf(name));
}

it("one confirmation is enough where nothing of a GatewayAccount is in the account of others", async () => {
  const scene = await given({ theirs: "one", moved: "one" });
  scene.recordedBy.set("theirs", ["ipp_t"]);
  scene.recordedBy.set(
    "moved",
    Array.from({ length: 5 }, (_, index) => `ipp_m${index}`),
  );
  scene.shown.set("one", ["ipp_t"]);
  const shared = await accountOf(scene, "theirs");
  await scene.reconcile("moved");
  expect(scene.condition("moved", "Ready")).toMatchObject({ reason: "AccountMismatch" });
  scene.annotate("moved", "now");
  await scene.reconcile("moved");
  expect(await accountOf(scene, "moved")).toBe(shared);
  expect(shared.lossGuard.isConfirmed("n/moved")).toBe(true);
  expect(shared.lossGuard.isConfirmed("n/theirs")).toBe(false);
});

it.each<[string, (scene: AccountScene) => void]>([
  ["cannot be read", (scene) => (scene.beforeSecret = () => Promise.reject(new Error("the API server is away")))],
  ["is gone", (scene) => scene.secret("b", {})],
])("what two GatewayAccounts have stays in one account while the key of one %s", async (_, lose) => {
  const scene = await given({ a: "one", b: "one", c: "two" });
  for (const name of ["a", "b"]) scene.recordedBy.set(name, [`ipp_${name}`]);
  scene.shown.set("one", ["ipp_a", "ipp_b"]);
  for (const name of ["a", "b", "c"]) await accountOf(scene, name);
  const together = () =>
    ["b", "c"].map((name) => scene.accounts.ofObjects.isSameAccount(objectOf("a"), objectOf(name)));
  expect(together()).toEqual([true, false]);
  lose(scene);
  await scene.clock.advance(60_000);
  await accountOf(scene, "b");
  expect(together()).toEqual([true, false]);
});
