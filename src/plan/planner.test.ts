import { expect, test } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { kinds } from "../kinds/index.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { TLSEdge } from "../kinds/tls-edge.ts";
import type { ManagedObject } from "../objects/object.ts";
import { blocksOf } from "./blocks.ts";
import { type PlanInput, planChanges } from "./planner.ts";

type Settings = Partial<Pick<PlanInput, "clusterID" | "formerClusterIDs" | "undocumented">>;

async function actionFor(scene: Scene, object: ManagedObject, settings: Settings): Promise<unknown[]> {
  const planned = await planChanges({
    kinds,
    objects: [object],
    isInAccount: () => true,
    account: { list: async (resource) => scene.gateway.remotesOf(resource), module: async () => null },
    cluster: { secret: async () => undefined, configMap: async () => undefined },
    clusterID: "c1",
    formerClusterIDs: [],
    isClusterIDSet: true,
    accountNameOf: () => "",
    mayAdopt: () => true,
    undocumented: true,
    ...settings,
  });
  return [...blocksOf(planned).values()].map(({ action, reason }) => [action, reason]);
}

test.each([
  [["c1"], "update"],
  [[], "blocked"],
])(
  "with the former ids %j of the cluster, what has the mark of c1 is planned as: %s",
  async (formerClusterIDs, action) => {
    const scene = new Scene();
    const object = await scene.given(IPPolicy, "office", {});
    const planned = await actionFor(scene, object, { clusterID: "c2", formerClusterIDs });
    expect(planned).toEqual([[action, action === "blocked" ? "OwnershipConflict" : undefined]]);
  },
);

test.each([
  [true, "update"],
  [false, "blocked"],
])("where undocumented operations are tried is %s, such an update is planned as: %s", async (undocumented, action) => {
  const scene = new Scene();
  await scene.given(TLSEdge, "web", { description: "one" });
  const object = scene.cluster.apply(TLSEdge, "web", { description: "two" });
  const planned = await actionFor(scene, object, { undocumented });
  expect(planned).toEqual([[action, action === "blocked" ? "ReplacementRequired" : undefined]]);
});
