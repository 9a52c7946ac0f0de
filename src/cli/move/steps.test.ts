import { beforeEach, describe, expect, test } from "vitest";
import { kubeOf } from "../../../test/fakes/cli/kube.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import type { Move } from "./manifest.ts";
import { deleteOldObject, handOver, type MoveParts, prepareMove, referrersOf } from "./steps.ts";

let scene: Scene;
let id: string;
let reported: string[];

beforeEach(async () => {
  scene = new Scene();
  reported = [];
  id = scene.idOf(await scene.given(IPPolicy, "office", { description: "Office" }));
});

const moveOf = (kind: Kind, from: [string, string], to: [string, string]): Move => {
  const place = ([namespace, name]: [string, string]) => ({ namespace, name });
  return { kind, from: place(from), to: place(to) };
};

const office = moveOf(IPPolicy, ["team-a", "office"], ["team-b", "office"]);

class Killed extends Error {}

/** `beforeCall`: called before and after each call of the client. */
function partsOf(move: Move, beforeCall: () => void = () => {}): MoveParts {
  const client = kubeOf(scene, beforeCall);
  return {
    client,
    there: client,
    move,
    tell: (text) => void reported.push(text),
    // The operator works while the command waits.
    wait: async (what, condition) => {
      for (let round = 0; round < 5; round += 1) {
        if (await condition()) return;
        for (const object of objects()) if (scene.cluster.exists(object)) await scene.reconcile(object);
      }
      throw new Error(`waited for ${what}`);
    },
  };
}

const known = (kind: Kind, namespace: string, name: string) => scene.cluster.get(kind.kind, namespace, name);

const objects = (): ManagedObject[] =>
  ["team-a", "team-b"].flatMap((namespace) =>
    [known(IPPolicy, namespace, "office"), known(TCPEdge, namespace, "ssh")].filter((one) => one !== undefined),
  );

/** All that the command does, while nothing refers to the old object. */
async function moveWhole(parts: MoveParts): Promise<void> {
  await handOver(parts, await prepareMove(parts));
  expect(await referrersOf(parts)).toEqual([]);
  await deleteOldObject(parts);
}

const settled = () => ({
  old: known(IPPolicy, "team-a", "office"),
  id: known(IPPolicy, "team-b", "office")?.status?.id,
  remotes: scene.gateway.remotesOf(IPPolicy.resource).map((remote) => [remote.id, remote["description"]]),
});

test("the new object has the remote, and the old one is gone", async () => {
  await moveWhole(partsOf(office));
  expect(settled()).toEqual({ old: undefined, id, remotes: [[id, "Office"]] });
  expect(reported).toEqual([
    "Released IPPolicy team-a/office to team-b/office",
    "Created IPPolicy team-b/office, with adopt.from: team-a/office",
    `IPPolicy team-b/office is Ready, and has ${id}`,
    `Deleted IPPolicy team-a/office; ${id} stays in the account`,
  ]);
});

test("after a crash at any step, the next run completes the move", async () => {
  for (let end = 1; ; end += 1) {
    scene = new Scene();
    id = scene.idOf(await scene.given(IPPolicy, "office", { description: "Office" }));
    let calls = 0;
    const kill = () => {
      calls += 1;
      if (calls === end) throw new Killed(`at ${end}`);
    };
    const outcome = await moveWhole(partsOf(office, kill)).catch((error: unknown) => error);
    if (outcome === undefined) {
      expect(end).toBeGreaterThan(20);
      return;
    }
    expect(outcome).toBeInstanceOf(Killed);
    await moveWhole(partsOf(office));
    expect(settled()).toEqual({ old: undefined, id, remotes: [[id, "Office"]] });
  }
});

test("objects that refer to the old object are named, and keep it", async () => {
  await scene.given(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });
  const parts = partsOf(office);
  await handOver(parts, await prepareMove(parts));
  expect(await referrersOf(parts)).toEqual([{ kind: "TCPEdge", name: "ssh", path: "ipRestriction.ipPolicyRefs[0]" }]);
  scene.cluster.apply(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ id }] } });
  await moveWhole(partsOf(office));
  expect(settled().old).toBeUndefined();
});

test("in another namespace the new object refers by id to objects that it cannot name there", async () => {
  await scene.given(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });
  const edge = moveOf(TCPEdge, ["team-a", "ssh"], ["team-b", "ssh"]);
  await moveWhole(partsOf(edge));
  expect(known(TCPEdge, "team-b", "ssh")?.spec["ipRestriction"]).toEqual({ ipPolicyRefs: [{ id }] });
});

