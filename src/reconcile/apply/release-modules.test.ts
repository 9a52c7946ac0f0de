import { beforeEach, describe, expect, it } from "vitest";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { Scene } from "../testing/scene.ts";

const { remote: resource } = HTTPSEdgeRoute;
const saml = { enabled: true, idpMetadata: "<EntityDescriptor/>" };
const webhookVerification = { enabled: true, provider: "sns" };

let scene: Scene;
let routeId: string;

const remote = (): Record<string, unknown> => scene.gateway.remote(resource, routeId) ?? {};
const verbs = () => scene.gateway.calls.splice(0).map(({ verb, resource }) => `${verb} ${resource}`);
const specOf = (modules: object) => ({ edgeId: "edghts_1", routeId, ...modules });
const given = (modules: object): Promise<ManagedObject> => scene.given(HTTPSEdgeRoute, "route", specOf(modules));

async function change(object: ManagedObject, modules: object): Promise<void> {
  scene.cluster.apply(HTTPSEdgeRoute, object.metadata.name, specOf(modules));
  await scene.settle(object, 2);
}

async function end(object: ManagedObject): Promise<void> {
  scene.cluster.delete(object);
  await scene.settle(object);
  expect(scene.cluster.exists(object)).toBe(false);
}

function begin(options: ConstructorParameters<typeof Scene>[0] = {}): void {
  scene = new Scene(options);
  routeId = scene.gateway.seed(resource, {}).id;
}

beforeEach(() => begin());

describe("a part whose removal the page does not show", () => {
  it("is removed where the service can, which is seen", async () => {
    const object = await given({ saml });
    await change(object, {});
    expect(verbs()).toEqual(["deleteModule route_saml", "getModule route_saml"]);
    expect(remote()).toMatchObject({ saml: null });
  });

  it.each([405, 501])(
    "is switched off where the service answers %i, which is not tried again at once",
    async (status) => {
      const object = await given({ saml });
      scene.gateway.refuse("deleteModule", status);
      await change(object, {});
      expect(verbs()).toEqual(["deleteModule route_saml", "putModule route_saml"]);
      expect(remote()).toMatchObject({ saml: { enabled: false, idp_metadata: saml.idpMetadata } });
      expect(scene.reason(object)).toMatch(/^Available/);
      await change(object, { saml });
      verbs();
      await scene.confirmLack({ name: HTTPSEdgeRoute.modules["saml"]?.name ?? "" }, "delete");
      await end(object);
      expect(verbs()).toEqual(["getModule route_saml", "putModule route_saml"]);
    },
  );

  it("is removed when the service can do it again", async () => {
    const object = await given({ saml });
    scene.gateway.refuse("deleteModule", 405);
    await change(object, {});
    await change(object, { saml });
    await scene.clock.advance(3_600_000);
    await end(object);
    expect(remote()).toMatchObject({ saml: null });
  });

  it("is switched off where 404 says that there is no such operation", async () => {
    const object = await given({ saml });
    scene.gateway.refuse("deleteModule", 404);
    await end(object);
    expect(verbs()).toEqual(["deleteModule route_saml", "getModule route_saml", "putModule route_saml"]);
    expect(remote()).toMatchObject({ saml: { enabled: false } });
  });

  it("is switched off without a try where nothing is to be tried, and left alone where it is off", async () => {
    begin({ undocumented: false });
    const object = await given({ saml });
    await change(object, {});
    expect(verbs()).toEqual(["putModule route_saml"]);
    await change(object, { saml: { ...saml, enabled: false } });
    verbs();
    await end(object);
    expect(verbs()).toEqual([]);
  });
});

