import { beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { intentOf } from "../../objects/intent.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Store } from "../../runtime/cache/store.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { KubeObject } from "../../runtime/object.ts";
import type { EventInput, EventRecorder } from "../../runtime/process/events.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { type Informers, indexersOf } from "./indexes.ts";
import { KubeCluster } from "./kube-cluster.ts";
import { UnfinalizedObjects } from "./unfinalized-objects.ts";

const POLICIES = "tunnelgateway.dev/v1/ippolicies";
const SECRETS = "v1/secrets";

const intent = { create: "2026-01-01T00:00:00.000Z" };

let server: FakeApiServer;
let client: KubeClient;
let store: Store<ManagedObject>;
let cluster: KubeCluster;
const events: EventInput[] = [];
/** What was said to the keeper of the operator's rights. */
const rights: string[] = [];

beforeEach(async () => {
  rights.length = 0;
  events.length = 0;
  ({ server, client } = await apiServerForTest());
  store = new Store({ indexers: indexersOf(IPPolicy) });
  cluster = new KubeCluster({
    client,
    kinds: [IPPolicy],
    informers: new Map([["IPPolicy", { store }]]) as unknown as Informers,
    recorder: { emit: (event: EventInput) => void events.push(event) } as unknown as EventRecorder,
    log: recordingLogger(),
    endedObjects: { has: () => false },
    unfinalizedObjects: new UnfinalizedObjects(systemClock),
    readObjects: { visibilityOf: () => "Visible", unreadNamespaces: () => [] },
    accounts: {
      isSameAccount: (one, other) => accountOf(one) === accountOf(other),
      isSameInventory: (one, other) => accountOf(one) === accountOf(other),
      usersOfKey: () => [],
      tokenRecordOf: () => "",
      isTokenRecord: () => true,
      isAccountOrphaned: () => false,
      ensureDefaultKnown: async () => {},
      mayAdopt: () => true,
    },
    rights: {
      async during(namespace, write) {
        rights.push(`begin ${namespace}`);
        const written = await write();
        rights.push("end");
        return written;
      },
      settle: async (namespace) => void rights.push(`settle ${namespace}`),
    },
  });
});

const accountOf = ({ metadata }: ManagedObject) => metadata.labels?.["account"];

/** An object that a user created, in API server and cache. */
function given(metadata: Partial<KubeObject["metadata"]> = {}): ManagedObject {
  const made = server.storage.create(POLICIES, {
    apiVersion: "tunnelgateway.dev/v1",
    kind: "IPPolicy",
    spec: {},
    metadata: { ...metadata, namespace: "n", name: "office" },
  }) as ManagedObject;
  store.put(made);
  return made;
}

const cached = () => cluster.get("IPPolicy", "n", "office");
const touch = () =>
  server.storage.update(POLICIES, "n/office", (now) => ({
    ...now,
    metadata: { ...now.metadata, labels: { somebody: "wrote" } },
  }));

const secretOf = (name: string) => server.storage.get(SECRETS, `n/${name}`);
const usersSecret = (name: string, more: Partial<KubeObject["metadata"]> = {}) =>
  server.storage.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { ...more, namespace: "n", name } });
const content = { name: "token", data: { token: "s3cret" }, annotations: {}, ownership: "owned" as const };

const outdated = expect.objectContaining({ name: "Outdated" });

