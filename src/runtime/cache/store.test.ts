import { beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../object.ts";
import { type Change, type Feed, Store } from "./store.ts";

let store: Store;
let feed: Feed;
let told: string[];
let errors: unknown[];

const object = (
  name: string,
  revision: number,
  { uid = `uid-${name}`, spec = {}, namespace = "ns" } = {},
): KubeObject => ({
  apiVersion: "example.dev/v1",
  kind: "Thing",
  metadata: { name, namespace, uid, resourceVersion: String(revision) },
  spec,
});

const tell = ({ type, object: { metadata } }: Change) =>
  told.push(`${type} ${metadata.name}@${metadata.resourceVersion}`);

beforeEach(() => {
  told = [];
  errors = [];
  store = new Store({
    indexers: {
      color: ({ spec }) => [(spec as { color?: string }).color ?? "none"],
      broken: ({ metadata }) => {
        if (metadata.name === "b") throw new Error("indexer");
        return [metadata.name];
      },
    },
    onChange: tell,
    onError: (error) => errors.push(error),
  });
  feed = store.feed();
  list(10, object("a", 5));
  told.length = 0;
});

function list(revision: number, ...objects: KubeObject[]): void {
  feed.beginList();
  feed.replace(objects, String(revision));
}

const revisionOf = (key: string) => store.get(key)?.metadata.resourceVersion;

it("knows the newest resourceVersion that a feed has delivered, own writes aside", () => {
  expect(store.revision).toBe(10n);
  feed.upsert(object("b", 12));
  feed.advance("15");
  store.put(object("a", 20));
  expect(store.revision).toBe(15n);
  list(14);
  expect(store.revision).toBe(14n);
});

describe("objects in the store", () => {
  it("are deeply frozen", () => {
    feed.upsert(object("a", 11, { spec: { color: "red" } as object }));
    expect(() => Object.assign(store.get("ns/a")?.["spec"] as object, { color: "blue" })).toThrow(TypeError);
    expect(Object.isFrozen(store.get("ns/a")?.metadata)).toBe(true);
  });

  it("do not have what only the API server and kubectl need", () => {
    const annotations = { mine: "1", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    const { metadata, ...rest } = object("a", 11);
    feed.upsert({ ...rest, metadata: { ...metadata, annotations, managedFields: [{}] } as never });
    expect(store.get("ns/a")?.metadata).toEqual({ ...metadata, annotations: { mine: "1" } });
  });

  it("are found by namespace and by index, in their newest state only", () => {
    feed.upsert(object("a", 11, { spec: { color: "red" } as object }));
    feed.upsert(object("c", 12, { namespace: "other", spec: { color: "red" } as object }));
    expect(store.by("color", "red").map(({ metadata }) => metadata.name)).toEqual(["a", "c"]);
    expect(store.list("other")).toHaveLength(1);
    feed.upsert(object("a", 13));
    feed.remove(object("c", 14, { namespace: "other" }));
    expect(store.by("color", "red")).toEqual([]);
    expect(store.by("color", "none")).toHaveLength(1);
    expect(store.list("other")).toEqual([]);
    expect(() => store.by("colour", "red")).toThrow("no index named colour");
  });

  it("stay when an indexer throws", () => {
    feed.upsert(object("b", 11));
    expect(store.get("ns/b")).toBeDefined();
    expect(store.by("broken", "b")).toEqual([]);
    expect(errors).toHaveLength(1);
  });
});

describe("a watch event", () => {
  it("is ignored when the store has a newer state", () => {
    feed.upsert(object("a", 20));
    feed.upsert(object("a", 15));
    feed.upsert(object("a", 20));
    feed.remove(object("a", 15));
    expect(told).toEqual(["updated a@20"]);
  });

  it("compares resourceVersions as numbers of any length", () => {
    feed.upsert(object("a", 99));
    feed.upsert({
      ...object("a", 0),
      metadata: { name: "a", namespace: "ns", uid: "uid-a", resourceVersion: "90071992547409931" },
    });
    feed.upsert({
      ...object("a", 0),
      metadata: { name: "a", namespace: "ns", uid: "uid-a", resourceVersion: "90071992547409930" },
    });
    expect(revisionOf("ns/a")).toBe("90071992547409931");
  });

  it("about another uid is a deletion and an addition", () => {
    feed.upsert(object("a", 11, { uid: "second" }));
    expect(told).toEqual(["deleted a@5", "added a@11"]);
    feed.remove(object("a", 12, { uid: "uid-a" }));
    expect(revisionOf("ns/a")).toBe("11");
  });
});

describe("Store.put", () => {
  it("makes an own write readable at once; its watch event then is no change", () => {
    expect(store.put(object("a", 12))).toBe(true);
    expect(revisionOf("ns/a")).toBe("12");
    feed.upsert(object("a", 11));
    feed.upsert(object("a", 12));
    feed.upsert(object("a", 13));
    expect(told).toEqual(["updated a@12", "updated a@13"]);
  });

  it("is refused when the watch was faster", () => {
    feed.upsert(object("a", 13));
    expect(store.put(object("a", 12))).toBe(false);
  });

  it("does not bring back an object that has been deleted since", () => {
    feed.remove(object("a", 13));
    expect(store.put(object("a", 12))).toBe(false);
    expect(store.get("ns/a")).toBeUndefined();
  });

  it("does not put an object in the place of its successor", () => {
    feed.upsert(object("a", 14, { uid: "second" }));
    expect(store.put(object("a", 12))).toBe(false);
    expect(store.get("ns/a")?.metadata.uid).toBe("second");
  });

  it("adds a created object before its watch event", () => {
    expect(store.put(object("new", 12))).toBe(true);
    feed.upsert(object("new", 12));
    expect(told).toEqual(["added new@12"]);
  });

  it("is kept by an older list, and replaced by a newer one", () => {
    store.put(object("a", 12));
    store.put(object("new", 13));
    list(11, object("a", 5));
    expect([revisionOf("ns/a"), revisionOf("ns/new")]).toEqual(["12", "13"]);
    list(14, object("a", 12));
    expect(told).toEqual(["updated a@12", "added new@13", "deleted new@13"]);
  });
});

describe("Store.forget", () => {
  it("removes the object; later watch events of that uid are ignored", () => {
    store.forget("ns/a", "uid-a");
    feed.upsert(object("a", 11));
    expect(store.put(object("a", 11))).toBe(false);
    feed.remove(object("a", 12));
    expect(told).toEqual(["deleted a@5"]);
  });

  it("does not touch a successor of the same name", () => {
    store.forget("ns/a", "another");
    expect(told).toEqual([]);
    store.forget("ns/a", "uid-a");
    feed.upsert(object("a", 13, { uid: "second" }));
    expect(told).toEqual(["deleted a@5", "added a@13"]);
  });

  it("holds against a list that was requested before, but not against a later one", () => {
    feed.beginList();
    store.forget("ns/a", "uid-a");
    feed.replace([object("a", 5)], "11");
    expect(store.get("ns/a")).toBeUndefined();
    list(12, object("a", 5));
    expect(revisionOf("ns/a")).toBe("5");
  });
});

describe("a list", () => {
  it("reports what appeared, changed and vanished, and nothing else", () => {
    list(20, object("a", 5), object("b", 15));
    list(30, object("a", 25));
    expect(told).toEqual(["added b@15", "updated a@25", "deleted b@15"]);
  });

  it("that is older than the store replaces everything: the server was restored", () => {
    feed.upsert(object("a", 50));
    feed.upsert(object("b", 60));
    list(40, object("a", 30));
    feed.upsert(object("a", 41));
    expect(told.slice(2)).toEqual(["updated a@30", "deleted b@60", "updated a@41"]);
  });

  it("of one namespace leaves the others alone", () => {
    const one = new Store({ onChange: tell });
    const [first, second] = [one.feed("one"), one.feed("two")];
    first.replace([object("a", 1, { namespace: "one" })], "10");
    second.replace([object("b", 2, { namespace: "two" })], "5");
    first.replace([], "11");
    expect(told).toEqual(["added a@1", "added b@2", "deleted a@1"]);
    // the second namespace is known only up to 5
    expect(one.put(object("c", 7, { namespace: "two" }))).toBe(true);
    expect(one.put(object("c", 7, { namespace: "one" }))).toBe(false);
  });
});
