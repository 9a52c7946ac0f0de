import { beforeEach, describe, expect, it } from "vitest";
import type { FakeRemote } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { Killed } from "../../../test/fakes/reconcile/random-faults.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { Stage } from "../../../test/fakes/reconcile/stage.ts";
import { APIKey } from "../../kinds/api-key.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { kinds } from "../../kinds/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";

// The API page states no status codes of failures, so none of them proves that a create made nothing.

const STATUSES = [
  ...[
    300, 302, 303, 304, 307, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 417, 421,
  ],
  ...[422, 423, 424, 425, 426, 428, 429, 431, 444, 451, 460, 499, 500, 501, 502, 503, 504, 505, 507, 520, 598, 999],
];

const MARKED = kinds.filter(({ location, output }) => location.type === "collection" && !output?.shownOnce);

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const policies = () => scene.gateway.remotesOf(IPPolicy.resource).map(({ id }) => id);
const creates = () => scene.gateway.everyCall.filter(({ verb }) => verb === "create").length;
const lists = () => scene.gateway.takeCalls().filter((call) => call === "list").length;

/** Whatever causes a reconcile: its time has come, or a person asks for it. */
async function ask(object: ManagedObject): Promise<void> {
  scene.cluster.annotateByHand(object, "tunnelgateway.dev/reconcile-requested-at", `${scene.clock.now()}`);
  await scene.reconcile(object);
}

describe.each(MARKED.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  it.each([400, 408, 429])("is made once when its create is carried out and answered with %d", async (status) => {
    const stage = new Stage(kind);
    await stage.prepare();
    const before = stage.scene.gateway.remotesOf(kind.resource).length;
    stage.scene.gateway.answerWrongly("create", status);
    stage.apply();
    await stage.settle("first");
    scene = stage.scene;
    await ask(stage.object);
    await scene.clock.advance(60_000);
    await ask(stage.object);
    expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(before + 1);
    expect(scene.idOf(stage.object)).toBe(scene.gateway.remotesOf(kind.resource).at(-1)?.id);
  });
});

it.each(STATUSES)("a policy whose create is carried out and answered with %d is made once", async (status) => {
  scene.gateway.answerWrongly("create", status);
  const object = await scene.apply(IPPolicy, "office", {});
  // after a 429 nothing is sent for a while
  await scene.clock.advance(status === 429 ? 60_000 : 0);
  await ask(object);
  await scene.clock.advance(60_000);
  await ask(object);
  expect(policies()).toEqual([scene.idOf(object)]);
});

it.each(STATUSES)(
  "a key whose create is carried out and answered with %d is replaced, and not left",
  async (status) => {
    scene.gateway.answerWrongly("create", status);
    scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
    const object = await scene.apply(APIKey, "key", { secretName: "key" });
    await scene.clock.advance(60_000);
    await ask(object);
    await scene.settle(object);
    expect(scene.gateway.remotesOf(APIKey.resource).map(({ id }) => id)).toEqual([scene.idOf(object)]);
  },
);

it.each(STATUSES)("an entry whose create is carried out and answered with %d is there once", async (status) => {
  const subscription = await scene.given(EventSubscription, "all", { sources: [], destinationIds: ["ed_1"] });
  scene.gateway.answerWrongly("createSource", status);
  const object = await scene.apply(EventSource, "one", { subscriptionRef: { name: "all" }, type: "a.v0" });
  await scene.clock.advance(60_000);
  await ask(object);
  await scene.settle(object);
  expect(scene.idOf(object)).toBe(`${scene.idOf(subscription)}/a.v0`);
});

// An InvalidSpec beside its remote would stay for half an hour.
it.each([400, 403, 404, 409, 413, 422])("a remote that was made is found at once after a %d", async (status) => {
  scene.gateway.answerWrongly("create", status);
  const object = await scene.apply(IPPolicy, "office", {});
  expect(scene.idOf(object)).toBe(policies()[0]);
  expect(scene.condition(object, "Ready")?.status).toBe("True");
});

