import { beforeAll, describe, expect, test } from "vitest";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ process: true, env: { REQUEST_TIMEOUT: "2s" } });

const source = (name: string, subscription: string, type: string, more: object = {}): KubeJSON =>
  manifest("EventSource", name, { subscriptionRef: { name: subscription }, type, ...more });

const subscription = (name: string, types: readonly string[] = [], more: object = {}): KubeJSON =>
  manifest("EventSubscription", name, { sources: types.map((type) => ({ type })), ...more });

const idOf = async (name: string): Promise<string> => (await world.get("EventSubscription", name)).status.id;

/** The types that a subscription has in the account. */
const typesOf = (id: string): string[] =>
  (world.simulator.control.get(id) as { sources: { type: string }[] }).sources.map(({ type }) => type).sort();

/** Somebody else has it so. */
const setTypes = (id: string, types: readonly string[]) =>
  world.simulator.control.patch(id, { sources: types.map((type) => ({ type })) });

async function given(name: string, types: readonly string[] = []): Promise<string> {
  await world.kube.apply(subscription(name, types));
  return (await world.ready("EventSubscription", name)).status.id;
}

async function ready(...objects: KubeJSON[]): Promise<KubeJSON[]> {
  await world.kube.apply(...objects);
  return world.allReady(objects);
}

async function gone(kind: string, name: string): Promise<void> {
  await world.kube.delete(kind, name);
  await world.gone(kind, name);
}

const sentAbout = (id: string, after = 0): string[] =>
  world.simulator.control
    .requests({ after })
    .filter(({ method, path }) => method !== "GET" && path.includes(id))
    .map(({ method, path, status }) => `${method} ${path.slice(path.indexOf(id) + id.length)} ${status}`);

const lastSeq = (): number => world.simulator.control.requests().at(-1)?.seq ?? 0;

describe("a source of its own", () => {
  test("costs one request and two writes to create, none while settled, and one of each to delete", async () => {
    const id = await given("alone", ["a.v0"]);
    // the list that the first look of a process needs
    await world.reconcileNow(subscription("alone", ["a.v0"]));
    const before = await world.quiet();
    const [object] = await ready(source("alone", "alone", "b.v0"));
    expect(object.status).toMatchObject({ id: `${id}/b.v0`, uri: expect.stringContaining(`${id}/sources/b.v0`) });
    expect(object.status).toHaveProperty("origin", "Created");
    const made = await world.quiet();
    expect(made).toEqual({ requests: before.requests + 1, writes: before.writes + 2 });
    expect(typesOf(id)).toEqual(["a.v0", "b.v0"]);

    await world.reconcileNow(source("alone", "alone", "b.v0"));
    const looked = await world.quiet();
    expect(looked.requests).toBe(made.requests + 1);

    await gone("EventSource", "alone");
    const left = await world.quiet();
    expect(left).toEqual({ requests: looked.requests + 1, writes: looked.writes + 1 });
    expect(typesOf(id)).toEqual(["a.v0"]);
  });

  test("can be on a subscription without an object", async () => {
    const { id } = world.simulator.control.insert("event_subscriptions", { sources: [{ type: "x.v0" }] });
    const object = manifest("EventSource", "foreign", { subscriptionRef: { id }, type: "b.v0" });
    await ready(object);
    expect(typesOf(String(id))).toEqual(["b.v0", "x.v0"]);
    await gone("EventSource", "foreign");
    expect(typesOf(String(id))).toEqual(["x.v0"]);
    world.simulator.control.remove(String(id));
  });

  test("waits for a subscription that is not in the account", async () => {
    const object = manifest("EventSource", "early", { subscriptionRef: { id: "esb_nowhere" }, type: "b.v0" });
    await world.kube.apply(object);
    await world.condition("EventSource", "early", { type: "Ready", status: "False", reason: "ReferenceNotReady" });
    expect(sentAbout("esb_nowhere")).toEqual([]);
    await gone("EventSource", "early");
  });

  test("is added again when another client removes it, whichever reconcile reads the subscription", async () => {
    const id = await given("taken", ["a.v0"]);
    await ready(source("taken", "taken", "b.v0"));
    setTypes(id, ["a.v0"]);
    const after = lastSeq();
    await world.reconcileNow(subscription("taken", ["a.v0"]));
    await world.until("the source is back", async () => typesOf(id).includes("b.v0"));
    await world.quiet();
    expect(sentAbout(id, after)).toEqual(["POST /sources 201"]);
  });

  test("is only reported as drift when the spec says so", async () => {
    const id = await given("reported");
    const object = source("reported", "reported", "b.v0", { driftPolicy: "Report" });
    await ready(object);
    setTypes(id, []);
    await world.kube.annotate("EventSource", "reported", { "tunnelgateway.dev/reconcile-requested-at": "now" });
    await world.condition("EventSource", "reported", { type: "Ready", status: "False", reason: "RemoteMissing" });
    expect(typesOf(id)).toEqual([]);
    await gone("EventSource", "reported");
  });

  test("is created again below a recreated subscription", async () => {
    const id = await given("anew");
    await ready(source("anew", "anew", "b.v0"));
    world.simulator.control.remove(id);
    await world.reconcileNow(subscription("anew"));
    const next = await idOf("anew");
    expect(next).not.toBe(id);
    await world.until("the source has moved", async () => {
      const object = await world.ready("EventSource", "anew");
      return object.status.id === `${next}/b.v0`;
    });
    expect(typesOf(next)).toEqual(["b.v0"]);
  });
});

