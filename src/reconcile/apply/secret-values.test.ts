import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.cluster.setSecret("dd", { one: "first", two: "second" });
});

const monitored = (key: string, more = {}) => ({
  target: { monitoring: { apiKeyRef: { name: "dd", key }, ...more } },
});

/** The values that reached the service, in order. */
const sent = (): unknown[] =>
  scene.gateway.calls.flatMap(({ body }) => {
    const { monitoring } = (body?.["target"] ?? {}) as { monitoring?: { api_key: string } };
    return monitoring?.api_key ?? body?.["client_secret"] ?? body?.["secret"] ?? [];
  });

const applied = (object: ManagedObject) => scene.cluster.now(object).status?.appliedSecrets;

describe("a value of a Secret is sent again", () => {
  it("when the reference names another key of it", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    await scene.apply(EventDestination, "dd", monitored("two"));
    expect(sent()).toEqual(["second"]);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", observedGeneration: 2 });
  });

  it("when Secret and key change together, and a reconcile in between has seen the new Secret with the old key", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    scene.cluster.setSecret("dd", { one: "first", two: "new" });
    await scene.reconcile(object);
    await scene.apply(EventDestination, "dd", monitored("two"));
    expect(sent()).toEqual(["first", "new"]);
  });

  it("when two fields swap the keys of one Secret", async () => {
    scene.gateway.put(HTTPSEdgeRoute.resource, { id: "edghtsrt_1" });
    const spec = (oidc: string, hook: string) => ({
      edgeId: "edghts_1",
      routeId: "edghtsrt_1",
      oidc: { issuer: "https://issuer", clientId: "c", clientSecretRef: { name: "dd", key: oidc } },
      webhookVerification: { provider: "p", secretRef: { name: "dd", key: hook } },
    });
    const object = await scene.given(HTTPSEdgeRoute, "r", spec("one", "two"));
    await scene.apply(HTTPSEdgeRoute, "r", spec("two", "one"));
    expect(sent()).toEqual(["second", "first"]);
    await scene.reconcile(object);
    expect(sent()).toEqual(["second", "first"]);
  });

  it("when the Secret changes while the value is being sent", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    scene.cluster.setSecret("dd", { one: "newer" });
    const { resourceVersion } = scene.cluster.secretNow("dd") ?? {};
    scene.gateway.beforeCall = () => {
      scene.gateway.beforeCall = () => {};
      scene.cluster.setSecret("dd", { one: "newest" });
    };
    await scene.reconcile(object);
    expect(applied(object)).toMatchObject([{ name: "dd", resourceVersion }]);
    await scene.reconcile(object);
    expect(sent()).toEqual(["newer", "newest"]);
  });

  it("when its field was dropped and comes back", async () => {
    scene.gateway.put(HTTPSEdgeRoute.resource, { id: "edghtsrt_1" });
    const route = { edgeId: "edghts_1", routeId: "edghtsrt_1" };
    const spec = (secretRef?: object) => ({
      ...route,
      webhookVerification: { provider: "p", ...(secretRef && { secretRef }) },
    });
    const secretRef = { name: "dd", key: "one" };
    await scene.given(HTTPSEdgeRoute, "r", spec(secretRef));
    await scene.apply(HTTPSEdgeRoute, "r", spec());
    await scene.apply(HTTPSEdgeRoute, "r", spec(secretRef));
    expect(sent()).toEqual(["first"]);
  });
});

describe("the versions of Secrets in the status", () => {
  it("name the key that each field uses", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    const { resourceVersion } = scene.cluster.secretNow("dd") ?? {};
    expect(applied(object)).toEqual([{ name: "dd", resourceVersion, keys: { "target.monitoring.apiKeyRef": "one" } }]);
  });

  it("are of what was sent, not of what was refused", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    scene.gateway.refuse("update", 500);
    await scene.apply(EventDestination, "dd", monitored("two"));
    expect(applied(object) ?? []).toEqual([]);
    await scene.reconcile(object);
    expect(sent()).toEqual(["second", "second"]);
    expect(applied(object)).toHaveLength(1);
  });

  it("leave out a value that a process that died may have replaced, also when the spec is changed back", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    scene.cluster.apply(EventDestination, "dd", monitored("two"));
    scene.cluster.beforeWrite = () => {
      if (sent().length > 0) throw new Outdated("killed");
    };
    await scene.reconcile(object);
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await scene.apply(EventDestination, "dd", monitored("one"));
    expect(sent()).toEqual(["second", "first"]);
  });

  it("leave out values of a remote that a process that died has recreated", async () => {
    const object = await scene.given(EventDestination, "dd", { ...monitored("one"), replacement: "Recreate" });
    await scene.confirmLack(EventDestination.resource, "update");
    scene.cluster.apply(EventDestination, "dd", { ...monitored("two"), replacement: "Recreate" });
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    await scene.apply(EventDestination, "dd", { ...monitored("one"), replacement: "Recreate" });
    await scene.clock.advance(300_000);
    await scene.reconcile(object);
    expect(sent()).toEqual(["second", "first"]);
  });

  it("take no extra write when only the Secret has changed", async () => {
    const object = await scene.given(EventDestination, "dd", monitored("one"));
    scene.cluster.setSecret("dd", { one: "newer" });
    await scene.reconcile(object);
    expect(sent()).toEqual(["newer"]);
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
  });

  it("follow a Secret whose values are compared, so that changes of others still count as drift", async () => {
    scene.cluster.setSecret("tls", keyPair("first"));
    const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", { ...keyPair("first"), more: "m" });
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(applied(object)).toMatchObject([{ resourceVersion: scene.cluster.secretNow("tls")?.resourceVersion }]);
  });
});
