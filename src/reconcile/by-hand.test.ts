import { beforeEach, expect, test } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../kinds/api-key.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import type { ManagedObject } from "../objects/object.ts";
import { FINALIZER, OWNER_KEY } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";
import { checkLeftover, deleteLeftover, userIDsIn } from "./by-hand.ts";

let scene: Scene;
let any: ManagedObject;

beforeEach(() => {
  scene = new Scene();
  any = scene.cluster.apply(IPPolicy, "any", {});
});

/** As a command does it: an object that does not exist stands for the remote. */
async function remove(kind: Kind, id: string, objects: ManagedObject[] = [], act = deleteLeftover): Promise<void> {
  const standIn = {
    apiVersion: "",
    kind: kind.kind,
    spec: { deletionPolicy: "Delete" },
    status: { id, origin: "Created" },
    metadata: {
      namespace: "",
      name: "",
      uid: id,
      generation: 1,
      finalizers: [FINALIZER],
      deletionTimestamp: "2026-01-01T00:00:00Z",
    },
  } as const;
  const owner = { cluster: "c1", namespace: "", name: "" };
  const context = { ...scene.contextFor(any), kind, owner, object: standIn as unknown as ManagedObject };
  await act(context, { id, mark: undefined, clusterID: "c1", objects });
}

const policies = () => scene.gateway.remotesOf(IPPolicy.resource).map(({ id }) => id);
const policy = () => scene.gateway.seed(IPPolicy.resource, {}).id;
const edgeWith = (id: string) =>
  scene.gateway.seed(TCPEdge.resource, { ip_restriction: { enabled: true, ip_policy_ids: [id] } });

test("a remote that nothing uses is deleted", async () => {
  await remove(IPPolicy, policy());
  expect(policies()).toEqual([]);
});

test("what something in the account uses stays, also if it has come to use it since the deletion before", async () => {
  const [one, other] = [policy(), policy()];
  edgeWith(one);
  await expect(remove(IPPolicy, one)).rejects.toThrow(
    /^Ask who runs TCP edge edgtcp_\w+ to change it first: it uses this IPPolicy$/,
  );
  await scene.clock.advance(1);
  edgeWith(other);
  await expect(remove(IPPolicy, other)).rejects.toThrow("it uses this IPPolicy");
  expect(policies()).toEqual([one, other]);
});

test("a check alone deletes nothing, and says which remotes are the users", async () => {
  const [one, other] = [policy(), policy()];
  const edge = edgeWith(one);
  const error = await remove(IPPolicy, one, [], checkLeftover).catch((caught: unknown) => caught);
  expect(userIDsIn(error)).toEqual([edge.id]);
  await remove(IPPolicy, other, [], checkLeftover);
  expect(policies()).toEqual([one, other]);
});

test("what an object has, or somebody has marked meanwhile, stays", async () => {
  const id = policy();
  const object = scene.cluster.apply(IPPolicy, "office", { adopt: { id } });
  await expect(remove(IPPolicy, id, [object])).rejects.toThrow("IPPolicy team-a/office has it, or may need it");
  scene.gateway.change(IPPolicy.resource, id, { metadata: JSON.stringify({ [OWNER_KEY]: "c2/a/b" }) });
  await expect(remove(IPPolicy, id)).rejects.toThrow("somebody else has marked it");
  expect(policies()).toEqual([id]);
});

test("no API key is deleted", async () => {
  const { id } = scene.gateway.seed(APIKey.resource, {});
  await expect(remove(APIKey, id)).rejects.toThrow("who uses an API key shows nowhere");
  expect(scene.gateway.remotesOf(APIKey.resource)).toHaveLength(1);
});