describe("a source that others want as well", () => {
  test("stays when it was there before", async () => {
    const id = await given("before", []);
    setTypes(id, ["b.v0"]);
    const after = lastSeq();
    const [object] = await ready(source("before", "before", "b.v0"));
    expect(object.status).toMatchObject({ id: `${id}/b.v0`, origin: "Adopted" });
    await world.operator.stop("SIGKILL");
    await world.startOperator();
    await world.reconcileNow(source("before", "before", "b.v0"));
    await gone("EventSource", "before");
    await world.quiet();
    expect(typesOf(id)).toEqual(["b.v0"]);
    expect(sentAbout(id, after).filter((one) => !one.endsWith("409"))).toEqual([]);
  });

  test("is deleted with the last of its objects", async () => {
    const id = await given("shared");
    await ready(source("shared-one", "shared", "b.v0"), source("shared-two", "shared", "b.v0"));
    expect(typesOf(id)).toEqual(["b.v0"]);
    await gone("EventSource", "shared-one");
    expect(typesOf(id)).toEqual(["b.v0"]);
    await gone("EventSource", "shared-two");
    expect(typesOf(id)).toEqual([]);
  });

  test("stays with the last of the objects when it was there before the first", async () => {
    const id = await given("kept");
    setTypes(id, ["b.v0"]);
    await ready(source("kept-one", "kept", "b.v0"));
    await ready(source("kept-two", "kept", "b.v0"));
    await gone("EventSource", "kept-one");
    await gone("EventSource", "kept-two");
    expect(typesOf(id)).toEqual(["b.v0"]);
  });

  test("stays while the subscription lists it, and is deleted when no object wants it", async () => {
    const id = await given("listed", ["a.v0", "b.v0"]);
    const [object] = await ready(source("listed", "listed", "b.v0"));
    expect(object.status).toHaveProperty("origin", "Created");
    // the subscription lets go of it, and the object keeps it
    await ready(subscription("listed", ["a.v0"]));
    await world.quiet();
    expect(typesOf(id)).toEqual(["a.v0", "b.v0"]);
    // the other way round
    await ready(subscription("listed", ["a.v0", "b.v0"]));
    await gone("EventSource", "listed");
    expect(typesOf(id)).toEqual(["a.v0", "b.v0"]);
    await ready(subscription("listed", ["a.v0"]));
    expect(typesOf(id)).toEqual(["a.v0"]);
  });

  test("stays in the account when the spec says so", async () => {
    const id = await given("retained");
    await ready(source("retained", "retained", "b.v0", { deletionPolicy: "Retain" }));
    await gone("EventSource", "retained");
    expect(typesOf(id)).toEqual(["b.v0"]);
  });
});

