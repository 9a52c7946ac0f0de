import { beforeEach, describe, expect, it } from "vitest";
import { DEADLINE_MS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../../kinds/reserved-address.ts";
import { SSHCredential } from "../../../kinds/ssh-credential.ts";
import { TCPEdge } from "../../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../../kinds/tunnel-group-backend.ts";
import { formatIntent, signedIntentOf } from "../../../objects/intent.ts";
import type { ManagedObject } from "../../../objects/object.ts";

const DAY_MS = 86_400_000;
const labels = { app: "db" };
const metadata = "opaque";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const ids = () => scene.gateway.remotesOf(TunnelGroupBackend.resource).map(({ id }) => id);

/** What is left of a create whose body did not fit into the annotation, when its status was lost. */
function leaveIntentWithoutBody(object: ManagedObject): void {
  const intent = signedIntentOf(scene.cluster.now(object));
  if (!intent) throw new TypeError("no intent was recorded");
  const { sent: _, ...rest } = intent;
  scene.cluster.recordIntent(object, formatIntent(rest));
  scene.cluster.loseStatus(object);
  scene.restart();
}

describe("a create that would have left an owner mark", () => {
  it("did not make an equal remote without one that somebody else has made meanwhile", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(TunnelGroupBackend, "one", { labels });
    const theirs = scene.gateway.seed(TunnelGroupBackend.resource, { labels });
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.idOf(object)).not.toBe(theirs.id);
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toEqual([theirs]);
  });

  describe("is found by it, although the spec has come to leave no room for one,", () => {
    let object: ManagedObject;

    beforeEach(async () => {
      scene.gateway.loseAnswer("create");
      object = await scene.apply(TunnelGroupBackend, "one", { labels });
      scene.cluster.apply(TunnelGroupBackend, "one", { labels, metadata });
    });

    it("and not sent again", async () => {
      const before = ids();
      await scene.settle(object);
      expect(before).toEqual([scene.idOf(object)]);
      expect(ids()).toEqual(before);
    });

    it("and what it made goes with the object", async () => {
      await scene.deleteAndSettle(object);
      expect(scene.cluster.exists(object)).toBe(false);
      expect(ids()).toEqual([]);
    });
  });
});

it("a create did not make a remote with another value in a field that never changes", async () => {
  scene.gateway.swallow("create");
  const object = await scene.apply(SSHCredential, "one", { metadata, publicKey: "ssh-ed25519 AAAAone" });
  const theirs = scene.gateway.seed(SSHCredential.resource, { metadata, public_key: "ssh-ed25519 AAAAtwo" });
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(scene.idOf(object)).not.toBe(theirs.id);
});

describe("a create whose body did not fit into its intent", () => {
  const spec = { metadata, description: "the database", endpointConfigurationId: "ec_1" };
  const addresses = () => scene.gateway.remotesOf(ReservedAddress.resource);

  it("is found by the values of the spec that a create can send", async () => {
    scene.gateway.loseAnswer("create");
    const object = await scene.apply(ReservedAddress, "db", spec);
    leaveIntentWithoutBody(object);
    await scene.settle(object);
    expect(addresses()).toMatchObject([{ id: scene.idOf(object), endpoint_configuration: { id: "ec_1" } }]);
  });

  it("did not make a remote with other values", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(ReservedAddress, "db", spec);
    const theirs = scene.gateway.seed(ReservedAddress.resource, { metadata, description: "another" });
    leaveIntentWithoutBody(object);
    await scene.settle(object);
    expect(scene.idOf(object)).not.toBe(theirs.id);
    expect(addresses()).toHaveLength(2);
  });

  it("did not make a remote that refers to something else", async () => {
    const backend = (id: string) => ({ backend: { backendRef: { id } } });
    scene.gateway.swallow("create");
    const object = await scene.apply(TCPEdge, "one", { metadata, ...backend("bkdtg_ours") });
    leaveIntentWithoutBody(object);
    const theirs = scene.gateway.seed(TCPEdge.resource, { metadata, backend: { backend_id: "bkdtg_theirs" } });
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.idOf(object)).not.toBe(theirs.id);
    expect(scene.gateway.remote(TCPEdge.resource, theirs.id)).toEqual(theirs);
  });
});

it("a remote that was made after the backup of its object goes with the object", async () => {
  const object = await scene.given(IPPolicy, "office");
  const { status: _, ...backup } = object;
  scene.gateway.drop(IPPolicy.resource, scene.idOf(object));
  await scene.clock.advance(DAY_MS);
  await scene.resync(IPPolicy, object);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  scene.cluster.restore(backup);
  scene.restart();
  await scene.clock.advance(2 * DEADLINE_MS);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
});
