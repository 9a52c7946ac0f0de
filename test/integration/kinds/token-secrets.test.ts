import { describe, expect, test } from "vitest";
import { annotations, secretAnnotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ env: { REQUEST_TIMEOUT: "5s" } });

const key = (name: string, spec: object = {}) => manifest("APIKey", name, { tokenSecretName: name, ...spec });

const posts = () => world.simulator.control.count({ method: "POST", path: "/api_keys" });

const secret = (name: string): Promise<KubeJSON | undefined> => world.kube.get("Secret", name);

async function tokenIn(name: string): Promise<string | undefined> {
  const data = (await secret(name))?.["data"];
  return data?.["token"] && Buffer.from(data["token"], "base64").toString();
}

const ownersOf = async (name: string): Promise<string[]> =>
  ((await secret(name))?.metadata.ownerReferences ?? []).map(({ uid }: { uid: string }) => uid);

/** Longer than the garbage collector takes for a Secret whose owner is gone: it has then collected `probe`. */
async function collected(): Promise<void> {
  await world.until("what belongs to nobody is collected", async () => (await secret("probe")) === undefined);
}

const isOwned = (name: string, owned: boolean) =>
  world.until(`${name} is owned: ${owned}`, async () => (await ownersOf(name)).length > 0 === owned);

describe("a token stays in its Secret", () => {
  const tokens = new Map<string, string | undefined>();
  const names = ["retained", "foreground", "orphaned", "undecided"];

  test("while the API key stays in the account, the Secret has no owner", async () => {
    await world.kube.apply(
      key("retained", { deletionPolicy: "Retain" }),
      ...["foreground", "orphaned", "undecided", "probe"].map((name) => key(name)),
    );
    for (const name of [...names, "probe"]) {
      await world.ready("APIKey", name);
      tokens.set(name, await tokenIn(name));
    }
    expect(await ownersOf("retained")).toEqual([]);
    expect(await ownersOf("foreground")).toHaveLength(1);
    await world.kube.apply(
      key("foreground", { deletionPolicy: "Retain" }),
      key("undecided", { deletionPolicy: "Retain" }),
    );
    await world.kube.annotate("APIKey", "orphaned", { [annotations.orphan]: "true" });
    for (const name of ["foreground", "orphaned", "undecided"]) await isOwned(name, false);
  });

  test("the Secret has an owner again when the API key is to be deleted after all", async () => {
    await world.kube.apply(key("undecided"));
    await isOwned("undecided", true);
    await world.kube.apply(key("undecided", { deletionPolicy: "Retain" }));
    await isOwned("undecided", false);
  });

  test("the Secret stays after the objects are deleted, also with foreground deletion", async () => {
    await world.kubectl("delete", "apikey", ...names, "--cascade=foreground", "--timeout=60s");
    await world.kubectl("delete", "apikey", "probe", "--timeout=60s");
    await collected();
    for (const name of names) expect(await tokenIn(name)).toBe(tokens.get(name));
    expect(world.simulator.control.objects("api_keys")).toHaveLength(names.length);
  });
});

describe("a Secret under another name", () => {
  test("gets the token, and the former Secret is deleted", async () => {
    await world.kube.apply(key("moved"));
    const { status } = await world.ready("APIKey", "moved");
    const token = await tokenIn("moved");
    const before = posts();
    await world.kube.apply(key("moved", { tokenSecretName: "elsewhere" }));
    await world.until("the token is elsewhere", async () => (await tokenIn("elsewhere")) === token);
    await world.until("the Secret before is gone", async () => (await secret("moved")) === undefined);
    expect((await world.ready("APIKey", "moved")).status).toMatchObject({ id: status.id, outputSecret: "elsewhere" });
    expect(await tokenIn("elsewhere")).toBe(token);
    expect(posts()).toBe(before);
  });
});

describe("a Secret whose token was changed", () => {
  test("is reported, with what to do", async () => {
    await world.kube.apply(key("broken"));
    await world.ready("APIKey", "broken");
    const { data, metadata } = (await secret("broken")) ?? {};
    expect(metadata?.annotations?.[secretAnnotations.digest]).toMatch(/^[0-9a-f]{64}$/);
    const before = posts();
    await world.kube.patch("Secret", "broken", { data: { token: Buffer.from("rubbish").toString("base64") } });
    await world.kube.annotate("APIKey", "broken", { [annotations.reconcileRequestedAt]: "1" });
    const reported = await world.condition("APIKey", "broken", { type: "Ready", status: "False" });
    console.log(conditionOf(reported, "Ready"));
    expect(conditionOf(reported, "Ready")).toMatchObject({
      reason: "SecretNotReady",
      message:
        'Put the former value back into key "token" of Secret "broken", or delete the Secret to get a new API key: ' +
        "somebody has changed the value",
    });
    expect(posts()).toBe(before);
    await world.kube.patch("Secret", "broken", { data });
    await world.ready("APIKey", "broken");
  });

  test("is replaced, with a new key and token, when it is deleted as the message says", async () => {
    const old = await tokenIn("broken");
    await world.kube.patch("Secret", "broken", { data: { token: Buffer.from("rubbish").toString("base64") } });
    await world.kube.annotate("APIKey", "broken", { [annotations.reconcileRequestedAt]: "2" });
    await world.condition("APIKey", "broken", { type: "Ready", status: "False", reason: "SecretNotReady" });
    await world.kube.delete("Secret", "broken");
    await world.ready("APIKey", "broken");
    expect(await tokenIn("broken")).not.toBe(old);
  });
});

test("uninstalling with policy retain keeps the token, and a later operator recognises its Secret", async () => {
  await world.kube.apply(key("released"), key("renamed"));
  for (const name of ["released", "renamed"]) await world.ready("APIKey", name);
  const token = await tokenIn("released");
  const renamed = await tokenIn("renamed");
  await world.operator.stop();
  // until an operator carries this out, the Secret of the former name has the token
  await world.kube.apply(key("renamed", { tokenSecretName: "renamed-anew" }));
  const env = { WATCH_NAMESPACES: world.namespace };
  const { code, stdout, stderr } = await command(world, ["uninstall", "--policy", "retain"], env);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/Released \d+ objects/);
  for (const name of ["released", "renamed"]) expect(await ownersOf(name)).toEqual([]);
  const before = posts();
  await world.startOperator();
  await isOwned("released", true);
  expect(await tokenIn("released")).toBe(token);
  await isOwned("renamed-anew", true);
  expect(await tokenIn("renamed-anew")).toBe(renamed);
  await world.quiet();
  expect(posts()).toBe(before);
});
