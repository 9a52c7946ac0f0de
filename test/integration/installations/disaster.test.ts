import { beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

// The steps of docs/disaster-recovery.md. Restored backups are in lifecycle.test.ts, keys of other accounts in
// other-account.test.ts.

// A change that got no answer may still be carried out for a little longer than one request may take.
const world = useWorld({ startOperator: false, env: { REQUEST_TIMEOUT: "5s" } });
const control = () => world.simulator.control;
const creates = () => control().requests({ method: "POST", status: 201 }).length;

const inGit: KubeJSON[] = [
  manifest("IPPolicy", "office", { description: "the office" }),
  manifest("ReservedDomain", "shop", { domain: "shop.example.org" }),
  manifest("TunnelGroupBackend", "web", { labels: { app: "web" } }),
  manifest("TCPEdge", "database", {
    backend: { backendRef: { kind: "TunnelGroupBackend", name: "web" } },
    ipRestriction: { ipPolicyRefs: [{ name: "office" }] },
  }),
];

const idsOf = (objects: readonly KubeJSON[]) => objects.map(({ kind, status }) => `${kind} ${status.id}`).sort();

/** The cluster is gone, with all that it had; the account is as it was. */
async function loseCluster(): Promise<void> {
  await world.operator.stop();
  for (const { kind, metadata } of await world.kube.custom()) {
    await world.kube.patch(kind, metadata.name, { metadata: { finalizers: null } });
    await world.kube.delete(kind, metadata.name);
  }
}

describe("a cluster that is rebuilt from Git alone", () => {
  let ids: string[];
  let made: number;

  beforeAll(async () => {
    await world.startOperator({ CLUSTER_ID: "blue" });
    await world.kube.apply(...inGit);
    ids = idsOf(await world.allReady(inGit));
    made = creates();
    await loseCluster();
  });

  test("finds all its remotes when it gets the id of the former cluster", async () => {
    await world.startOperator({ CLUSTER_ID: "blue" });
    await world.kube.apply(...inGit);
    expect(idsOf(await world.allReady(inGit))).toEqual(ids);
    expect(creates()).toBe(made);
  });

  test("changes no remote of the former cluster under another id, and adopts all when the id is corrected", async () => {
    await loseCluster();
    await world.startOperator({ CLUSTER_ID: "green" });
    const domain = inGit.filter(({ kind }) => kind === "ReservedDomain");
    await world.kube.apply(...domain);
    const stalled = await world.condition("ReservedDomain", "shop", { type: "Stalled", status: "True" });
    expect(conditionOf(stalled, "Ready").message).toContain("blue/");
    expect(creates()).toBe(made);
    await world.restartOperator({ CLUSTER_ID: "blue" });
    await world.kube.apply(...inGit);
    expect(idsOf(await world.allReady(inGit))).toEqual(ids);
    expect(creates()).toBe(made);
  });

  test("adopts all remotes from a cluster whose objects release them instead of deleting them", async () => {
    await world.kube.patch("ReservedDomain", "shop", { metadata: { annotations: { [annotations.orphan]: "true" } } });
    await world.kube.delete("ReservedDomain", "shop");
    await world.gone("ReservedDomain", "shop");
    await loseCluster();
    await world.startOperator({ CLUSTER_ID: "blue" });
    await world.kube.apply(...inGit);
    expect(idsOf(await world.allReady(inGit))).toEqual(ids);
    expect(creates()).toBe(made);
  });

  test("creates nothing twice when no id is set, and adopts all when it is given the id of the former cluster", async () => {
    await loseCluster();
    await world.startOperator();
    await world.kube.apply(...inGit);
    for (const { kind, metadata } of inGit.filter((object) => object.kind !== "TCPEdge")) {
      const stopped = await world.condition(kind, metadata.name, { type: "Stalled", status: "True" });
      expect(conditionOf(stopped, "Ready").message).toContain('formerClusterIDs: ["blue"]');
    }
    expect(creates()).toBe(made);
    await world.restartOperator({ FORMER_CLUSTER_IDS: "blue" });
    expect(idsOf(await world.allReady(inGit))).toEqual(ids);
    expect(creates()).toBe(made);
    const marks = control()
      .objects("ip_policies")
      .map(({ metadata }) => metadata);
    expect(marks).toEqual([expect.not.stringContaining("blue/")]);
  });
});

test("objects of a closed account can be deleted without a request", async () => {
  control().fault({ action: { status: 401, body: { msg: "closed" } }, times: Number.POSITIVE_INFINITY });
  for (const { kind, metadata } of inGit) {
    await world.kube.annotate(kind, metadata.name, { [annotations.orphan]: "true" });
    await world.kube.delete(kind, metadata.name);
  }
  for (const { kind, metadata } of inGit) await world.gone(kind, metadata.name);
  expect(control().count({ method: "DELETE" })).toBe(0);
});
