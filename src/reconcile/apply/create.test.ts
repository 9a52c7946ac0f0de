import { beforeEach, describe, expect, it } from "vitest";
import { DEADLINE_MS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { HTTPResponseBackend } from "../../kinds/http-response-backend.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { intentOf, sendWindowMs } from "../../objects/intent.ts";
import { ownerMarkOf, withOwnerMark } from "../../objects/ownership.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { reconcile } from "../reconcile.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("a create without failures", () => {
  it("takes one POST and two cluster writes, and emits no event", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", { description: "the office" });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
    expect(scene.cluster.writes).toEqual(["annotate", "writeStatus"]);
    expect(scene.cluster.events).toEqual([]);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", reason: "Available" });
  });

  it("sends and writes nothing at the next reconcile", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("sets the owner mark, the finalizer and the intent", async () => {
    const object = await scene.given(IPPolicy, "office", { metadata: '{"team":"a"}' });
    const [remote] = scene.gateway.remotesOf(IPPolicy.resource);
    expect(remote && ownerMarkOf(remote)).toBe(`c1/team-a/office#${intentOf(object)?.create}`);
    expect(JSON.parse(String(remote?.["metadata"]))).toMatchObject({ team: "a" });
    expect(object.metadata.finalizers).toEqual([FINALIZER]);
    expect(object.metadata.annotations).toHaveProperty([annotations.createIntent]);
  });

  it("sends opaque metadata unchanged", async () => {
    await scene.given(IPPolicy, "office", { metadata: "  our text  " });
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ metadata: "  our text  " }]);
  });

  it("records the intent before it sends the request", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = (write) => {
      if (write === "annotate") expect(scene.gateway.calls).toEqual([]);
    };
    await scene.reconcile(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });

  it("is not sent when the object has changed since it was read", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    const context = scene.contextFor(object);
    scene.cluster.apply(IPPolicy, "office", { description: "meanwhile" });
    expect(await reconcile(context, { resyncSeconds: 300 })).toEqual({ stale: true });
    expect(scene.gateway.takeCalls()).toEqual(["list"]);
  });

  it("is sent when recording the intent took as long as it may", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = async (write) => {
      if (write === "annotate") await scene.clock.advance(sendWindowMs(DEADLINE_MS));
    };
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
  });

  it.each<[string, () => unknown]>([
    ["took too long", () => scene.clock.advance(DEADLINE_MS)],
    [
      "took too long while the calendar was set back",
      () => {
        scene.clock.setBy(-DEADLINE_MS);
        return scene.clock.advance(DEADLINE_MS);
      },
    ],
    ["was interrupted by the sleep of the machine", () => scene.clock.setBy(DEADLINE_MS)],
  ])("is not sent when recording the intent %s", async (_, passes) => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = async (write) => {
      if (write === "annotate") await passes();
    };
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    scene.cluster.beforeWrite = () => {};
    await scene.settle(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });
});

describe("a create that was certainly not sent", () => {
  const waits = (result: object) => "requeueAfterSeconds" in result && Number(result.requeueAfterSeconds) > 10;

  it("needs no wait when recording the intent took too long", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = async (write) => {
      if (write === "annotate") await scene.clock.advance(DEADLINE_MS);
    };
    await scene.reconcile(object);
    scene.cluster.beforeWrite = () => {};
    expect(scene.gateway.calls).toEqual([]);
    expect(waits(await scene.reconcile(object))).toBe(false);
    expect(scene.gateway.takeCalls()).toContain("create");
  });

  it("has another intent than the next one, though the clock of the service stands still", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    const intentOfNext = async () => {
      scene.gateway.swallow("create", "unsent");
      await scene.reconcile(object);
      return scene.cluster.now(object).metadata.annotations?.[annotations.createIntent];
    };
    expect(await intentOfNext()).not.toBe(await intentOfNext());
  });

  it("needs no wait when the object came to belong to another account meanwhile", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.gateway.swallow("create", "unsent");
    const { account } = scene;
    let isOther = false;
    const context = Object.defineProperty({ ...scene.contextFor(object) }, "account", {
      get() {
        if (isOther) throw new Outdated("another account");
        return account;
      },
    });
    scene.gateway.beforeCall = ({ verb }) => {
      isOther = verb === "create";
    };
    await reconcile(context, { resyncSeconds: 300 });
    expect(scene.gateway.takeCalls()).toContain("create");
    expect(waits(await scene.reconcile(object))).toBe(false);
    expect(scene.gateway.takeCalls()).toContain("create");
  });
});

it("a field that an interrupted create has sent is cleared when the spec drops it, also where the status was lost", async () => {
  scene.gateway.loseAnswer("create");
  const object = await scene.apply(IPPolicy, "office", { description: "first" });
  scene.cluster.loseStatus(object);
  scene.restart();
  scene.cluster.apply(IPPolicy, "office", {});
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  const [remote, ...more] = scene.gateway.remotesOf(IPPolicy.resource);
  expect(more).toEqual([]);
  expect(remote?.["description"]).toBeFalsy();
});

