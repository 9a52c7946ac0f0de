import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations, FINALIZER } from "../../../src/schema/contract.ts";
import type { Cluster } from "../../../tools/cluster/cluster.ts";
import { installKinds } from "../../../tools/cluster/install-kinds.ts";
import { startCluster } from "../../../tools/cluster/start.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { Kube } from "../../support/kube.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { foreignRows, requiredObjects, sampleObjects, secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const opaque = { metadata: "not ours to mark" };

/** How a remote is found again when no status has its id: by its mark, or by a person, whom the annotation tells. */
const known = [
  { isMarked: true, of: (name: string) => manifest("TunnelGroupBackend", name, { labels: { name } }) as KubeJSON },
  {
    isMarked: false,
    of: (name: string) => manifest("ReservedDomain", name, { ...opaque, domain: `${name}.example.org` }) as KubeJSON,
  },
  {
    isMarked: false,
    of: (name: string) => manifest("HTTPResponseBackend", name, { ...opaque, description: name }) as KubeJSON,
  },
];

describe("an object that is created again", () => {
  // The creates of a restored object may still be carried out for a little longer than one request may take.
  const world = useWorld({ env: { REQUEST_TIMEOUT: "5s" } });
  const control = () => world.simulator.control;
  const creates = () => control().count({ method: "POST" });

  /** Restores the object as backup tools do: with spec and annotations, without uid and status. */
  async function restore(objects: KubeJSON[], keeps: (object: KubeJSON) => object): Promise<void> {
    await world.operator.stop();
    const backup = await Promise.all(objects.map(({ kind, metadata }) => world.kube.get(kind, metadata.name)));
    for (const { kind, metadata } of backup as KubeJSON[]) {
      await world.kube.patch(kind, metadata.name, { metadata: { finalizers: null } });
      await world.kube.delete(kind, metadata.name);
    }
    for (const { apiVersion, kind, metadata, spec, ...rest } of backup as KubeJSON[])
      await world.kube.create({
        apiVersion,
        kind,
        metadata: { name: metadata.name, ...keeps({ metadata, ...rest }) },
        spec,
      });
    await world.startOperator();
  }

  // guards against creating all remotes a second time after a backup was restored
  test.each([
    ["with its annotations", known, ({ metadata }: KubeJSON) => ({ annotations: metadata.annotations })],
    [
      "with its annotations and finalizer",
      known,
      ({ metadata: { annotations: kept, finalizers } }: KubeJSON) => ({ annotations: kept, finalizers }),
    ],
    ["with its spec alone", known.slice(0, 1), () => ({})],
  ] as const)("from a backup, %s, finds its remote", async (how, sorts, keeps) => {
    const objects = sorts.map(({ of }, index) => of(`backup-${how.length}-${index}`));
    await world.kube.apply(...objects);
    await world.allReady(objects);
    const idOf = async ({ kind, metadata }: KubeJSON) => (await world.kube.get(kind, metadata.name))?.status.id;
    const ids = await Promise.all(objects.map(idOf));
    const before = creates();
    await restore(objects, keeps);
    for (const [index, { kind, metadata }] of objects.entries()) {
      if (sorts[index]?.isMarked) continue;
      const stalled = { type: "Ready", status: "False", reason: "AlreadyExists" };
      const object = await world.condition(kind, metadata.name, stalled);
      expect(conditionOf(object, "Ready")?.message).toContain(`adopt: {id: ${ids[index]}}`);
      const adopted = { adopt: { id: ids[index] }, deletionPolicy: "Delete" };
      await world.kube.patch(kind, metadata.name, { spec: adopted });
    }
    await world.allReady(objects);
    expect(await Promise.all(objects.map(idOf))).toEqual(ids);
    expect(creates()).toBe(before);
    await Promise.all(objects.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
    for (const { kind, metadata } of objects) await world.gone(kind, metadata.name);
    for (const id of ids) expect(control().get(id)).toBeNull();
  });

  // guards against a second remote, or a refusal, when an object with Retain is deleted and applied again
  test.each([
    ["the same process", async () => {}],
    ["another process", () => world.restartOperator()],
  ])("after it was retained, to %s, adopts its former remote", async (_, meanwhile) => {
    const domain = { domain: "retained.example.org" };
    const objects: KubeJSON[] = [
      manifest("TunnelGroupBackend", "retained", { labels: { a: "b" }, deletionPolicy: "Retain" }),
      manifest("ReservedDomain", "retained", { ...domain, deletionPolicy: "Retain" }),
    ];
    await world.kube.apply(...objects);
    const ids = (await world.allReady(objects)).map(({ status }) => status.id);
    await Promise.all(objects.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
    for (const { kind, metadata } of objects) await world.gone(kind, metadata.name);
    await meanwhile();
    const before = creates();
    await world.kube.apply(
      ...objects.map((object) => ({ ...object, spec: { ...object.spec, deletionPolicy: "Delete" } })),
    );
    const again = await world.allReady(objects);
    expect(again.map(({ status }) => status.id)).toEqual(ids);
    expect(creates()).toBe(before);
    await Promise.all(objects.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
    for (const { kind, metadata } of objects) await world.gone(kind, metadata.name);
    for (const id of ids) expect(control().get(id)).toBeNull();
  });

  // guards against remotes that no object has, and against deleting one that may be in use
  test("to several remotes with its mark adopts the newest, deletes none and reports the others", async () => {
    const object = known[0]?.of("doubled");
    await world.kube.apply(object);
    const { status } = await world.ready("TunnelGroupBackend", "doubled");
    const { metadata } = control().get(status.id) as { metadata: string };
    const doubles = [5000, 10_000].map((ms) => {
      const made = { metadata, created_at: new Date(Date.now() + ms).toISOString() };
      return control().insert("backends/tunnel_group", made)["id"];
    });
    await restore([object], ({ metadata: { annotations: kept } }) => ({ annotations: kept }));
    const again = await world.ready("TunnelGroupBackend", "doubled");
    expect(again.status.id).toBe(doubles[1]);
    const event = await world.until("it is told", async () => {
      const events = await world.kube.list("Event");
      return events.find(({ reason, regarding }) => reason === "OwnershipConflict" && regarding.name === "doubled");
    });
    for (const id of [status.id, doubles[0]]) {
      expect(event.note).toContain(id);
      expect(control().get(String(id))).not.toBeNull();
    }
  });
});

describe("a deletion", () => {
  const world = useWorld();
  const control = () => world.simulator.control;

  // guards against objects that cannot be deleted because what their spec refers to is gone
  test("needs nothing of the spec: no Secret, and no referenced object", async () => {
    const target = { monitoring: { apiKeyRef: { name: "going", key: "key" }, service: "x" } };
    const refs = { ipRestriction: { ipPolicyRefs: [{ name: "going" }] } };
    await world.kube.apply(secret("going", { key: "a-monitoring-key" }), manifest("IPPolicy", "going", {}));
    const objects: KubeJSON[] = [
      manifest("EventDestination", "broken", { target }),
      manifest("TCPEdge", "broken", refs),
    ];
    await world.kube.apply(...objects);
    const ids = (await world.allReady(objects)).map(({ status }) => status.id);
    await world.kube.delete("Secret", "going");
    await world.kube.annotate("IPPolicy", "going", { [annotations.orphan]: "true" });
    await world.kube.delete("IPPolicy", "going");
    await world.gone("IPPolicy", "going");
    await Promise.all(objects.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
    for (const { kind, metadata } of objects) await world.gone(kind, metadata.name);
    for (const id of ids) expect(control().get(id)).toBeNull();
  });

  // guards against a hanging kubectl delete that nobody can explain
  test("that only waits for finalizers of others names them", async () => {
    const finalizers = ["example.com/backup", "example.com/audit"];
    await world.kube.apply(manifest("IPPolicy", "held", {}, { finalizers }));
    const { status } = await world.ready("IPPolicy", "held");
    await world.kube.delete("IPPolicy", "held");
    const held = await world.condition("IPPolicy", "held", { type: "Ready", status: "False", reason: "Deleting" });
    const reported = await world.until("they are named", async () => {
      const now = conditionOf(await world.get("IPPolicy", "held"), "Ready");
      return finalizers.every((name) => now?.message.includes(name)) && now;
    });
    expect(reported).toBeDefined();
    expect(held.metadata.finalizers).not.toContain(FINALIZER);
    expect(control().get(status.id)).toBeNull();
    const { writes } = await world.quiet();
    await world.kube.patch("IPPolicy", "held", { metadata: { finalizers: null } });
    await world.gone("IPPolicy", "held");
    expect((await world.quiet()).writes).toBe(writes);
  });

  // guards against a cluster that cannot be torn down while the service is away
  test("of a released object ends at once, also while the service is away", async () => {
    const object = manifest("IPPolicy", "released", {});
    await world.kube.apply(object);
    const { status } = await world.ready("IPPolicy", "released");
    control().outage(true);
    try {
      await world.kube.delete("IPPolicy", "released");
      await world.condition("IPPolicy", "released", { type: "Ready", reason: "ServiceUnavailable" });
      await world.kube.annotate("IPPolicy", "released", { [annotations.orphan]: "true" });
      await world.gone("IPPolicy", "released");
    } finally {
      control().outage(false);
    }
    expect(control().get(status.id)).not.toBeNull();
  });
});

describe("a namespace with 200 objects of all kinds that refer to one another", () => {
  const world = useWorld();

  const group = (name: string) => ({ kind: "TunnelGroupBackend", name });
  /** Each object that can refer to another one does. */
  const setOf = (name: string): KubeJSON[] => [
    manifest("TunnelGroupBackend", `${name}-a`, {}),
    manifest("TunnelGroupBackend", `${name}-b`, {}),
    manifest("WeightedBackend", name, {
      backends: [`${name}-a`, `${name}-b`].map((one) => ({ backendRef: group(one), weight: 1 })),
    }),
    manifest("FailoverBackend", name, { backendRefs: [{ kind: "WeightedBackend", name }, group(`${name}-a`)] }),
    manifest("IPPolicy", name, {}),
    manifest("ReservedAddress", name, {}),
    manifest("TCPEdge", name, {
      addressRefs: [{ name }],
      backend: { backendRef: { kind: "FailoverBackend", name } },
      ipRestriction: { ipPolicyRefs: [{ name }] },
    }),
    manifest("TLSEdge", name, {
      backend: { backendRef: { kind: "WeightedBackend", name } },
      ipRestriction: { ipPolicyRefs: [{ name }] },
    }),
  ];

  // guards against deletions that wait for each other, so that the namespace never goes; there are no limits of requests
  // and deletions here, with which this would take two and a half minutes
  test("is gone in less than a minute, and nothing is left in the account", async () => {
    for (const { collection, row } of foreignRows) world.simulator.control.insert(collection, row);
    const begin = Date.now();
    const sets = Array.from({ length: 22 }, (_, index) => setOf(`set-${index}`));
    for (const set of [requiredObjects, sampleObjects, ...sets]) await world.kube.apply(...set);
    const all = await world.until(
      "all are Ready",
      async () => {
        const now = await world.kube.all();
        return now.every(isReady) && now;
      },
      60,
    );
    expect(all.length).toBeGreaterThanOrEqual(200);
    const since = Date.now();
    await world.cluster.kubectlRun(["delete", "namespace", world.namespace, "--wait=false"]);
    await world.until("nothing is left", async () => (await world.kube.all()).length === 0);
    // a busy machine takes longer for all of it
    expect(Date.now() - since).toBeLessThan(Math.max(60_000, 2 * (since - begin)));
    for (const { id } of foreignRows) world.simulator.control.remove(id);
    expect(world.simulator.control.accountIsEmpty()).toBe(true);
  });
});

describe("a kind whose definition is deleted", () => {
  let cluster: Cluster;
  let simulator: Simulator;
  let operator: OperatorProcess;
  let kube: Kube;

  beforeAll(async () => {
    [cluster, simulator] = await Promise.all([startCluster(), startSimulator()]);
    await installKinds(cluster);
    operator = new OperatorProcess({ kubeconfig: cluster.kubeconfig, gateway: simulator });
    await operator.started();
    kube = new Kube(cluster.kubeconfig, "default");
  });

  afterAll(async () => {
    await operator?.stop("SIGKILL");
    await kube?.close();
    await Promise.all([cluster?.stop(), simulator?.stop()]);
  });

  // guards against emptying the account by `kubectl delete crd` or by uninstalling the chart
  test("loses its objects and keeps their remotes", async () => {
    const objects = Array.from({ length: 5 }, (_, index) => manifest("IPPolicy", `kept-${index}`, {}) as KubeJSON);
    await kube.apply(...objects);
    const until = async (what: () => Promise<boolean>) => {
      for (const end = Date.now() + 20_000; !(await what()); ) if (Date.now() > end) throw new Error("too late");
    };
    await until(async () => (await kube.list("IPPolicy")).filter(isReady).length === objects.length);
    const name = "ippolicies.tunnelgateway.dev";
    await cluster.kubectlRun(["delete", "crd", name, "--wait=true", "--timeout=20s"]);
    expect(simulator.control.objects("ip_policies")).toHaveLength(objects.length);
    expect(simulator.control.count({ method: "DELETE" })).toBe(0);
  });
});
