import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { digestOf } from "../../account/key-proof.ts";
import { APIKey } from "../../kinds/api-key.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Retry } from "../../objects/reconcile-error.ts";

// An APIKey object can stand for the key with which the operator, or a GatewayAccount, sends its requests.

let scene: Scene;
let key: ManagedObject;

beforeEach(async () => {
  scene = new Scene();
  scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
  key = await scene.given(APIKey, "robot", { tokenSecretName: "robot-token" });
});

const uses = (name: string, more: { namespace?: string; isDeleting?: boolean } = {}) =>
  scene.cluster.keyUsers.set(digestOf(`token of ${scene.idOf(key)}`), [{ name, isDeleting: false, ...more }]);
const rows = () => scene.gateway.remotesOf(APIKey.resource).map(({ id }) => id);

async function deleteKey(): Promise<void> {
  await scene.delete(key);
}

describe("the key of the operator or of a GatewayAccount", () => {
  it.each(["the operator", "GatewayAccount team-a/default"])(
    "is not deleted while it is in use by %s",
    async (name) => {
      const id = scene.idOf(key);
      uses(name, name === "the operator" ? {} : { namespace: "team-a" });
      await deleteKey();
      expect(rows()).toEqual([id]);
      expect(scene.reason(key)).toBe(`InUse: Give ${name} another key first: it uses ${id}`);
      scene.cluster.keyUsers.clear();
      await scene.settle(key);
      expect(scene.cluster.exists(key)).toBe(false);
      expect(rows()).toEqual([]);
    },
  );

  it("is protected by a process that has not written its token itself", async () => {
    uses("the operator");
    scene.restart();
    await deleteKey();
    expect(rows()).toHaveLength(1);
  });

  it("is protected by its own token when somebody has put another text into its Secret", async () => {
    uses("the operator");
    scene.cluster.setSecret("robot-token", { token: "another text" });
    await deleteKey();
    expect(scene.reason(key)).toMatch(/^InUse: Give the operator another key first/);
    expect(rows()).toHaveLength(1);
  });

  it("is protected when the outcome of writing its Secret was lost", async () => {
    const { write } = scene.cluster.secrets;
    scene.cluster.secrets.write = async (...written) => {
      await write(...written);
      throw new Retry("Forbidden", "the answer was lost");
    };
    key = await scene.apply(APIKey, "next", { tokenSecretName: "next-token" });
    uses("the operator");
    await deleteKey();
    expect(scene.reason(key)).toMatch(/^InUse: Give the operator another key first/);
    expect(rows()).toContain(scene.idOf(key));
  });

  it.each<[string, () => void]>([
    ["is gone", () => scene.cluster.removeSecret("robot-token")],
    ["has no token", () => scene.cluster.setSecret("robot-token", {})],
  ])("is deleted by a process that has never seen its token when its Secret %s", async (_, lose) => {
    scene.restart();
    lose();
    await deleteKey();
    expect(scene.cluster.exists(key)).toBe(false);
    expect(rows()).toEqual([]);
  });

  it("is protected by the record of its token when its Secret is gone and a new process begins", async () => {
    const id = scene.idOf(key);
    uses("the operator");
    scene.restart();
    scene.cluster.removeSecret("robot-token");
    await deleteKey();
    expect(scene.reason(key)).toBe(`InUse: Give the operator another key first: it uses ${id}`);
    expect(rows()).toEqual([id]);
  });

  it("is protected by that record when somebody has put another text into its Secret meanwhile", async () => {
    uses("the operator");
    scene.restart();
    scene.cluster.setSecret("robot-token", { token: "another text" });
    await deleteKey();
    expect(rows()).toHaveLength(1);
  });

  it("is protected by its Secret when its record was made with another secret of the operator", async () => {
    uses("the operator");
    scene.restart();
    scene.cluster.stateSecret = "second";
    await deleteKey();
    expect(scene.reason(key)).toMatch(/^InUse: Give the operator another key first/);
    expect(rows()).toHaveLength(1);
  });

  it("is not deleted when its Secret is gone and its record was made with another secret of the operator", async () => {
    uses("the operator");
    scene.restart();
    scene.cluster.stateSecret = "second";
    scene.cluster.removeSecret("robot-token");
    await deleteKey();
    expect(scene.reason(key)).toMatch(/its token is unknown, and the operator may send with it$/);
    expect(rows()).toHaveLength(1);
  });

  it("is not deleted while its token is unknown, since anybody may send with it", async () => {
    const id = scene.idOf(key);
    uses("the operator");
    scene.restart();
    const { tokenDigests: _, ...status } = scene.cluster.now(key).status ?? {};
    scene.cluster.restore({ ...scene.cluster.now(key), status });
    scene.cluster.removeSecret("robot-token");
    await deleteKey();
    expect(scene.reason(key)).toBe(
      `InUse: Delete ${id} in the account by hand, if nobody uses it: its token is unknown, and the operator may send with it`,
    );
    expect(rows()).toEqual([id]);
    scene.gateway.drop(APIKey.resource, id);
    await scene.clock.advance(600_000);
    await scene.settle(key);
    expect(scene.cluster.exists(key)).toBe(false);
  });

  it("is not protected when nobody was given its token: its create was interrupted, and then the object deleted", async () => {
    uses("the operator");
    scene.gateway.loseAnswer("create");
    const other = await scene.apply(APIKey, "other", { tokenSecretName: "other-token" });
    expect(rows()).toHaveLength(2);
    scene.restart();
    await scene.deleteAndSettle(other);
    expect(scene.cluster.exists(other)).toBe(false);
    expect(rows()).toEqual([scene.idOf(key)]);
  });

  it("is not deleted when its Secret was lost while no process ran, and it was replaced", async () => {
    const old = scene.idOf(key);
    uses("the operator");
    scene.restart();
    scene.cluster.removeSecret("robot-token");
    for (let round = 0; round < 3; round += 1) {
      await scene.reconcile(key);
      await scene.clock.advance(600_000);
    }
    expect(rows()).toEqual([old, scene.idOf(key)]);
    // a rotation that waits goes on waiting in the next process
    scene.restart();
    for (let round = 0; round < 3; round += 1) {
      await scene.reconcile(key);
      await scene.clock.advance(600_000);
    }
    expect(rows()).toEqual([old, scene.idOf(key)]);
    scene.cluster.keyUsers.clear();
    await scene.reconcile(key);
    expect(rows()).toEqual([scene.idOf(key)]);
    expect(Object.keys(scene.cluster.now(key).status?.tokenDigests ?? {})).toEqual([scene.idOf(key)]);
  });

  it("waits for a GatewayAccount that is being deleted", async () => {
    uses("GatewayAccount team-a/default", { namespace: "team-a", isDeleting: true });
    await deleteKey();
    expect(rows()).toHaveLength(1);
    expect(scene.reason(key)).toMatch(/^Deleting: Waiting for GatewayAccount team-a\/default to be deleted first/);
  });

  it("is deleted last when its namespace is deleted, even if the GatewayAccount is not being deleted yet", async () => {
    scene.cluster.namespaceDeleting = true;
    uses("GatewayAccount team-a/default", { namespace: "team-a" });
    await deleteKey();
    expect(rows()).toHaveLength(1);
    expect(scene.cluster.exists(key)).toBe(true);
  });

  it("stays with an event when its namespace is deleted and others use it", async () => {
    scene.cluster.namespaceDeleting = true;
    uses("the operator");
    await deleteKey();
    expect(scene.cluster.exists(key)).toBe(false);
    expect(rows()).toHaveLength(1);
    expect(scene.cluster.events.at(-1)).toMatchObject({ type: "Warning", reason: "InUse", action: "Delete" });
  });

  it.each([
    ["by this process", false],
    ["by another one", true],
  ])("is deleted after it was replaced only when nobody uses its old token, written %s", async (_, restarted) => {
    const old = scene.idOf(key);
    uses("the operator");
    if (restarted) scene.restart();
    await scene.reconcile(key);
    scene.cluster.removeSecret("robot-token");
    for (let round = 0; round < 3; round += 1) {
      await scene.reconcile(key);
      await scene.clock.advance(600_000);
    }
    expect(scene.idOf(key)).not.toBe(old);
    expect(rows()).toContain(old);
    scene.cluster.keyUsers.clear();
    await scene.clock.advance(600_000);
    await scene.reconcile(key);
    expect(rows()).toEqual([scene.idOf(key)]);
  });
});