describe("a field whose default only a create sends", () => {
  const response = () => scene.gateway.remotesOf(HTTPResponseBackend.resource)[0];

  it("has the default in a created remote", async () => {
    await scene.given(HTTPResponseBackend, "sorry");
    expect(response()).toMatchObject({ status_code: 200 });
  });

  it("is left alone in an adopted remote", async () => {
    const { id } = scene.gateway.seed(HTTPResponseBackend.resource, { status_code: 503 });
    const object = await scene.given(HTTPResponseBackend, "sorry", { adopt: { id }, body: "Back soon" });
    expect(response()).toMatchObject({ status_code: 503, body: "Back soon" });
    expect(object.status).toMatchObject({ statusCode: 503 });
  });

  it("returns to the default when the spec no longer sets it", async () => {
    await scene.given(HTTPResponseBackend, "sorry", { statusCode: 503 });
    await scene.apply(HTTPResponseBackend, "sorry", {});
    expect(response()).toMatchObject({ status_code: 200 });
  });
});

describe("a create whose answer is unreadable except for the id", () => {
  const unreadable = { kind: "unreadable", status: 201 } as const;

  it("keeps the id and reads the remote", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.gateway.takeCalls()).toEqual(["create", "get rd_1"]);
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("keeps the id when the remote is gone again, and creates another one after that", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    scene.gateway.beforeCall = ({ verb, id = "" }) => {
      if (verb === "get") scene.gateway.drop(ReservedDomain.resource, id);
    };
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.reason(object)).toMatch(/^Creating: /);
    await scene.settle(object, 5);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toMatchObject([{ id: scene.idOf(object) }]);
  });

  it("keeps the id even when the remote cannot be read", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    scene.gateway.loseAnswer("get", unreadable);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(await scene.reconcile(object)).toEqual({
      requeueAfterSeconds: expect.toSatisfy((seconds: number) => seconds <= 1.2),
    });
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.reason(object)).toMatch(/^UnexpectedResponse: /);
    scene.restart();
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toHaveLength(1);
  });
});

describe("a create that was refused", () => {
  it("reports the service's message, and is not searched for afterwards", async () => {
    scene.gateway.refuse("create", 400, { serviceMessage: "no more policies" });
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 1800 });
    expect(scene.reason(object)).toMatch(/^InvalidSpec: .*no more policies/);
    scene.resetCounts();
    await scene.clock.advance(1_800_000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create"]);
  });

  it.each([400, 409, 422])(
    "names the spec.adopt lines when the name is taken and the service says %i",
    async (status) => {
      scene.gateway.seed(ReservedDomain.resource, { domain: "A.example.com." });
      scene.gateway.refuse("create", status);
      const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
      expect(scene.reason(object)).toMatch(/^AlreadyExists: .*adopt: \{id: rd_1\}/);
      expect(scene.condition(object, "Stalled")?.status).toBe("True");
    },
  );

  it("for lack of a permission says so, also when the name is taken", async () => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    scene.gateway.refuse("create", 403);
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.reason(object)).toMatch(/^Forbidden: /);
  });

  it("takes over what an earlier object of its name has left under this name since the latest list", async () => {
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    const metadata = withOwnerMark(undefined, scene.contextFor(object).owner);
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "create") scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com", metadata });
    };
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.cluster.events).toMatchObject([{ note: "Took over rd_1" }]);
  });

  it.each([400, 409, 422])("checks after a %i whether the name is taken", async (status) => {
    scene.gateway.refuse("create", status);
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.reason(object)).toMatch(/^InvalidSpec: /);
  });

  it("continues once the spec adopts the existing remote", async () => {
    scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
    await scene.apply(ReservedDomain, "web", { domain: "a.example.com", adopt: { id: "rd_1" } });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.idOf(object)).toBe("rd_1");
  });

  it("is tried again after a 405, which says nothing about the spec, and asks no person", async () => {
    scene.gateway.refuse("create", 405);
    const object = await scene.apply(IPPolicy, "office");
    expect(scene.reason(object)).toMatch(/^UnexpectedResponse: /);
    expect(scene.condition(object, "Stalled")).toBeUndefined();
    await scene.settle(object, 3);
    expect(scene.reason(object)).toMatch(/^Available/);
  });

  it("is tried again after the Retry-After of a 429", async () => {
    scene.gateway.refuse("create", 429, { retryAfterSeconds: 7 });
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await scene.reconcile(object)).toEqual({ backoff: true, atLeastSeconds: 7 });
    await scene.clock.advance(7000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create", "list", "create"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});
