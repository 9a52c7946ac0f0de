import { beforeEach, expect, test } from "vitest";
import { kubeOf } from "../../../test/fakes/cli/kube.ts";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import { conditionOf, isReleased, type ManagedObject } from "../../objects/object.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { removeOwnerMark } from "../../reconcile/by-hand.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { CommandError } from "../terminal/terminal.ts";
import type { Move } from "./manifest.ts";
import { handOverToCluster, type MoveAccount } from "./other-cluster.ts";
import { deleteOldObject, type MoveParts, prepareMove, referrersOf } from "./steps.ts";

// A policy moves from the cluster blue to the cluster green, where it has the same namespace and name.

let blue: Scene;
let green: Scene;
let id: string;
let reported: string[];

async function begin(spec: ManagedObject["spec"] = {}): Promise<void> {
  blue = new Scene({ clusterID: "blue" });
  green = new Scene({ beside: blue, clusterID: "green" });
  reported = [];
  id = blue.idOf(await blue.given(IPPolicy, "office", { description: "Office", ...spec }));
}

beforeEach(() => begin());

const shares = [WeightedBackend, FailoverBackend];

const place = { namespace: "team-a", name: "office" };
const office: Move = { kind: IPPolicy, from: place, to: place, toContext: "prod/green" };

class Killed extends Error {}

const known = ({ cluster }: Scene, kind: Kind = IPPolicy, name = "office") => cluster.get(kind.kind, "team-a", name);
const remote = () => blue.gateway.remote(IPPolicy.resource, id);

/** `around`: called before and after each call of an API server or the account. */
function partsOf(around: () => void = () => {}, move = office): MoveParts & { account: MoveAccount } {
  return {
    client: kubeOf(blue, around),
    there: kubeOf(green, around),
    move,
    tell: (text) => void reported.push(text),
    // Both operators work while the command waits.
    wait: async (what, condition) => {
      for (let round = 0; round < 5; round += 1) {
        if (await condition()) return;
        await bothReconcile();
      }
      throw new Error(`waited for ${what}`);
    },
    account: {
      async get(resource, key) {
        around();
        return blue.gateway.remote(resource, key);
      },
      clusterID: "blue",
      async removeOwnerMark(_, object, mark) {
        around();
        await removeOwnerMark(blue.contextFor(object), object.status?.id ?? "", mark);
        around();
        return undefined;
      },
    },
  };
}

async function bothReconcile(): Promise<void> {
  for (const scene of [blue, green]) {
    for (const object of [
      known(scene),
      known(scene, TCPEdge, "ssh"),
      ...shares.map((kind) => known(scene, kind, "share")),
    ])
      if (object && scene.cluster.exists(object)) await scene.reconcile(object);
  }
}

async function moveWhole(parts = partsOf()): Promise<void> {
  await handOverToCluster(parts, await prepareMove(parts), parts.account);
  expect(await referrersOf(parts)).toEqual([]);
  await deleteOldObject(parts);
}

/** Whether the operator of a cluster has its object Ready, and nobody has told it to write nothing. */
function writes(scene: Scene): boolean {
  const object = known(scene);
  return object !== undefined && !isReleased(object) && conditionOf(object.status, "Ready")?.status === "True";
}

function expectMoved(): void {
  expect(known(blue)).toBeUndefined();
  expect(known(green)?.status?.id).toBe(id);
  expect(blue.gateway.remotesOf(IPPolicy.resource).map((row) => [row.id, row["description"]])).toEqual([
    [id, "Office"],
  ]);
}

test("the object of the other cluster has the remote and its mark, and the old object is gone", async () => {
  await moveWhole();
  expectMoved();
  expect(ownerIn(remote() ?? {})).toBe("green/team-a/office");
  expect(reported).toEqual([
    "Released IPPolicy team-a/office to prod/green/team-a/office",
    `Removed the owner mark of IPPolicy team-a/office from ${id}`,
    "Created IPPolicy team-a/office, with adopt.from: team-a/office",
    `IPPolicy team-a/office is Ready, and has ${id}`,
    `Deleted IPPolicy team-a/office; ${id} stays in the account`,
  ]);
});

test.each([
  ["that can be marked", {}],
  ["without room for a mark", { metadata: "opaque" }],
  ["with metadata of the user", { metadata: '{"team":"shop"}' }],
])(
  "a remote %s: after a crash at any step, the next run completes the move, and never more than one cluster writes",
  async (_, spec) => {
    for (let end = 1; ; end += 1) {
      await begin(spec);
      let calls = 0;
      const kill = () => {
        calls += 1;
        if (calls === end) throw new Killed(`at ${end}`);
      };
      const outcome = await moveWhole(partsOf(kill)).catch((error: unknown) => error);
      if (outcome === undefined) {
        expect(end).toBeGreaterThan(25);
        return;
      }
      expect(outcome).toBeInstanceOf(Killed);
      // The operators go on after the command has ended.
      for (let round = 0; round < 3; round += 1) await bothReconcile();
      // Whoever can say what the remote is to be, the other one cannot.
      const writers = [blue, green].filter((scene) => writes(scene));
      expect(writers.length).toBeLessThanOrEqual(1);
      await moveWhole();
      expectMoved();
    }
  },
);

