import { beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import type { KubeClient } from "./client.ts";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isKindAbsent,
  isNotFound,
  isUnreachable,
  KubeError,
} from "./errors.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing" };
const collection = "example.dev/v1/things";
const ref = { namespace: "ns", name: "a" };
const thing: KubeObject = { apiVersion: "example.dev/v1", kind: "Thing", metadata: ref, spec: { value: 1 } };

let server: FakeApiServer;
let client: KubeClient;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest({ random: () => 0.05 }));
});

const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error) => error,
  );
const sent = () => server.received.map(({ method, path }) => `${method} ${path}`);
const last = () => server.received.at(-1);

describe("KubeClient", () => {
  it("creates, reads, patches, replaces and deletes", async () => {
    const created = await client.create(type, thing);
    expect(await client.get(type, ref)).toEqual(created);
    const patched = await client.patchMerge(type, ref, { spec: { value: 2 } });
    expect(patched["spec"]).toEqual({ value: 2 });
    const replaced = await client.update(type, { ...patched, spec: { value: 3 } });
    expect((await client.delete(type, ref)).metadata.uid).toBe(replaced.metadata.uid);
    expect(isNotFound(await failure(client.get(type, ref)))).toBe(true);
  });

  it.each([
    ["core", { group: "", version: "v1", plural: "secrets", kind: "Secret" }, "/api/v1/namespaces/ns/secrets/a"],
    ["a group", type, "/apis/example.dev/v1/namespaces/ns/things/a"],
    ["cluster scope", { ...type, namespaced: false }, "/apis/example.dev/v1/things/a"],
  ] as const)("knows the path of %s", async (_, resource, path) => {
    await failure(client.get(resource, ref));
    expect(sent()).toEqual([`GET ${path}`]);
  });

  it("writes the status through its subresource, as a merge patch", async () => {
    await client.create(type, thing);
    const written = await client.patchMerge(
      type,
      ref,
      { status: { ready: true }, spec: { value: 9 } },
      { subresource: "status" },
    );
    expect(written).toMatchObject({ spec: { value: 1 }, status: { ready: true } });
    expect(last()).toMatchObject({ path: "/apis/example.dev/v1/namespaces/ns/things/a/status" });
    expect(last()?.headers["content-type"]).toBe("application/merge-patch+json");
    expect(last()?.query.get("fieldManager")).toBe("test");
  });

  it("sends JSON patches and applies with their own content types", async () => {
    await client.create(type, thing);
    await failure(client.patchJSON(type, ref, [{ op: "test", path: "/metadata/uid", value: "1" }]));
    expect(last()?.headers["content-type"]).toBe("application/json-patch+json");
    await client.apply(type, thing, { dryRun: true });
    expect(last()?.headers["content-type"]).toBe("application/apply-patch+yaml");
    expect(Object.fromEntries(last()?.query ?? [])).toEqual({ fieldManager: "test", force: "true", dryRun: "All" });
  });

  it("does not delete another object of the same name", async () => {
    await client.create(type, thing);
    expect(isConflict(await failure(client.delete(type, ref, { uid: "another" })))).toBe(true);
    expect(server.storage.list(collection)).toHaveLength(1);
  });

  it("lists all pages at one resourceVersion, with kind and apiVersion", async () => {
    for (let n = 0; n < 7; n += 1)
      server.storage.create(collection, { ...thing, metadata: { name: `n${n}`, namespace: "ns" } });
    const { items, resourceVersion } = await client.listAll(type, { namespace: "ns", limit: 3 });
    expect(items).toHaveLength(7);
    expect(items[6]).toMatchObject({ kind: "Thing", apiVersion: "example.dev/v1", metadata: { name: "n6" } });
    expect(resourceVersion).toBe(String(server.storage.revision));
    expect(server.received).toHaveLength(3);
  });

  it("lists without pages when the pages expire", async () => {
    for (let n = 0; n < 7; n += 1)
      server.storage.create(collection, { ...thing, metadata: { name: `n${n}`, namespace: "ns" } });
    server.faults.push(undefined, { status: 410 });
    expect((await client.listAll(type, { limit: 3 })).items).toHaveLength(7);
    expect(server.received.map(({ query }) => query.get("limit"))).toEqual(["3", "3", null]);
  });
});

