import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Store } from "../../runtime/cache/store.ts";
import { KubeClient } from "../../runtime/connection/client.ts";
import { Transport } from "../../runtime/connection/transport.ts";
import type { KubeObject } from "../../runtime/object.ts";
import type { EventRecorder } from "../../runtime/process/events.ts";
import { FakeApiServer } from "../../runtime/testing/fake-api-server.ts";
import { recordingLogger } from "../../runtime/testing/logs.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { type Informers, indexersOf, KubeCluster } from "./kube-cluster.ts";

const POLICIES = "tunnelgateway.dev/v1/ippolicies";
const SECRETS = "v1/secrets";

let server: FakeApiServer;
let transport: Transport;
let store: Store<ManagedObject>;
let cluster: KubeCluster;

beforeEach(async () => {
  server = await FakeApiServer.start();
  transport = new Transport(server.connection);
  store = new Store({ indexers: indexersOf(IPPolicy) });
  cluster = new KubeCluster({
    client: new KubeClient(transport, { fieldManager: "test" }),
    kinds: [IPPolicy],
    informers: new Map([["IPPolicy", { store }]]) as unknown as Informers,
    recorder: { emit: () => {} } as unknown as EventRecorder,
    log: recordingLogger(),
  });
});

afterEach(async () => {
  await transport.close();
  await server[Symbol.asyncDispose]();
});