describe("objects of several namespaces", () => {
  const put = (
    namespace: string,
    account: string,
    status?: ManagedObject["status"],
    spec: ManagedObject["spec"] = {},
  ) => {
    const object: ManagedObject = {
      apiVersion: "tunnelgateway.dev/v1",
      kind: "IPPolicy",
      metadata: { name: "office", namespace, uid: namespace, generation: 1, resourceVersion: "1", labels: { account } },
      spec,
      ...(status && { status: { ...status, account: `of-${namespace}` } }),
    };
    store.put(object);
    return object;
  };
  const namespacesOf = (objects: ManagedObject[]) => objects.map(({ metadata }) => metadata.namespace).sort();

  it("are in one account when their GatewayAccounts share one, whatever their names", () => {
    const one = put("a", "shared", { id: "ipp_1" });
    put("b", "shared", { id: "ipp_2" });
    put("c", "another", { id: "ipp_3" });
    put("d", "shared");
    expect(namespacesOf(cluster.inAccount(IPPolicy, one))).toEqual(["a", "b"]);
    expect(cluster.remoteIDsBeside(IPPolicy, one).sort()).toEqual(["ipp_1", "ipp_2"]);
  });

  it("specify the same remote when they are in one account", () => {
    const one = put("a", "shared", undefined, { adopt: { id: "ipp_1" } });
    put("b", "shared", undefined, { adopt: { id: "ipp_1" } });
    put("c", "another", undefined, { adopt: { id: "ipp_1" } });
    expect(namespacesOf(cluster.othersSpecifying(IPPolicy, "ipp_1", one))).toEqual(["b"]);
  });

  it("have the same remote when both statuses have its id, although their keys are not known to be of one account", () => {
    const one = put("a", "one key", { id: "ipp_1" });
    put("b", "another key", { id: "ipp_1" });
    put("c", "another key", { id: "ipp_2", retiring: ["ipp_1"] });
    put("d", "another key", { id: "ipp_2" });
    expect(namespacesOf(cluster.othersWithRemoteID(IPPolicy, "ipp_1", one))).toEqual(["b", "c"]);
  });
});

describe("a write", () => {
  it("is in the cache at once", async () => {
    const object = given();
    await cluster.annotate(IPPolicy, object, { finalizer: true, intent });
    expect(cached()?.metadata).toMatchObject({
      finalizers: [FINALIZER],
      annotations: { [annotations.createIntent]: intent.create },
    });
    expect(cached() && intentOf(cached() as ManagedObject)).toMatchObject(intent);
    await cluster.writeStatus(IPPolicy, object, { id: "ipp_1" });
    expect(cached()?.status).toEqual({ id: "ipp_1" });
  });

  it("keeps the finalizers of others", async () => {
    const object = given({ finalizers: ["a", FINALIZER, "b"] });
    await cluster.annotate(IPPolicy, object, { finalizer: true });
    expect(server.storage.get(POLICIES, "n/office")?.metadata.finalizers).toEqual(["a", FINALIZER, "b"]);
    await cluster.removeFinalizer(IPPolicy, object);
    expect(cached()?.metadata.finalizers).toEqual(["a", "b"]);
  });

  it("that removes the last finalizer of an object being deleted removes it from the cache", async () => {
    const object = given({ finalizers: [FINALIZER] });
    server.storage.delete(POLICIES, "n/office");
    await cluster.removeFinalizer(IPPolicy, object);
    expect(cached()).toBeUndefined();
  });

  // guards against an object that keeps its finalizer because the operator's rights went first
  it("of the finalizer first secures the operator's rights in the namespace, and releases them last", async () => {
    const object = given();
    await cluster.annotate(IPPolicy, object, { intent });
    expect(rights).toEqual([]);
    const held = await cluster.annotate(IPPolicy, cached() ?? object, { finalizer: true });
    expect(rights.splice(0)).toEqual(["begin n", "end"]);
    await cluster.annotate(IPPolicy, held, { finalizer: true });
    expect(rights).toEqual([]);
    await cluster.removeFinalizer(IPPolicy, cached() ?? held);
    expect(rights).toEqual(["settle n"]);
  });
});

