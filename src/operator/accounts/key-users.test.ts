import { beforeEach, describe, expect, it } from "vitest";
import { AccountScene } from "../../../test/fakes/operator/account-scene.ts";
import { digestOf } from "../../account/key-proof.ts";

const digest = digestOf("key-a");

describe("a GatewayAccount whose API key an object stands for", () => {
  let scene: AccountScene;

  beforeEach(async () => {
    scene = await AccountScene.begin();
    scene.accepted.add("key-a");
    scene.secret("a", { key: "key-a" });
    scene.account("a");
    await scene.reconcile("a");
    await scene.accounts.readOwnKey();
    expect(scene.accounts.usersOfKey({ digest })).toEqual(["n/a"]);
  });

  it("uses a key of which only the record is known, and may use one that is unknown", () => {
    const record = scene.keyRecords.tokenRecordOf(digest);
    expect(record).not.toContain(digest);
    expect(scene.keyRecords.isTokenRecord(record)).toBe(true);
    expect(scene.accounts.usersOfKey({ record })).toContain("n/a");
    expect(scene.accounts.usersOfKey({ record: scene.keyRecords.tokenRecordOf(digestOf("key-b")) })).not.toContain(
      "n/a",
    );
    expect(scene.accounts.usersOfKey({ record: "" })).not.toContain("n/a");
    expect(scene.accounts.usersOfKey({})).toEqual(["", "n/a"]);
  });

  it("knows a record that was made with a secret of another installation, or with one that is lost", () => {
    const record = scene.keyRecords.tokenRecordOf(digest);
    scene.signWithAnotherSecret();
    expect(scene.keyRecords.isTokenRecord(record)).toBe(false);
    expect(scene.keyRecords.isTokenRecord(scene.keyRecords.tokenRecordOf(digest))).toBe(true);
  });

  const readAgain = async () => {
    await scene.clock.advance(60_000);
    await scene.accounts.open("n/a", {}).catch(() => undefined);
  };

  it("uses it while its Secret cannot be read", async () => {
    scene.beforeSecret = () => Promise.reject(new Error("the API server is away"));
    await readAgain();
    expect(scene.accounts.usersOfKey({ digest })).toEqual(["n/a"]);
  });

  it.each([
    ["has another one", { key: "key-b" }],
    ["has none", {}],
  ])("no longer uses it when its Secret %s", async (_, data) => {
    scene.secret("a", data);
    await readAgain();
    expect(scene.accounts.usersOfKey({ digest })).toEqual([]);
  });

  it("no longer uses it when its Secret is found without one after it could not be read", async () => {
    scene.beforeSecret = () => Promise.reject(new Error("the API server is away"));
    await readAgain();
    scene.beforeSecret = () => {};
    scene.secret("a", {});
    await readAgain();
    expect(scene.accounts.usersOfKey({ digest })).toEqual([]);
  });
});