describe("a key, while a GatewayAccount that cannot be read may send its requests with it,", () => {
  beforeEach(() => scene.cluster.visibility.set("GatewayAccount", "Unreadable"));

  it("is not deleted", async () => {
    await deleteKey();
    expect(scene.reason(key)).toMatch(/^InUse: Let the operator list and watch all GatewayAccount objects/);
    expect(rows()).toHaveLength(1);
    scene.cluster.visibility.clear();
    await scene.settle(key);
    expect(rows()).toEqual([]);
  });

  it("stays beside the one that has replaced it", async () => {
    const old = scene.idOf(key);
    scene.cluster.removeSecret("robot-token");
    for (let round = 0; round < 3; round += 1) {
      await scene.reconcile(key);
      await scene.clock.advance(600_000);
    }
    expect(scene.idOf(key)).not.toBe(old);
    expect(rows()).toEqual([old, scene.idOf(key)]);
    scene.cluster.visibility.clear();
    await scene.clock.advance(600_000);
    await scene.reconcile(key);
    expect(rows()).toEqual([scene.idOf(key)]);
  });
});

describe("an account that a person has declared gone", () => {
  it("gets no request when its objects are deleted", async () => {
    const policy = await scene.given(IPPolicy, "office");
    scene.cluster.isAccountAbandoned = true;
    await scene.delete(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.events).toMatchObject([{ type: "Warning", action: "Delete" }]);
  });
});