describe("failures", () => {
  it("have the status, reason and causes of the API server", async () => {
    const causes = [{ reason: "FieldValueInvalid", field: "spec.value", message: "must be positive" }];
    const body = JSON.stringify({
      kind: "Status",
      message: "Thing is invalid",
      reason: "Invalid",
      code: 422,
      details: { causes },
    });
    server.faults.push({ status: 422, body });
    const error = await failure(client.create(type, thing));
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ status: 422, reason: "Invalid", message: "Thing is invalid", causes });
  });

  it("are distinguished", async () => {
    await client.create(type, thing);
    expect(isAlreadyExists(await failure(client.create(type, thing)))).toBe(true);
    const stale = { ...thing, metadata: { ...ref, resourceVersion: "1" } };
    const conflict = await failure(client.update(type, stale));
    expect([isConflict(conflict), isAlreadyExists(conflict)]).toEqual([true, false]);
    server.faults.push({ status: 403 });
    expect(isForbidden(await failure(client.get(type, ref)))).toBe(true);
    const missing = await failure(client.get(type, { namespace: "ns", name: "z" }));
    server.absent.add(collection);
    const unserved = await failure(client.get(type, ref));
    expect([isKindAbsent(missing), isKindAbsent(unserved), isNotFound(unserved)]).toEqual([false, true, true]);
  });

  it("have the caller's reason when the caller aborts", async () => {
    server.faults.push({ hang: true });
    const abort = new AbortController();
    const reading = failure(client.get(type, ref, { signal: abort.signal }));
    const reason = new Error("no longer wanted");
    setTimeout(() => abort.abort(reason), 10);
    expect(await reading).toBe(reason);
  });

  it("end at the deadline when there is no answer", async () => {
    server.faults.push({ hang: true });
    const error = await failure(client.get(type, ref, { deadlineSeconds: 0.05 }));
    expect(error).toMatchObject({ name: "KubeUnreachable", code: "ETIMEDOUT" });
  });

  it("say that nobody listens", async () => {
    await server[Symbol.asyncDispose]();
    const error = await failure(client.create(type, thing));
    expect(isUnreachable(error)).toBe(true);
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("retries", () => {
  const guarded = { metadata: { uid: "u" }, spec: {} };
  const repeatable: [string, () => Promise<unknown>][] = [
    ["get", () => client.get(type, ref)],
    ["delete", () => client.delete(type, ref)],
    ["update", () => client.update(type, thing)],
    ["apply", () => client.apply(type, thing)],
    ["guarded merge patch", () => client.patchMerge(type, ref, guarded)],
    ["create of what is not stored", () => client.create(type, thing, { repeatable: true })],
  ];
  const unique: [string, () => Promise<unknown>][] = [
    ["create", () => client.create(type, thing)],
    ["merge patch of the status by uid", () => client.patchMerge(type, ref, guarded, { subresource: "status" })],
    ["unguarded merge patch", () => client.patchMerge(type, ref, { spec: {} })],
    ["JSON patch", () => client.patchJSON(type, ref, [])],
  ];

  it.each(repeatable)("repeat a %s after a lost connection, 429 and 503", async (_, call) => {
    server.faults.push({ reset: true }, { status: 429, retryAfter: 0.01 }, { status: 503, retryAfter: 0.01 });
    await failure(call());
    expect(server.received).toHaveLength(4);
  });

  it.each(unique)("repeat a %s that the server has not looked at", async (_, call) => {
    server.faults.push({ status: 429, retryAfter: 0.01 });
    await failure(call());
    expect(server.received).toHaveLength(2);
  });

  it.each(unique)("do not repeat a %s after 503", async (_, call) => {
    server.faults.push({ status: 503, retryAfter: 0.01 });
    expect(await failure(call())).toMatchObject({ status: 503 });
    expect(server.received).toHaveLength(1);
  });

  it.each(unique)("do not repeat a %s", async (_, call) => {
    server.faults.push({ reset: true });
    expect(isUnreachable(await failure(call()))).toBe(true);
    expect(server.received).toHaveLength(1);
  });

  it.each([{ status: 500 }, { status: 503 }, { status: 409 }])(
    "do not repeat after $status without Retry-After",
    async (fault) => {
      server.faults.push(fault);
      expect(await failure(client.get(type, ref))).toMatchObject(fault);
      expect(server.received).toHaveLength(1);
    },
  );

  it("end after five attempts", async () => {
    server.faults.push(...Array.from({ length: 9 }, () => ({ status: 429, retryAfter: 0 })));
    expect(await failure(client.get(type, ref))).toMatchObject({ status: 429 });
    expect(server.received).toHaveLength(5);
  });

  it("end at the deadline with the last failure", async () => {
    server.faults.push({ status: 429, retryAfter: 60 });
    expect(await failure(client.get(type, ref, { deadlineSeconds: 0.5 }))).toMatchObject({
      status: 429,
      retryAfterSeconds: 60,
    });
  });
});