describe("the end of an object that only sets parts", () => {
  it("takes out what it has set, also when the process is another", async () => {
    const object = await given({ saml, webhookVerification });
    scene.gateway.change(resource, routeId, { oidc: { issuer: "https://theirs.example.org" } });
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null, oidc: expect.anything() });
    expect(verbs()).not.toContain("getModule route_oidc");
  });

  describe("and whose process ended when it had set them, and had not said so yet", () => {
    let object: ManagedObject;

    beforeEach(async () => {
      object = scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ webhookVerification }));
      scene.cluster.beforeWrite = (write) => {
        if (write === "writeStatus" && remote()["webhook_verification"]) throw new Outdated("killed");
      };
      await scene.reconcile(object);
      scene.cluster.beforeWrite = () => {};
      expect(remote()).toMatchObject({ webhook_verification: expect.anything() });
      expect(scene.cluster.now(object).status?.id).toBeUndefined();
      scene.restart();
    });

    it("takes them out", async () => {
      await end(object);
      expect(remote()).toMatchObject({ webhook_verification: null });
    });

    it("takes out what the spec has no more when its end comes", async () => {
      scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml }));
      await end(object);
      expect(remote()).toMatchObject({ webhook_verification: null });
    });
  });

  it("takes out what its spec names where the status was lost", async () => {
    const object = await given({ webhookVerification });
    scene.cluster.loseStatus(object);
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ webhook_verification: null });
  });

  it("has nothing to take out of what is gone", async () => {
    const object = await given({ webhookVerification });
    scene.gateway.drop(resource, routeId);
    scene.restart();
    await end(object);
    expect(verbs()).toEqual(["getModule route_webhook_verification"]);
  });

  it("leaves it to another object that was kept from it", async () => {
    const object = await given({ webhookVerification });
    const rival = scene.cluster.apply(HTTPSEdgeRoute, "rival", specOf({ saml }));
    await scene.reconcile(rival);
    await scene.reconcile(object);
    for (const one of [rival, object]) expect(scene.reason(one)).toMatch(/^OwnershipConflict/);
    verbs();
    await end(object);
    await scene.reconcile(rival);
    expect(verbs()).toEqual([
      "deleteModule route_webhook_verification",
      "getModule route_saml",
      "putModule route_saml",
    ]);
  });
});

it("what does not exist is missed, with what the service says about it kept", async () => {
  scene.gateway.drop(resource, routeId);
  const object = scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ webhookVerification }));
  await scene.reconcile(object);
  expect(scene.reason(object)).toMatch(/^RemoteMissing: Create the HTTPS edge route edghts_1\//);
  expect(scene.condition(object, "Stalled")?.status).toBe("True");
});

it("an answer is believed until the next resync, when the object is due", async () => {
  const object = await given({ webhookVerification });
  expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
  expect(verbs()).toEqual([]);
  scene.gateway.change(resource, routeId, { webhook_verification: { enabled: false, provider: "sns" } });
  await scene.clock.advance(300_000);
  await scene.reconcile(object);
  expect(remote()).toMatchObject({ webhook_verification: { enabled: true } });
});

describe("what was put into a route when the process ended", () => {
  /** The process ends at its next write of this sort. */
  function dies(at: string): void {
    scene.cluster.beforeWrite = (write) => {
      if (write === at && remote()["webhook_verification"]) throw new Outdated("killed");
    };
  }

  /** Another process finds that the object is being deleted. */
  async function endAnew(object: ManagedObject): Promise<void> {
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await end(object);
  }

  it("goes with the object, where an edit had added it", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    dies("writeStatus");
    await scene.settle(object, 2);
    expect(remote()["webhook_verification"]).toMatchObject({ provider: "sns" });
    await endAnew(object);
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null });
  });

  it("goes with the object, where a Secret had to be waited for first", async () => {
    const secretRef = { name: "route", key: "webhook" };
    const spec = specOf({ webhookVerification: { ...webhookVerification, secretRef } });
    const object = scene.cluster.apply(HTTPSEdgeRoute, "route", spec);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^SecretNotReady/);
    scene.cluster.setSecret("route", { webhook: "w" });
    dies("writeStatus");
    await scene.settle(object, 2);
    await endAnew(object);
    expect(remote()).toMatchObject({ webhook_verification: null });
  });

  it("goes also when it arrives while the next process is at work", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    scene.gateway.swallow("putModule");
    await scene.reconcile(object);
    scene.restart();
    scene.cluster.delete(object);
    const result = await scene.reconcile(object);
    expect(result).toMatchObject({ requeueAfterSeconds: expect.any(Number) });
    scene.gateway.change(resource, routeId, { webhook_verification: { enabled: true, provider: "sns" } });
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null });
  });

  it("is not waited for where nothing was interrupted", async () => {
    const object = await given({ saml });
    scene.restart();
    scene.cluster.delete(object);
    expect(await scene.reconcile(object)).toEqual({});
  });

  it("is not waited for by a process that has been there for long", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    await scene.reconcile(object);
    dies("writeStatus");
    await scene.reconcile(object);
    scene.cluster.beforeWrite = () => {};
    await scene.clock.advance(60_000);
    scene.cluster.delete(object);
    expect(await scene.reconcile(object)).toEqual({});
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null });
  });
});