describe("a create that is refused and made nothing", () => {
  it("costs one list more, and its correction none", async () => {
    await scene.given(IPPolicy, "there", {});
    scene.gateway.takeCalls();
    scene.gateway.refuse("create", 400);
    const object = await scene.apply(IPPolicy, "office", { description: "wrong" });
    expect(lists()).toBe(1);
    expect(scene.reason(object)).toMatch(/^InvalidSpec: /);
    await scene.apply(IPPolicy, "office", { description: "right" });
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("is sent again after a pause and one list when the service had too many requests", async () => {
    await scene.given(IPPolicy, "there", {});
    scene.gateway.takeCalls();
    scene.gateway.refuse("create", 429, { retryAfterSeconds: 7 });
    const object = await scene.apply(IPPolicy, "office", {});
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
    await scene.clock.advance(7_000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["list", "create"]);
  });

  it("is not sent again while the search for its remote fails", async () => {
    scene.gateway.refuse("create", 400);
    const object = scene.cluster.apply(IPPolicy, "office", {});
    scene.gateway.beforeCall = ({ verb }) => verb === "create" && scene.gateway.refuse("list", 500);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^ServiceUnavailable: /);
    scene.gateway.beforeCall = () => {};
    scene.gateway.refuse("list", 500);
    await ask(object);
    expect(creates()).toBe(1);
    await ask(object);
    expect(creates()).toBe(2);
  });
});

// A proxy gives up while the service still works on the request.
it.each([302, 408, 499, 502, 504])("a create that is carried out 37 s after a %d is found", async (status) => {
  scene.gateway.refuse("create", status);
  const object = await scene.apply(IPPolicy, "office", {});
  const body = scene.gateway.everyCall.find(({ verb }) => verb === "create")?.body ?? {};
  for (let second = 0; second < 36; second += 1) {
    await scene.clock.advance(1_000);
    await ask(object);
  }
  const { id } = scene.gateway.seed(IPPolicy.resource, body);
  await scene.clock.advance(11_000);
  await ask(object);
  expect(scene.idOf(object)).toBe(id);
  expect(policies()).toEqual([id]);
});

// The next process knows nothing of the answer.
it.each(["list", "writeStatus"])("a process that ends before the %s leaves one remote", async (step) => {
  scene.gateway.answerWrongly("create", 400);
  const object = scene.cluster.apply(IPPolicy, "office", {});
  const kill = (isReached: boolean) => {
    if (isReached) throw new Killed();
  };
  scene.gateway.beforeCall = ({ verb }) => kill(verb === step && creates() > 0);
  scene.cluster.beforeWrite = (write) => kill(write === step);
  await expect(scene.reconcile(object)).rejects.toThrow(Killed);
  scene.gateway.beforeCall = () => {};
  scene.cluster.beforeWrite = () => {};
  scene.restart();
  await ask(object);
  await scene.settle(object);
  expect(policies()).toEqual([scene.idOf(object)]);
});

it("an object that is deleted after a wrong answer leaves nothing", async () => {
  scene.gateway.answerWrongly("create", 429);
  const object = await scene.apply(IPPolicy, "office", {});
  expect(scene.idOf(object)).toBe("");
  await scene.clock.advance(60_000);
  await scene.deleteAndSettle(object);
  expect(policies()).toEqual([]);
  expect(scene.cluster.exists(object)).toBe(false);
});

it("a domain that was made is the object's own, and is deleted with it", async () => {
  scene.gateway.answerWrongly("create", 409);
  const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
  expect(scene.cluster.now(object).status).toMatchObject({ origin: "Created" });
  await scene.deleteAndSettle(object);
  expect(scene.gateway.remotesOf(ReservedDomain.resource)).toEqual([]);
});

describe("a create that is answered with what was there before", () => {
  const answerWith = (change: (made: FakeRemote) => FakeRemote) => {
    const { create } = scene.gateway;
    scene.gateway.create = async (...asked) => change(await create(...asked)) as never;
  };

  it("takes no domain that somebody else has reserved, and says how to adopt it", async () => {
    const theirs = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    await scene.given(ReservedDomain, "other", { domain: "b.example.com" });
    scene.gateway.create = async () => theirs as never;
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
    expect(scene.idOf(object)).toBe("");
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toContainEqual(theirs);
  });

  it("takes no policy of others either, in an answer without metadata", async () => {
    const theirs = scene.gateway.seed(IPPolicy.resource, { description: "theirs" });
    await scene.given(IPPolicy, "other", {});
    scene.gateway.create = async () => ({ id: theirs.id }) as never;
    const object = await scene.apply(IPPolicy, "office", {});
    await scene.settle(object);
    expect(scene.idOf(object)).toBe("");
    expect(scene.reason(object)).toContain(`the answer shows ${theirs.id}, which this create has not made`);
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toContainEqual(theirs);
  });

  it("has its own key if the answer shows the token, which nobody sees again", async () => {
    scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
    answerWith((made) => ({ ...made, metadata: "" }));
    const object = await scene.apply(APIKey, "key", { secretName: "key" });
    await scene.settle(object);
    expect(scene.gateway.remotesOf(APIKey.resource).map(({ id }) => id)).toEqual([scene.idOf(object)]);
    expect(creates()).toBe(1);
  });

  it("has its own remote if only the answer lacks the mark", async () => {
    answerWith(({ metadata: _, ...made }) => ({ ...made, metadata: "" }) as FakeRemote);
    const object = await scene.apply(IPPolicy, "office", {});
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(policies()).toEqual([scene.idOf(object)]);
  });
});