test("the effect of a deletion on the remote stays the same", async () => {
  const prepared = await prepareMove(partsOf());
  expect(prepared?.manifest["spec"]).toEqual({
    description: "Office",
    adopt: { id, from: "team-a/office" },
    deletionPolicy: "Delete",
  });
});

test("when somebody deletes the old object before the other cluster has the remote, the remote stays", async () => {
  const parts = partsOf(() => {
    const old = known(blue);
    if (old?.metadata.annotations?.[annotations.releaseTo] !== undefined) blue.cluster.delete(old);
  });
  await moveWhole(parts).catch((error: unknown) => error);
  for (let round = 0; round < 3; round += 1) await bothReconcile();
  expect(remote()).toBeDefined();
});

test("objects that refer to the old object are named, and keep it until they refer to the remote by id", async () => {
  await blue.given(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });
  const parts = partsOf();
  await handOverToCluster(parts, await prepareMove(parts), parts.account);
  expect(await referrersOf(parts)).toEqual([{ kind: "TCPEdge", name: "ssh", path: "ipRestriction.ipPolicyRefs[0]" }]);
  blue.cluster.apply(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ id }] } });
  await moveWhole();
  expectMoved();
});

test("an object that is moved next refers by name to those that were moved before", async () => {
  await blue.given(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });
  const parts = partsOf();
  await handOverToCluster(parts, await prepareMove(parts), parts.account);
  const ssh = { namespace: "team-a", name: "ssh" };
  const edge = partsOf(() => {}, { kind: TCPEdge, from: ssh, to: ssh, toContext: "prod/green" });
  await moveWhole(edge);
  expect(known(green, TCPEdge, "ssh")?.spec["ipRestriction"]).toEqual({ ipPolicyRefs: [{ name: "office" }] });
  await moveWhole();
  expectMoved();
});

test("a namespace without the right to adopt is reported at once, and the next run completes the move", async () => {
  green.mayAdopt = false;
  await expect(moveWhole()).rejects.toThrow(
    /^IPPolicy team-a\/office does not take ipp_\w+ over\. It says AdoptionNotAllowed: .* Run this again to go on$/,
  );
  green.mayAdopt = true;
  await moveWhole();
  expectMoved();
});

test("the old cluster continues when the release is withdrawn", async () => {
  green.mayAdopt = false;
  await expect(moveWhole()).rejects.toThrow("AdoptionNotAllowed");
  blue.cluster.removeAnnotation(known(blue) as ManagedObject, annotations.releaseTo);
  for (let round = 0; round < 3; round += 1) await bothReconcile();
  blue.cluster.apply(IPPolicy, "office", { description: "edited" });
  await blue.settle(known(blue) as ManagedObject);
  expect(remote()?.["description"]).toBe("edited");
  green.mayAdopt = true;
  await green.settle(known(green) as ManagedObject);
  expect(ownerIn(remote() ?? {})).toBe("blue/team-a/office");
});

test("nothing is changed when the API server of the other cluster refuses the new object", async () => {
  const parts = partsOf();
  parts.there.create = () => Promise.reject(new CommandError("no such field"));
  await expect(moveWhole(parts)).rejects.toThrow("no such field");
  expect(known(blue)?.metadata.annotations?.[annotations.releaseTo]).toBeUndefined();
  expect(ownerIn(remote() ?? {})).toBe("blue/team-a/office");
});

test.each(["red/team-z/office", "red/team-a/office"])("the mark %s of another object is not removed", async (mark) => {
  blue.gateway.change(IPPolicy.resource, id, { metadata: JSON.stringify({ "tunnelgateway.dev/owner": mark }) });
  await expect(moveWhole()).rejects.toThrow(
    `IPPolicy team-a/office cannot give ${id} away: its owner mark names ${mark}`,
  );
  expect(ownerMarkOf(remote() ?? {})).toBe(mark);
});

test.each([
  [WeightedBackend, { backends: [{ backendRef: { id: "bkdtg_1" }, weight: 70 }] }, { bkdtg_1: 70 }],
  [FailoverBackend, { backendRefs: [{ id: "bkdtg_1" }] }, ["bkdtg_1"]],
] as const)(
  "a remote that an update of the metadata alone would empty keeps what it has",
  async (kind, spec, backends) => {
    blue.gateway.put(TunnelGroupBackend.resource, { id: "bkdtg_1" } as never);
    const share = { namespace: "team-a", name: "share" };
    const shared = blue.idOf(await blue.given(kind, "share", spec as unknown as ManagedObject["spec"]));
    const parts = partsOf(() => {}, { kind, from: share, to: share, toContext: "prod/green" });
    green.mayAdopt = false;
    await moveWhole(parts).catch((error: unknown) => error);
    const now = blue.gateway.remote(kind.resource, shared) ?? {};
    expect(ownerIn(now)).toBeUndefined();
    expect(now).toMatchObject({ backends });
  },
);

test("a key of another account is reported", async () => {
  const parts = partsOf();
  parts.account.get = async () => undefined;
  await expect(moveWhole(parts)).rejects.toThrow(`Name the account of IPPolicy team-a/office: this one has no ${id}`);
});
