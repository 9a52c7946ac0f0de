import { beforeEach, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import type { KubeClient } from "./client.ts";
import { isFailedTest } from "./errors.ts";
import { removeFinalizer } from "./finalizer.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing" };
const collection = "example.dev/v1/things";
const OURS = "example.dev/ours";

let server: FakeApiServer;
let client: KubeClient;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
});

const create = (finalizers: string[]): KubeObject =>
  server.storage.create(collection, {
    apiVersion: "example.dev/v1",
    kind: "Thing",
    metadata: { namespace: "n", name: "a", finalizers },
  });

const setFinalizers = (finalizers: string[]) =>
  server.storage.update(collection, "n/a", (now) => ({ ...now, metadata: { ...now.metadata, finalizers } }));

const finalizers = () => server.storage.get(collection, "n/a")?.metadata.finalizers;

const remove = (object: KubeObject) => removeFinalizer(client, type, object, OURS);

it("leaves the finalizers of others", async () => {
  const written = await remove(create(["a", OURS, "b"]));
  expect(written?.metadata.finalizers).toEqual(["a", "b"]);
  expect(finalizers()).toEqual(["a", "b"]);
});

it("lets an object go that only this finalizer held", async () => {
  const object = create([OURS]);
  server.storage.delete(collection, "n/a");
  expect((await remove(object))?.metadata.finalizers).toEqual([]);
  expect(server.storage.get(collection, "n/a")).toBeUndefined();
});

it("does not touch an object that has taken the name since", async () => {
  const object = create([OURS]);
  setFinalizers([]);
  server.storage.delete(collection, "n/a");
  create([OURS]);
  await expect(remove(object)).rejects.toSatisfy(isFailedTest);
  expect(finalizers()).toEqual([OURS]);
});

it("removes no other finalizer when their order has changed since", async () => {
  const object = create([OURS, "b"]);
  setFinalizers(["b", OURS]);
  await expect(remove(object)).rejects.toSatisfy(isFailedTest);
  expect(finalizers()).toEqual(["b", OURS]);
});

it("is done when the object is gone, and sends nothing when the object does not have the finalizer", async () => {
  const gone = create([OURS]);
  setFinalizers([]);
  server.storage.delete(collection, "n/a");
  expect(await remove(gone)).toBeUndefined();
  const sent = server.received.length;
  expect(await remove(create(["b"]))).toBeUndefined();
  expect(server.received).toHaveLength(sent);
});