/** As a user makes it, and the watch tells of it. */
function given(metadata: Partial<KubeObject["metadata"]> = {}): ManagedObject {
  const made = server.storage.create(POLICIES, {
    ...{ apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", spec: {} },
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
const content = { name: "token", data: { token: "s3cret" }, annotations: {} };

const outdated = expect.objectContaining({ name: "Outdated" });

describe("what is written", () => {
  it("is seen by the next read at once", async () => {
    const object = given();
    await cluster.annotate(IPPolicy, object, { finalizer: true, intent: "now" });
    expect(cached()?.metadata).toMatchObject({
      finalizers: [FINALIZER],
      annotations: { [annotations.createIntent]: "now" },
    });
    await cluster.writeStatus(IPPolicy, object, { id: "ipp_1" });
    expect(cached()?.status).toEqual({ id: "ipp_1" });
  });

  it("leaves other finalizers where they are", async () => {
    const object = given({ finalizers: ["a", FINALIZER, "b"] });
    await cluster.annotate(IPPolicy, object, { finalizer: true });
    expect(server.storage.get(POLICIES, "n/office")?.metadata.finalizers).toEqual(["a", FINALIZER, "b"]);
    await cluster.removeFinalizer(IPPolicy, object);
    expect(cached()?.metadata.finalizers).toEqual(["a", "b"]);
  });

  it("with the last finalizer ends an object that is being deleted, also for the next read", async () => {
    const object = given({ finalizers: [FINALIZER] });
    server.storage.delete(POLICIES, "n/office");
    await cluster.removeFinalizer(IPPolicy, object);
    expect(cached()).toBeUndefined();
  });
});

describe("a write that comes too late", () => {
  it("of an intent is refused when somebody wrote first", async () => {
    const object = given();
    touch();
    await expect(cluster.annotate(IPPolicy, object, { intent: "now" })).rejects.toEqual(outdated);
  });

  it("of an intent is refused when the object is gone, and other writes are not needed then", async () => {
    const object = given({ finalizers: [FINALIZER] });
    server.storage.update(POLICIES, "n/office", (now) => ({ ...now, metadata: { ...now.metadata, finalizers: [] } }));
    server.storage.delete(POLICIES, "n/office");
    await expect(cluster.annotate(IPPolicy, object, { intent: "now" })).rejects.toEqual(outdated);
    await cluster.writeStatus(IPPolicy, object, {});
    await cluster.removeFinalizer(IPPolicy, object);
  });

  it("of a status does not undo what was written since, whatever else changes", async () => {
    const object = given();
    touch();
    await cluster.writeStatus(IPPolicy, object, { id: "ipp_1" });
    await expect(cluster.writeStatus(IPPolicy, object, { id: "ipp_2" })).rejects.toEqual(outdated);
    expect(server.storage.get(POLICIES, "n/office")?.["status"]).toEqual({ id: "ipp_1" });
  });

  it("of a status is none where only the definition shows the status otherwise", async () => {
    const object = given();
    await cluster.writeStatus(IPPolicy, { ...object, status: { conditions: [] } }, { id: "ipp_1" });
    expect(cached()?.status).toEqual({ id: "ipp_1" });
  });

  it("does not reach another object of the same name", async () => {
    const object = given({ finalizers: [FINALIZER] });
    const other = { ...object, metadata: { ...object.metadata, uid: "another" } };
    await expect(cluster.writeStatus(IPPolicy, other, { id: "ipp_1" })).rejects.toEqual(outdated);
    await expect(cluster.removeFinalizer(IPPolicy, other)).rejects.toEqual(outdated);
    expect(server.storage.get(POLICIES, "n/office")).toEqual(object);
  });

  it("of the finalizer takes nobody else's, when they are in another order by now", async () => {
    const object = given({ finalizers: [FINALIZER, "b"] });
    server.storage.update(POLICIES, "n/office", (now) => ({
      ...now,
      metadata: { ...now.metadata, finalizers: ["b", FINALIZER] },
    }));
    await expect(cluster.removeFinalizer(IPPolicy, object)).rejects.toEqual(outdated);
  });
});

describe("a refusal of the API server", () => {
  const refusal = (more: object) => JSON.stringify({ kind: "Status", message: "no: s3cret", ...more });

  it.each([
    [
      "for want of a right",
      403,
      { reason: "Forbidden" },
      "Forbidden",
      /^Grant the operator's service account the right/,
    ],
    [
      "by the rules of the kind",
      422,
      { reason: "Invalid", details: { causes: [{ field: "spec.rules", message: "no: s3cret" }, {}] } },
      "Pending",
      /^Correct spec\.rules, it: the Kubernetes API refuses any write with it$/,
    ],
    ["for a fault of its own", 500, {}, "Pending", /^Waiting for the Kubernetes API/],
  ])("%s is tried again, and told in words", async (_, status, body, reason, words) => {
    const object = given();
    const told = expect.objectContaining({ name: "Retry", reason, message: expect.stringMatching(words) });
    server.faults.push({ status, body: refusal(body) });
    await expect(cluster.writeStatus(IPPolicy, object, {})).rejects.toEqual(told);
    server.faults.push({ status, body: refusal(body) });
    await expect(cluster.secret("n", "any")).rejects.toEqual(told);
  });
});

describe("a Secret", () => {
  it("is read with its values as text, and may be missing", async () => {
    server.storage.create(SECRETS, {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace: "n", name: "dd", annotations: { a: "b" } } },
      data: { api: Buffer.from("s3cret").toString("base64") },
    });
    const { resourceVersion } = secretOf("dd")?.metadata ?? {};
    expect(await cluster.secret("n", "dd")).toEqual({
      ...{ resourceVersion, data: { api: "s3cret" }, annotations: { a: "b" }, owners: [] },
    });
    expect(await cluster.secret("n", "other")).toBeUndefined();
  });

  it("that the operator writes belongs to the object", async () => {
    const object = given();
    await cluster.writeSecret(object, content);
    expect(secretOf("token")).toMatchObject({
      metadata: { ownerReferences: [{ kind: "IPPolicy", name: "office", uid: object.metadata.uid, controller: true }] },
      stringData: { token: "s3cret" },
    });
    await cluster.writeSecret(object, { ...content, data: { token: "next" } });
    expect(secretOf("token")).toMatchObject({ stringData: { token: "next" } });
  });

  it("of somebody else's is never written to", async () => {
    const before = usersSecret("token");
    await expect(cluster.writeSecret(given(), content)).rejects.toEqual(outdated);
    expect(secretOf("token")).toEqual(before);
  });
});