describe("a subscription", () => {
  test("leaves the sources of others as they are, whatever changes in its spec", async () => {
    const id = await given("peace", ["a.v0", "c.v0"]);
    await ready(source("peace", "peace", "b.v0"));
    setTypes(id, [...typesOf(id), "x.v0"]);
    await world.reconcileNow(subscription("peace", ["a.v0", "c.v0"]), source("peace", "peace", "b.v0"));
    await world.quiet();
    expect(typesOf(id)).toEqual(["a.v0", "b.v0", "c.v0", "x.v0"]);
    // not known here yet, and kept all the same
    setTypes(id, [...typesOf(id), "y.v0"]);
    await ready(subscription("peace", ["a.v0", "d.v0"], { description: "new" }));
    expect(typesOf(id)).toEqual(["a.v0", "b.v0", "d.v0", "x.v0", "y.v0"]);
    await ready(manifest("EventSubscription", "peace", { description: "new" }));
    expect(typesOf(id)).toEqual(["b.v0", "x.v0", "y.v0"]);
    await gone("EventSource", "peace");
    expect(typesOf(id)).toEqual(["x.v0", "y.v0"]);
  });

  test.each([
    ["before", ["EventSubscription", "EventSource"]],
    ["after", ["EventSource", "EventSubscription"]],
  ])("is deleted %s its sources, and leaves nothing", async (when, order) => {
    const id = await given(`goes-${when}`, ["a.v0"]);
    const names = ["b", "c"].map((letter) => `goes-${when}-${letter}`);
    await ready(...names.map((name) => source(name, `goes-${when}`, `${name.at(-1)}.v0`)));
    for (const kind of order) {
      await Promise.all(
        (kind === "EventSource" ? names : [`goes-${when}`]).map((name) => world.kube.delete(kind, name)),
      );
    }
    await Promise.all(names.map((name) => world.gone("EventSource", name)));
    await world.gone("EventSubscription", `goes-${when}`);
    expect(world.simulator.control.get(id)).toBeNull();
  });

  test("that is gone from the account takes its sources with it", async () => {
    const id = await given("lost");
    await ready(source("lost", "lost", "b.v0"));
    world.simulator.control.remove(id);
    await gone("EventSource", "lost");
    await gone("EventSubscription", "lost");
  });
});

describe("a create whose answer is lost", () => {
  const post = (action: object) =>
    world.simulator.control.fault({ method: "POST", path: "^/event_subscriptions/[^/]+/sources$", action } as never);

  let id = "";
  beforeAll(async () => {
    id = await given("unsure");
  });

  test.each([
    ["it was done", { cut: "after" }, ["POST /sources 201"]],
    ["it was not done", { cut: "before" }, ["POST /sources null", "POST /sources 201"]],
    ["it takes for ever, although it was done", { hang: "after" }, ["POST /sources 201"]],
  ])("is searched for: %s", async (what, action, sent) => {
    const name = `unsure-${what.length}`;
    const after = lastSeq();
    post(action);
    const [object] = await ready(source(name, "unsure", `u${what.length}.v0`));
    expect(object.status).toHaveProperty("origin", "Created");
    await world.quiet();
    expect(sentAbout(id, after)).toEqual(sent);
    await gone("EventSource", name);
    expect(typesOf(id)).toEqual([]);
  });

  test.each(["before", "after"] as const)("by a process that was killed is searched for (%s)", async (when) => {
    const name = `killed-${when}`;
    const after = lastSeq();
    post(when === "after" ? { hang: "after" } : { hang: true });
    await world.kube.apply(source(name, "unsure", `${when}.v0`));
    await world.until("the request is under way", async () => sentAbout(id, after).length > 0);
    await world.operator.stop("SIGKILL");
    await world.startOperator();
    const object = await world.ready("EventSource", name);
    expect(object.status).toHaveProperty("origin", "Created");
    expect(sentAbout(id, after).filter((one) => one.endsWith("201"))).toHaveLength(1);
    await gone("EventSource", name);
    expect(typesOf(id)).toEqual([]);
  });

  test("is undone when its object is deleted before the outcome is known", async () => {
    const after = lastSeq();
    post({ hang: "after" });
    await world.kube.apply(source("unknown", "unsure", "unknown.v0"));
    await world.until("the request is under way", async () => sentAbout(id, after).length > 0);
    await world.operator.stop("SIGKILL");
    await world.kube.delete("EventSource", "unknown");
    await world.startOperator();
    await world.gone("EventSource", "unknown");
    expect(typesOf(id)).toEqual([]);
  });
});
