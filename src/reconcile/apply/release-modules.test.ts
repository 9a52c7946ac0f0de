import { beforeEach, describe, expect, it } from "vitest";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { Scene } from "../testing/scene.ts";

const { resource } = HTTPSEdgeRoute;
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

describe("a module whose deletion is not documented", () => {
  it("is deleted, and read back to confirm it", async () => {
    const object = await given({ saml });
    await change(object, {});
    expect(verbs()).toEqual(["deleteModule route_saml", "getModule route_saml"]);
    expect(remote()).toMatchObject({ saml: null });
  });

  it.each([405, 501])(
    "is disabled when the service answers %i, and the deletion is not tried again at once",
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

  it("is disabled when a 404 means that the operation does not exist", async () => {
    const object = await given({ saml });
    scene.gateway.refuse("deleteModule", 404);
    await end(object);
    expect(verbs()).toEqual(["deleteModule route_saml", "getModule route_saml", "putModule route_saml"]);
    expect(remote()).toMatchObject({ saml: { enabled: false } });
  });

  it("is disabled at once when undocumented operations may not be tried", async () => {
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

describe("the deletion of an object that only sets modules", () => {
  it("removes the modules that it has set, also by another process", async () => {
    const object = await given({ saml, webhookVerification });
    scene.gateway.change(resource, routeId, { oidc: { issuer: "https://theirs.example.org" } });
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null, oidc: expect.anything() });
    expect(verbs()).not.toContain("getModule route_oidc");
  });

  describe("whose process died after it had set them and before the status said so", () => {
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

    it("removes them", async () => {
      await end(object);
      expect(remote()).toMatchObject({ webhook_verification: null });
    });

    it("removes modules that a later spec has dropped", async () => {
      scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml }));
      await end(object);
      expect(remote()).toMatchObject({ webhook_verification: null });
    });
  });

  it("removes the modules of its spec when the status was lost", async () => {
    const object = await given({ webhookVerification });
    scene.cluster.loseStatus(object);
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ webhook_verification: null });
  });

  it("removes nothing when the remote does not exist", async () => {
    const object = await given({ webhookVerification });
    scene.gateway.drop(resource, routeId);
    scene.restart();
    await end(object);
    expect(verbs()).toEqual(["getModule route_webhook_verification"]);
  });

  it("leaves a module that another object of the route sets, which takes it over", async () => {
    const object = await given({ saml, webhookVerification });
    const next = scene.cluster.apply(HTTPSEdgeRoute, "next", specOf({ saml: { ...saml, forceAuthn: true } }));
    await scene.reconcile(next);
    expect(scene.reason(next)).toMatch(/^OwnershipConflict: .*team-a\/route, which has edghts_1/);
    verbs();
    await end(object);
    expect(verbs()).toEqual(["deleteModule route_webhook_verification"]);
    expect(remote()).toMatchObject({ saml: { enabled: true } });
    await scene.reconcile(next);
    expect(verbs()).toEqual(["putModule route_saml"]);
    await end(next);
    expect(remote()).toMatchObject({ saml: null });
  });
});

it("a remote that does not exist is reported as missing", async () => {
  scene.gateway.drop(resource, routeId);
  const object = await scene.apply(HTTPSEdgeRoute, "route", specOf({ webhookVerification }));
  expect(scene.reason(object)).toMatch(/^RemoteMissing: Create the HTTPS edge route edghts_1\//);
  expect(scene.condition(object, "Stalled")?.status).toBe("True");
});

it("modules are read again at the next resync", async () => {
  const object = await given({ webhookVerification });
  expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
  expect(verbs()).toEqual([]);
  scene.gateway.change(resource, routeId, { webhook_verification: { enabled: false, provider: "sns" } });
  await scene.clock.advance(300_000);
  await scene.reconcile(object);
  expect(remote()).toMatchObject({ webhook_verification: { enabled: true } });
});

describe("a module that was set when the process died", () => {
  /** The process dies at its next write of this type. */
  function dies(at: string): void {
    scene.cluster.beforeWrite = (write) => {
      if (write === at && remote()["webhook_verification"]) throw new Outdated("killed");
    };
  }

  /** Deletes the object under a new process. */
  async function endAnew(object: ManagedObject): Promise<void> {
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await end(object);
  }

  it("is removed with the object when an edit had added it", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    dies("writeStatus");
    await scene.settle(object, 2);
    expect(remote()["webhook_verification"]).toMatchObject({ provider: "sns" });
    await endAnew(object);
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null });
  });

  it("is removed with the object when a Secret had to be waited for first", async () => {
    const secretRef = { name: "route", key: "webhook" };
    const spec = specOf({ webhookVerification: { ...webhookVerification, secretRef } });
    const object = await scene.apply(HTTPSEdgeRoute, "route", spec);
    expect(scene.reason(object)).toMatch(/^SecretNotReady/);
    scene.cluster.setSecret("route", { webhook: "w" });
    dies("writeStatus");
    await scene.settle(object, 2);
    await endAnew(object);
    expect(remote()).toMatchObject({ webhook_verification: null });
  });

  it("is removed also when the interrupted request arrives late", async () => {
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

  it("is not waited for when no request was interrupted", async () => {
    const object = await given({ saml });
    scene.restart();
    scene.cluster.delete(object);
    expect(await scene.reconcile(object)).toEqual({});
  });

  it("is not waited for by a process that has run for long enough", async () => {
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
