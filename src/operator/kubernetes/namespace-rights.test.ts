import { beforeEach, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { Store } from "../../runtime/cache/store.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { KubeError } from "../../runtime/connection/errors.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { FINALIZER, RIGHTS_FINALIZER } from "../../schema/contract.ts";
import { NamespaceRights, type NamespaceRightsOptions } from "./namespace-rights.ts";

const BINDINGS = "rbac.authorization.k8s.io/v1/rolebindings";
const OTHERS = "example.com/audit";

let server: FakeApiServer;
let client: KubeClient;
let store: Store<KubeObject>;
let source: { hasSyncedIn: () => boolean; store: Store<KubeObject> };
let log: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
  store = new Store<KubeObject>();
  source = { hasSyncedIn: () => true, store };
  log = recordingLogger();
  server.storage.create(BINDINGS, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { namespace: "team", name: "deletion", finalizers: [OTHERS] },
  });
});

const rightsOf = (options: Partial<NamespaceRightsOptions> = {}): NamespaceRights =>
  new NamespaceRights({
    client,
    clock: systemClock,
    log,
    binding: "deletion",
    keeps: true,
    namespaces: ["team"],
    sources: () => [source],
    leads: () => true,
    ...options,
  });

const finalizers = (): readonly string[] => server.storage.get(BINDINGS, "team/deletion")?.metadata.finalizers ?? [];

const object = (name: string, finalizer?: string): KubeObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: { namespace: "team", name, uid: name, resourceVersion: "1", ...(finalizer && { finalizers: [finalizer] }) },
});

const begins = (rights: NamespaceRights, name: string): Promise<void> =>
  rights.during("team", async () => {
    // whoever gives an object the finalizer relies on the rights from this moment on
    expect(finalizers()).toContain(RIGHTS_FINALIZER);
    store.put(object(name, FINALIZER));
  });

function ends(rights: NamespaceRights, name: string): Promise<void> {
  store.forget(`team/${name}`, name);
  return rights.settle("team");
}

it("keeps the binding from the first object with the finalizer to the last, with two requests for each change", async () => {
  const rights = rightsOf();
  await begins(rights, "one");
  await begins(rights, "two");
  await ends(rights, "one");
  expect(finalizers()).toEqual([OTHERS, RIGHTS_FINALIZER]);
  await ends(rights, "two");
  expect(finalizers()).toEqual([OTHERS]);
  expect(server.received.map(({ method }) => method)).toEqual(["GET", "PATCH", "GET", "PATCH"]);
});

it.each([
  ["before it is looked at", () => false],
  ["while it is read", () => server.received.length === 0],
])("writes nothing when the lease is lost %s, and the next leader does it", async (_, leads) => {
  const [next, former] = [rightsOf(), rightsOf({ leads })];
  await begins(next, "one");
  server.received.length = 0;
  await ends(former, "one");
  expect(finalizers()).toContain(RIGHTS_FINALIZER);
  await next.settle("team");
  expect(finalizers()).toEqual([OTHERS]);
  store.put(object("two", FINALIZER));
  server.received.length = 0;
  await rightsOf({ leads }).settle("team");
  expect(finalizers()).toEqual([OTHERS]);
  expect(server.received.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(log.lines).toEqual([]);
});

it("keeps the binding for an object that gets the finalizer while the last one is deleted", async () => {
  const rights = rightsOf();
  for (let round = 0; round < 20; round += 1) {
    await begins(rights, `a${round}`);
    await Promise.all([ends(rights, `a${round}`), begins(rights, `b${round}`)]);
    expect(finalizers()).toContain(RIGHTS_FINALIZER);
    await ends(rights, `b${round}`);
  }
  expect(finalizers()).toEqual([OTHERS]);
});

it.each([
  ["keeps it for objects that it finds", FINALIZER, [OTHERS, RIGHTS_FINALIZER]],
  ["not for objects without its finalizer", OTHERS, [OTHERS]],
])("after a restart: %s", async (_, finalizer, expected) => {
  await begins(rightsOf(), "before");
  store.forget("team/before", "before");
  store.put(object("one", finalizer));
  const stop = new AbortController();
  const running = rightsOf().background(stop.signal);
  await expect.poll(finalizers).toEqual(expected);
  stop.abort();
  await running;
});

it("keeps the binding while a kind cannot be read", async () => {
  const rights = rightsOf();
  await begins(rights, "one");
  source.hasSyncedIn = () => false;
  await ends(rights, "one");
  expect(finalizers()).toContain(RIGHTS_FINALIZER);
  source.hasSyncedIn = () => true;
  await rights.settle("team");
  expect(finalizers()).toEqual([OTHERS]);
});

it("releases the binding when this is switched off, whatever objects exist", async () => {
  await begins(rightsOf(), "one");
  await rightsOf({ keeps: false }).settle("team");
  expect(finalizers()).toEqual([OTHERS]);
});

it("warns once when there is no binding, and carries out the write", async () => {
  const rights = rightsOf({ binding: "missing" });
  for (const name of ["one", "two"]) await rights.during("team", async () => void store.put(object(name, FINALIZER)));
  expect(store.list()).toHaveLength(2);
  expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
});

it("asks once when admission denies the change of the binding", async () => {
  let sent = 0;
  const patchMerge = async () => {
    sent += 1;
    throw new KubeError({ status: 400, message: "denied" });
  };
  const get: KubeClient["get"] = (...given) => client.get(...given);
  const rights = rightsOf({ client: { get, patchMerge, patchJSON: patchMerge } });
  for (const name of ["one", "two"]) await rights.during("team", async () => store.put(object(name, FINALIZER)));
  expect(sent).toBe(1);
});

it("sends no request when the operator has its rights in all namespaces", async () => {
  const rights = rightsOf({ binding: undefined });
  await rights.during("team", async () => void store.put(object("one", FINALIZER)));
  await ends(rights, "one");
  expect(server.received).toEqual([]);
});
