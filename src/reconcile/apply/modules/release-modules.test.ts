import { beforeEach, describe, expect, it } from "vitest";
import { RESYNC_SECONDS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import type { Module } from "../../../gateway/resource.ts";
import { HTTPSEdgeRoute } from "../../../kinds/https-edge-route.ts";
import type { ManagedObject } from "../../../objects/object.ts";
import { Outdated } from "../../../objects/reconcile-error.ts";
import { reconcile } from "../../reconcile.ts";

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
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
}

function begin(options: ConstructorParameters<typeof Scene>[0] = {}): void {
  scene = new Scene(options);
  routeId = scene.gateway.seed(resource, {}).id;
}

beforeEach(() => begin());

it("a module is removed with its object, although another object observes it", async () => {
  const object = await given({ saml });
  scene.cluster.apply(HTTPSEdgeRoute, "watcher", { ...specOf({ saml }), managementPolicy: "ObserveOnly" });
  await end(object);
  expect(remote()).toMatchObject({ saml: null });
});

describe("a module whose deletion is not documented", () => {
  it("is deleted with one request", async () => {
    const object = await given({ saml });
    await change(object, {});
    expect(verbs()).toEqual(["deleteModule route_saml"]);
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
      await scene.confirmLack(HTTPSEdgeRoute.modules["saml"] as Module, "delete");
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

  it("is removed for all objects as soon as the service has done it for one", async () => {
    const object = await given({ saml });
    const otherRoute = scene.gateway.seed(resource, {}).id;
    const spec = { edgeId: "edghts_1", routeId: otherRoute, saml };
    const other = await scene.given(HTTPSEdgeRoute, "other", spec);
    scene.gateway.refuse("deleteModule", 405);
    await change(object, {});
    await change(object, { saml });
    await scene.clock.advance(3_600_000);
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({}));
    scene.cluster.apply(HTTPSEdgeRoute, "other", { ...spec, saml: undefined });
    for (const one of [object, other]) await scene.reconcile(one);
    expect(scene.gateway.remote(resource, otherRoute)).toMatchObject({ saml: null });
  });

  it("is disabled without another attempt shortly after the service has refused the deletion for another route", async () => {
    const otherRoute = scene.gateway.seed(resource, {}).id;
    await given({ saml });
    await scene.given(HTTPSEdgeRoute, "other", { edgeId: "edghts_1", routeId: otherRoute, saml });
    scene.gateway.refuse("deleteModule", 405);
    await scene.apply(HTTPSEdgeRoute, "route", specOf({}));
    verbs();
    await scene.apply(HTTPSEdgeRoute, "other", { edgeId: "edghts_1", routeId: otherRoute });
    expect(verbs()).toEqual(["putModule route_saml"]);
    expect(scene.gateway.remote(resource, otherRoute)).toMatchObject({ saml: { enabled: false } });
  });

  it("is not set again, switched off, when a 404 means that somebody else has removed it", async () => {
    const object = await given({ saml });
    scene.gateway.change(resource, routeId, { saml: null });
    scene.gateway.refuse("deleteModule", 404);
    await end(object);
    expect(verbs()).toEqual(["deleteModule route_saml", "getModule route_saml"]);
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

describe.each([
  ["is left out", {}],
  ["is switched off", { saml: { ...saml, enabled: false } }],
])("a module that %s while another one is set", (_, next) => {
  const signsOn = (enabled: boolean) => {
    const switched = { webhook_verification: { ...webhookVerification, enabled } };
    scene.gateway.normalise = (one) => (one["webhook_verification"] ? { ...one, ...switched } : one);
  };

  it("stays while the service answers that the other one is off", async () => {
    const object = await given({ saml });
    signsOn(false);
    await change(object, { ...next, webhookVerification });
    expect(scene.reason(object)).toMatch(/^Updating: .* other values for .*spec.webhookVerification/);
    expect(remote()).toMatchObject({ saml: { enabled: true } });
    signsOn(true);
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(remote()).toMatchObject({ webhook_verification: { enabled: true } });
    expect(remote()["saml"]).not.toMatchObject({ enabled: true });
  });

  it("stays, and that is told, when the service never switches the other one on", async () => {
    const object = await given({ saml });
    signsOn(false);
    await change(object, { ...next, webhookVerification });
    await scene.settle(object, 6);
    expect(scene.condition(object, "Drifted")).toMatchObject({ status: "True", reason: "RemoteNormalises" });
    expect(remote()).toMatchObject({ saml: { enabled: true } });
    verbs();
    await scene.settle(object, 2);
    expect(verbs().filter((verb) => !verb.startsWith("getModule"))).toEqual([]);
  });

  it("goes after all when the other one is on by then, or with its object", async () => {
    for (const end of ["on", "deleted"]) {
      begin();
      const object = await given({ saml });
      signsOn(false);
      await change(object, { ...next, webhookVerification });
      await scene.settle(object, 6);
      signsOn(true);
      if (end === "deleted") await scene.deleteAndSettle(object);
      else {
        scene.gateway.change(resource, routeId, { webhook_verification: webhookVerification });
        await scene.settle(object, 4);
        expect(scene.reason(object)).toMatch(/^Available/);
        expect(scene.condition(object, "Drifted")).toBeUndefined();
      }
      expect(remote()["saml"]).not.toMatchObject({ enabled: true });
    }
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

  describe("whose process died after it had set them and before the status was written", () => {
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

  it.each([
    ["leaves the modules of its spec", {}, expect.anything()],
    ["removes the modules of its spec, where it says so,", { deletionPolicy: "Delete" }, null],
  ])("%s when the status was lost", async (_, more, left) => {
    const object = await given({ webhookVerification, ...more });
    scene.cluster.loseStatus(object);
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ webhook_verification: left });
  });

  it("removes nothing when the remote does not exist", async () => {
    const object = await given({ webhookVerification });
    scene.gateway.drop(resource, routeId);
    scene.restart();
    await end(object);
    expect(verbs()).toEqual(["getModule route_webhook_verification"]);
  });

  it("leaves a module that another object of the route also sets", async () => {
    const object = await given({ saml, webhookVerification });
    const next = await scene.apply(HTTPSEdgeRoute, "next", specOf({ saml: { ...saml, forceAuthn: true } }));
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

describe("a module that an edit leaves to another object of the route", () => {
  let object: ManagedObject;
  let next: ManagedObject;

  beforeEach(async () => {
    object = await given({ saml, webhookVerification });
    next = scene.cluster.apply(HTTPSEdgeRoute, "next", specOf({ saml: { ...saml, forceAuthn: true } }));
    await scene.reconcile(next);
    verbs();
  });

  it("stays until that object sets it, and is removed with that object", async () => {
    await scene.apply(HTTPSEdgeRoute, "route", specOf({}));
    expect(verbs()).toEqual(["deleteModule route_webhook_verification"]);
    expect(scene.reason(object)).toMatch(/^Available/);
    await scene.reconcile(next);
    expect(verbs()).toEqual(["putModule route_saml"]);
    expect(scene.reason(next)).toMatch(/^Available/);
    await end(next);
    expect(remote()).toMatchObject({ saml: null });
  });

  it("is not among the changes that are reported", async () => {
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({}));
    const context = scene.contextFor(object);
    await reconcile(context, { resyncSeconds: RESYNC_SECONDS });
    expect(context.changes).toEqual([
      { type: "Updated", id: `edghts_1/${routeId}`, fields: ["webhookVerification"], drifted: false },
    ]);
  });

  it("is removed while the object keeps another module, since the other object has to wait", async () => {
    await change(object, { webhookVerification });
    expect(remote()).toMatchObject({ saml: null });
    await scene.reconcile(next);
    expect(scene.reason(next)).toMatch(/^OwnershipConflict/);
  });
});

describe("a module that was there before its object", () => {
  const theirs = { saml: { enabled: true, idp_metadata: "<Theirs/>" } };
  const origins = (object: ManagedObject) => scene.cluster.now(object).status?.moduleOrigins;

  beforeEach(() => scene.gateway.change(resource, routeId, theirs));

  it("stays when the object is deleted, and a module that the object has added is removed", async () => {
    const object = await given({ saml, webhookVerification });
    expect(origins(object)).toEqual({ saml: "Adopted", webhookVerification: "Created" });
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ saml: { idp_metadata: saml.idpMetadata }, webhook_verification: null });
  });

  it("is removed when the spec says so", async () => {
    const object = await given({ saml, deletionPolicy: "Delete" });
    await end(object);
    expect(remote()).toMatchObject({ saml: null });
  });

  it("stays also when an edit has added it to the spec, and the process died after its PUT", async () => {
    const object = await given({ webhookVerification });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ webhookVerification, saml }));
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus" && Object(remote()["saml"]).idp_metadata === saml.idpMetadata)
        throw new Outdated("killed");
    };
    await scene.settle(object, 2);
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await end(object);
    expect(remote()).toMatchObject({ saml: { idp_metadata: saml.idpMetadata }, webhook_verification: null });
  });

  it("is seen although this process knew the route without it", async () => {
    scene.gateway.change(resource, routeId, { saml: null });
    const watcher = { ...specOf({ saml }), managementPolicy: "ObserveOnly" } as const;
    await scene.apply(HTTPSEdgeRoute, "watcher", watcher);
    scene.gateway.change(resource, routeId, theirs);
    expect(origins(await given({ saml }))).toEqual({ saml: "Adopted" });
  });

  it("does not count as there while it is switched off", async () => {
    scene.gateway.change(resource, routeId, { saml: { ...theirs.saml, enabled: false } });
    expect(origins(await given({ saml }))).toEqual({ saml: "Created" });
  });

  it("stays with the object to which it is left, and after that object", async () => {
    const object = await given({ saml });
    const next = await scene.apply(HTTPSEdgeRoute, "next", specOf({ saml }));
    await end(object);
    await scene.reconcile(next);
    expect(origins(next)).toEqual({ saml: "Adopted" });
    await end(next);
    expect(remote()).toMatchObject({ saml: { enabled: true } });
  });

  it("is not mistaken for one that an earlier object left to another, and that is gone since", async () => {
    scene.gateway.change(resource, routeId, { saml: null });
    const object = await given({ saml });
    const next = await scene.apply(HTTPSEdgeRoute, "next", specOf({ saml }));
    await end(object);
    await scene.reconcile(next);
    await scene.reconcile(next);
    expect(origins(next)).toEqual({ saml: "Created" });
    await end(next);
    scene.gateway.change(resource, routeId, theirs);
    await scene.clock.advance(300_000);
    expect(origins(await given({ saml }))).toEqual({ saml: "Adopted" });
  });

  it("is removed when the spec drops it, and belongs to the object when it comes back", async () => {
    const object = await given({ saml });
    await change(object, {});
    expect(remote()).toMatchObject({ saml: null });
    expect(origins(object)).toBeUndefined();
    await change(object, { saml });
    expect(origins(object)).toEqual({ saml: "Created" });
  });

  it("costs no additional read or write", async () => {
    const object = await scene.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    expect(verbs()).toEqual([
      "getModule route_saml",
      "getModule route_webhook_verification",
      "putModule route_saml",
      "putModule route_webhook_verification",
    ]);
    expect(scene.cluster.writes).toEqual(["annotate", "writeStatus", "writeStatus"]);
    scene.resetCounts();
    await scene.reconcile(object);
    expect([...verbs(), ...scene.cluster.writes]).toEqual([]);
  });
});

it("a remote that does not exist is reported as missing", async () => {
  scene.gateway.drop(resource, routeId);
  const object = await scene.apply(HTTPSEdgeRoute, "route", specOf({ webhookVerification }));
  expect(scene.reason(object)).toMatch(/^RemoteMissing: Correct the spec, .* no HTTPS edge route edghts_1\//);
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

  it("is removed also when that request arrives right after its DELETE", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml: { ...saml, forceAuthn: true } }));
    scene.gateway.swallow("putModule");
    await scene.reconcile(object);
    scene.restart();
    const { deleteModule } = scene.gateway;
    scene.gateway.deleteModule = async (...request) => {
      await deleteModule(...request);
      scene.gateway.deleteModule = deleteModule;
      scene.gateway.change(resource, routeId, { saml: { ...saml, force_authn: true } });
    };
    await scene.delete(object);
    expect(remote()).toMatchObject({ saml: { enabled: true, force_authn: true } });
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(remote()).toMatchObject({ saml: null });
  });

  it("is removed also when that request arrives right after the last look, at the end of the wait", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    scene.gateway.swallow("putModule");
    await scene.reconcile(object);
    scene.restart();
    await scene.delete(object);
    await scene.clock.advance(36_900);
    const { getModule } = scene.gateway;
    scene.gateway.getModule = (module, owner) =>
      getModule(module, owner).finally(async () => {
        if (module.name !== "route_webhook_verification") return;
        await scene.clock.advance(200);
        scene.gateway.change(resource, routeId, { webhook_verification: { enabled: true, provider: "sns" } });
        scene.gateway.getModule = getModule;
      });
    await scene.reconcile(object);
    expect(remote()).toMatchObject({ webhook_verification: { enabled: true } });
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null });
  });

  it("is removed also when it arrives late, and was sent again with success", async () => {
    const object = await given({ saml });
    scene.cluster.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    scene.gateway.swallow("putModule");
    await scene.reconcile(object);
    await scene.clock.advance(1000);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    scene.cluster.delete(object);
    await scene.reconcile(object);
    expect(scene.cluster.exists(object)).toBe(true);
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
    await scene.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    dies("writeStatus");
    await scene.reconcile(object);
    scene.cluster.beforeWrite = () => {};
    await scene.clock.advance(60_000);
    scene.cluster.delete(object);
    expect(await scene.reconcile(object)).toEqual({});
    expect(remote()).toMatchObject({ saml: null, webhook_verification: null });
  });
});
