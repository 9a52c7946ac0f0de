import { beforeAll, describe, expect, test } from "vitest";
import { annotations, FINALIZER, OWNER_KEY } from "../../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const CLUSTER_ID = "blue";
const world = useWorld({ startOperator: false, env: { CLUSTER_ID } });
const control = () => world.simulator.control;

interface Former {
  name: string;
  spec: Record<string, unknown> & { adopt?: { id?: string; existing?: true } };
  origin: "Created" | "Adopted";
  /** The operator was killed before it recorded the id. */
  isOpen?: true;
}

const policies: readonly Former[] = [
  { name: "created", spec: { description: "the office" }, origin: "Created" },
  { name: "interrupted", spec: { description: "the road" }, origin: "Created", isOpen: true },
  { name: "imported", spec: { description: "theirs", adopt: { id: "ipp_imported" } }, origin: "Adopted" },
  // spec.adopt was removed after the import
  { name: "settled", spec: { description: "theirs as well" }, origin: "Adopted" },
];

const existing = { existing: true } as const;
const domains: readonly Former[] = [
  { name: "reserved", spec: { domain: "reserved.example.org" }, origin: "Created" },
  { name: "taken", spec: { domain: "taken.example.org", adopt: existing }, origin: "Adopted" },
  // adopt found nothing
  { name: "missed", spec: { domain: "missed.example.org", adopt: existing }, origin: "Created" },
];

/** Id of the remote by name of the object. */
const remotes = new Map<string, string>();

/** Writes the object and its status as the first builds did, and its remote into the account. */
async function write(kind: string, collection: string, { name, spec, origin, isOpen }: Former): Promise<void> {
  const { adopt, ...sent } = spec;
  const mark = JSON.stringify({ [OWNER_KEY]: `${CLUSTER_ID}/${world.namespace}/${name}` });
  const remote: KubeJSON = control().insert(collection, {
    ...sent,
    metadata: mark,
    ...(adopt?.id && { id: adopt.id }),
  });
  remotes.set(name, remote.id);
  const sentAt = new Date(remote.created_at).toISOString();
  const intent = origin === "Created" && { [annotations.createIntent]: `${sentAt}/${sentAt}` };
  const metadata = { finalizers: [FINALIZER], annotations: { ...intent } };
  const { generation } = (await world.kube.create(manifest(kind, name, spec, metadata))).metadata;
  if (isOpen) return;
  const condition = (type: string, message: string) => ({
    ...{ type, status: "True", reason: "Available", message, observedGeneration: generation },
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  await world.kube.patchStatus(kind, name, {
    ...{ id: remote.id, uri: remote.uri, createdAt: remote.created_at, domain: sent["domain"] },
    ...{ appliedFields: Object.keys(sent), observedGeneration: generation },
    conditions: [
      condition("Ready", "Exists in the account as specified"),
      condition("Synced", "The last call to the service succeeded"),
    ],
    // the definitions of that time had none
    columns: null,
  });
}

const idsInAccount = (): unknown[] =>
  ["ip_policies", "reserved_domains"]
    .flatMap((collection) => control().objects(collection))
    .map(({ id }) => id)
    .sort();

describe("objects of the first builds, with statuses without origin and unsigned intents", () => {
  let objects: KubeJSON[];
  let home = "";

  beforeAll(async () => {
    for (const former of policies) await write("IPPolicy", "ip_policies", former);
    for (const former of domains) await write("ReservedDomain", "reserved_domains", former);
    objects = await world.kube.all();
    // the Secret that notes that intents were signed is in the operator's own namespace
    home = await world.cluster.freshNamespace("home");
    await world.startOperator({ POD_NAMESPACE: home });
  });

  test("keep their remotes, and send nothing", async () => {
    await world.reconcileNow(...objects);
    const now = await world.allReady(objects);
    expect(new Map(now.map(({ metadata, status }) => [metadata.name, status.id]))).toEqual(remotes);
    expect(idsInAccount()).toEqual([...remotes.values()].sort());
    expect(world.changesSent()).toEqual([]);
  });

  test("delete remotes that were created, and leave adopted ones, also after spec.adopt was removed", async () => {
    await world.kube.patch("IPPolicy", "imported", { spec: { adopt: null } });
    await world.ready("IPPolicy", "imported");
    for (const { kind, metadata } of objects) await world.kube.delete(kind, metadata.name);
    for (const { kind, metadata } of objects) await world.gone(kind, metadata.name);
    const adopted = [...policies, ...domains].filter(({ origin }) => origin === "Adopted");
    expect(idsInAccount()).toEqual(adopted.map(({ name }) => remotes.get(name)).sort());
  });

  // after going back to such a build, and upgrading again
  test("that they write after the first upgrade count as adopted: no remote is created twice, and none deleted", async () => {
    await world.operator.stop();
    const between: Former = { name: "between", spec: { description: "between" }, origin: "Created" };
    await write("IPPolicy", "ip_policies", between);
    const ids = idsInAccount();
    await world.startOperator({ POD_NAMESPACE: home });
    const { status } = await world.ready("IPPolicy", "between");
    expect(status.id).toBe(remotes.get("between"));
    await world.kube.delete("IPPolicy", "between");
    await world.gone("IPPolicy", "between");
    expect(idsInAccount()).toEqual(ids);
    expect(world.changesSent()).not.toContainEqual(expect.objectContaining({ method: "POST" }));
  });
});