describe("a write of an outdated object", () => {
  it("fails for an intent when somebody wrote first", async () => {
    const object = given();
    touch();
    await expect(cluster.annotate(IPPolicy, object, { intent })).rejects.toEqual(outdated);
  });

  it("fails for an intent when the object is gone, and is ignored for status and finalizer", async () => {
    const object = given({ finalizers: [FINALIZER] });
    server.storage.update(POLICIES, "n/office", (now) => ({ ...now, metadata: { ...now.metadata, finalizers: [] } }));
    server.storage.delete(POLICIES, "n/office");
    await expect(cluster.annotate(IPPolicy, object, { intent })).rejects.toEqual(outdated);
    await cluster.writeStatus(IPPolicy, object, {});
    await cluster.removeFinalizer(IPPolicy, object);
  });

  it("fails for a status only when somebody else wrote the status", async () => {
    const object = given();
    touch();
    await cluster.writeStatus(IPPolicy, object, { id: "ipp_1" });
    await expect(cluster.writeStatus(IPPolicy, object, { id: "ipp_2" })).rejects.toEqual(outdated);
    expect(server.storage.get(POLICIES, "n/office")?.["status"]).toEqual({ id: "ipp_1" });
  });

  it("succeeds for a status that only differs by the defaults of the CRD", async () => {
    const object = given();
    await cluster.writeStatus(IPPolicy, { ...object, status: { conditions: [] } }, { id: "ipp_1" });
    expect(cached()?.status).toEqual({ id: "ipp_1" });
  });

  it("fails when the name belongs to another object", async () => {
    const object = given({ finalizers: [FINALIZER] });
    const other = { ...object, metadata: { ...object.metadata, uid: "another" } };
    await expect(cluster.writeStatus(IPPolicy, other, { id: "ipp_1" })).rejects.toEqual(outdated);
    await expect(cluster.removeFinalizer(IPPolicy, other)).rejects.toEqual(outdated);
    expect(server.storage.get(POLICIES, "n/office")).toEqual(object);
  });

  it("fails when the finalizers have another order, and removes no finalizer of others", async () => {
    const object = given({ finalizers: [FINALIZER, "b"] });
    server.storage.update(POLICIES, "n/office", (now) => ({
      ...now,
      metadata: { ...now.metadata, finalizers: ["b", FINALIZER] },
    }));
    await expect(cluster.removeFinalizer(IPPolicy, object)).rejects.toEqual(outdated);
  });
});

describe("an error of the API server", () => {
  const refusal = (more: object) => JSON.stringify({ kind: "Status", message: "no: s3cret", ...more });

  it.each([
    [
      "for a missing right",
      403,
      { reason: "Forbidden" },
      "Forbidden",
      /^Grant the operator's service account the right/,
    ],
    [
      "for an invalid object",
      422,
      {
        reason: "Invalid",
        details: { causes: [{ field: "spec.rules", message: 'Invalid value: "s3cret": too few' }] },
      },
      "WriteRefused",
      /^Correct the object, or what refuses to let it be written: spec\.rules: too few$/,
    ],
    ["for an internal error", 500, {}, "Pending", /^Waiting for the Kubernetes API/],
  ])("%s has a message that says what to do", async (_, status, body, reason, words) => {
    const object = given();
    const expected = expect.objectContaining({
      name: reason === "WriteRefused" ? "Blocked" : "Retry",
      reason,
      message: expect.stringMatching(words),
    });
    server.faults.push({ status, body: refusal(body) });
    await expect(cluster.writeStatus(IPPolicy, object, {})).rejects.toEqual(expected);
    // no status can tell it, unless it passes by itself
    expect(events.map((event) => event.reason)).toEqual(reason === "Pending" ? [] : [reason]);
    for (const { note, type } of events) expect([type, note]).toEqual(["Warning", expect.stringMatching(words)]);
    server.faults.push({ status, body: refusal(body) });
    await expect(cluster.secrets.read("n", "any")).rejects.toEqual(expected);
  });
});

describe("a Secret", () => {
  it("is read with decoded values, and may be missing", async () => {
    server.storage.create(SECRETS, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "n", name: "dd", annotations: { a: "b" } },
      data: { api: Buffer.from("s3cret").toString("base64") },
    });
    const { resourceVersion } = secretOf("dd")?.metadata ?? {};
    expect(await cluster.secrets.read("n", "dd")).toEqual({
      resourceVersion,
      data: { api: "s3cret" },
      annotations: { a: "b" },
      owners: [],
    });
    expect(await cluster.secrets.read("n", "other")).toBeUndefined();
  });

  it("that the operator writes has the object as owner", async () => {
    const object = given();
    await cluster.secrets.write(object, content);
    expect(secretOf("token")).toMatchObject({
      metadata: { ownerReferences: [{ kind: "IPPolicy", name: "office", uid: object.metadata.uid, controller: true }] },
      stringData: { token: "s3cret" },
    });
    await cluster.secrets.write(object, { ...content, data: { token: "next" } });
    expect(secretOf("token")).toMatchObject({ stringData: { token: "next" } });
  });

  it("that the object does not own is never written", async () => {
    const before = usersSecret("token");
    await expect(cluster.secrets.write(given(), content)).rejects.toEqual(outdated);
    expect(secretOf("token")).toEqual(before);
  });
});