test("a name that leads to the same remote in the other namespace is kept", async () => {
  await scene.given(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });
  const first = partsOf(office);
  await handOver(first, await prepareMove(first));
  await moveWhole(partsOf(moveOf(TCPEdge, ["team-a", "ssh"], ["team-b", "ssh"])));
  expect(known(TCPEdge, "team-b", "ssh")?.spec["ipRestriction"]).toEqual({ ipPolicyRefs: [{ name: "office" }] });
  await moveWhole(partsOf(office));
  expect(settled().old).toBeUndefined();
});

test("metadata of the operator, of kubectl and of deployment tools is not copied", async () => {
  const old = known(IPPolicy, "team-a", "office") as ManagedObject;
  scene.cluster.annotateByHand(old, LAST_APPLIED, "{}");
  scene.cluster.annotateByHand(old, "argocd.argoproj.io/tracking-id", "shop:tunnelgateway.dev/IPPolicy:team-a/office");
  scene.cluster.annotateByHand(old, "example.com/team", "shop");
  const prepared = await prepareMove(partsOf(office));
  expect(prepared?.manifest).toEqual({
    apiVersion: "tunnelgateway.dev/v1",
    kind: "IPPolicy",
    metadata: { namespace: "team-b", name: "office", annotations: { "example.com/team": "shop" } },
    spec: { description: "Office", adopt: { id, from: "team-a/office" } },
  });
});

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

const lastAppliedAfter = async (text: string) => {
  const old = known(IPPolicy, "team-a", "office") as ManagedObject;
  scene.cluster.annotateByHand(old, LAST_APPLIED, text);
  await moveWhole(partsOf(office));
  return known(IPPolicy, "team-b", "office")?.metadata.annotations?.[LAST_APPLIED];
};

test("the new object remembers what kubectl has applied, under its own name", async () => {
  const applied = { kind: "IPPolicy", metadata: { name: "office", namespace: "team-a", labels: {} }, spec: { a: 1 } };
  const text = await lastAppliedAfter(`${JSON.stringify(applied)}\n`);
  expect(JSON.parse(text ?? "")).toEqual({ ...applied, metadata: { ...applied.metadata, namespace: "team-b" } });
});

test.each([
  "",
  "no manifest",
  "[]",
  "null",
  '{"metadata":null}',
  `{"metadata":{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`,
])("what is no manifest is not remembered (%#)", async (text) => {
  expect(await lastAppliedAfter(text)).toBeUndefined();
});

describe("nothing is changed", () => {
  const old = () => known(IPPolicy, "team-a", "office") as ManagedObject;

  test.each<[string, Move, () => unknown, RegExp]>([
    [
      "without such an object",
      moveOf(IPPolicy, ["team-a", "none"], ["team-b", "office"]),
      () => undefined,
      /^There is no IPPolicy team-a\/none$/,
    ],
    [
      "when the new name is taken",
      office,
      () => scene.cluster.apply(IPPolicy, "office", {}, { namespace: "team-b" }),
      /^Choose another name: IPPolicy team-b\/office exists/,
    ],
    [
      "when the object is paused",
      office,
      () => scene.cluster.annotateByHand(old(), annotations.paused, "true"),
      /Remove the annotation tunnelgateway.dev\/paused first$/,
    ],
    [
      "when its remote is to stay after its deletion",
      office,
      () => scene.cluster.annotateByHand(old(), annotations.orphan, "true"),
      /Remove the annotation tunnelgateway.dev\/orphan first$/,
    ],
    [
      "when its remote may be meant to stay after its deletion",
      office,
      () => scene.cluster.annotateByHand(old(), annotations.orphan, "maybe"),
      /Write "true" or "false" in the annotation tunnelgateway.dev\/orphan: "maybe" is neither/,
    ],
    [
      "when it is released to somebody else",
      office,
      () => scene.cluster.annotateByHand(old(), annotations.releaseTo, "team-c/office"),
      /first: it names team-c\/office$/,
    ],
    ["when it is being deleted", office, () => scene.cluster.delete(old()), /It is being deleted$/],
    [
      "when it has no remote",
      moveOf(IPPolicy, ["team-a", "new"], ["team-b", "new"]),
      () => scene.cluster.apply(IPPolicy, "new", {}),
      /it has nothing in the account$/,
    ],
    [
      "for a kind that does not adopt",
      moveOf(HTTPSEdgeRoute, ["team-a", "route"], ["team-b", "route"]),
      () => scene.cluster.apply(HTTPSEdgeRoute, "route", { edgeId: "e", routeId: "r" }),
      /an HTTPSEdgeRoute does not adopt$/,
    ],
  ])("%s", async (_, move, arrange, message) => {
    arrange();
    const before = JSON.stringify(objects());
    await expect(prepareMove(partsOf(move))).rejects.toThrow(message);
    expect(JSON.stringify(objects())).toBe(before);
  });
});
