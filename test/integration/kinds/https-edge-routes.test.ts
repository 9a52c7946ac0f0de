import { beforeAll, describe, expect, test } from "vitest";
import type * as z from "zod";
import { HTTPSEdgeRoute } from "../../../src/kinds/https-edge-route.ts";
import { unwrap } from "../../../src/schema/traits.ts";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import {
  allModules,
  idpMetadata,
  moduleMembers,
  routeModules,
  routeSecrets,
  type Spec,
  useRoutes,
} from "../../support/routes.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const { oidc } = routeModules;

test("every field of every module has a value in the samples", () => {
  for (const [field, { spec }] of Object.entries(routeModules)) {
    const { shape } = unwrap(HTTPSEdgeRoute.spec.shape[field] as z.ZodType) as z.ZodObject;
    // the API server fills it in
    expect(Object.keys(spec).sort(), field).toEqual(
      Object.keys(shape)
        .filter((name) => name !== "enabled")
        .sort(),
    );
  }
});

describe("a route", () => {
  const world = useWorld();
  const routes = useRoutes(world);

  test("gets its modules with a read and a request each, IP restrictions first, and three writes", async () => {
    routes.add("whole");
    const before = await world.quiet();
    const { status } = await routes.apply("whole", allModules);
    const after = await world.quiet();
    expect(routes.lines("whole")).toEqual([
      ...moduleMembers.map((member) => `GET ${member}`),
      ...moduleMembers.map((member) => `PUT ${member}`),
    ]);
    // the finalizer, what is about to be sent, and the outcome
    expect(after.writes - before.writes).toBe(3);
    expect(status).toMatchObject({
      id: "edghts_whole/edghtsrt_whole",
      saml: { entityId: expect.any(String), metadataUrl: expect.any(String) },
    });
    expect(status.saml.requestSigningCertificatePem).toContain("BEGIN CERTIFICATE");
    expect(routes.module("whole", "oidc")).toMatchObject({ client_secret: routeSecrets.oidc, inactivity_timeout: 60 });
    expect(routes.module("whole", "webhook_verification")).toMatchObject({ secret: routeSecrets.webhook });
    expect(routes.module("whole", "ip_restriction")).toMatchObject({
      enabled: true,
      ip_policies: [expect.objectContaining({ id: routes.policies["one"] })],
    });
  });

  test("costs a read of each module per resync, none in between, and no write at a restart", async () => {
    const after = routes.lastSeq;
    await world.reconcileNow(routes.object("whole", {}));
    const reads = moduleMembers.map((member) => `GET ${member}`);
    expect(routes.lines("whole", after)).toEqual(reads);
    await world.kube.annotate("HTTPSEdgeRoute", "whole", { "example.org/other": "1" });
    await world.quiet();
    expect(routes.lines("whole", after)).toEqual(reads);
    const again = routes.lastSeq;
    await world.restartOperator();
    const { writes } = await world.quiet();
    expect(routes.lines("whole", again)).toEqual(reads);
    expect(writes).toBe(0);
  });

  test("shows no secret, wherever the service repeats it", async () => {
    const object = JSON.stringify(await world.get("HTTPSEdgeRoute", "whole"));
    const events = JSON.stringify(await world.kube.list("Event"));
    for (const text of [object, events, world.operator.lines.join("\n")]) {
      for (const value of Object.values(routeSecrets)) expect(text).not.toContain(value);
    }
  });

  describe("corrects a module that another client changes", () => {
    beforeAll(async () => {
      await routes.given("drifting", allModules);
    });

    test.each(Object.entries(routeModules))("%s", async (_, { member, put }) => {
      await world.ready("HTTPSEdgeRoute", "drifting");
      const before = routes.module("drifting", member);
      await routes.put("drifting", member, put(routes.policies));
      expect(routes.module("drifting", member)).not.toEqual(before);
      const after = routes.lastSeq;
      const [object] = await world.reconcileNow(routes.object("drifting", {}));
      expect(routes.module("drifting", member)).toEqual(before);
      expect(routes.lines("drifting", after).filter((line) => !line.startsWith("GET"))).toEqual([`PUT ${member}`]);
      expect(object.status.drift).toBeUndefined();
    });

    test.each(Object.entries(routeModules))("also when that removed it: %s", async (_, { member }) => {
      const before = routes.module("drifting", member);
      world.simulator.control.patch("edghtsrt_drifting", { [member]: null });
      await world.reconcileNow(routes.object("drifting", {}));
      expect(routes.module("drifting", member)).toEqual(before);
    });

    test("unless the spec only asks for a report", async () => {
      await routes.given("reporting", { oidc: oidc.spec, driftPolicy: "Report" });
      await routes.put("reporting", "oidc", oidc.put({}));
      const [object] = await world.reconcileNow(routes.object("reporting", {}));
      expect(object.status.drift).toEqual(["oidc"]);
      expect(routes.module("reporting", "oidc")).toMatchObject({ client_id: "theirs" });
    });
  });

  describe("whose spec changes has one module replaced", () => {
    beforeAll(async () => {
      await routes.given("changing", allModules);
    });

    test.each(Object.entries(routeModules))("%s", async (field, { member, other }) => {
      const { spec } = await world.ready("HTTPSEdgeRoute", "changing");
      const [before, after] = [routes.module("changing", member), routes.lastSeq];
      await routes.apply("changing", { ...spec, [field]: other });
      expect(routes.module("changing", member)).not.toEqual(before);
      expect(routes.lines("changing", after)).toEqual([`PUT ${member}`]);
    });
  });

  describe("whose spec loses a module has it removed", () => {
    beforeAll(async () => {
      await routes.given("losing", allModules);
    });

    test.each(Object.entries(routeModules))("%s", async (field, { member }) => {
      const { spec } = await world.ready("HTTPSEdgeRoute", "losing");
      const after = routes.lastSeq;
      const { [field]: _, ...rest } = spec;
      const { status } = await routes.apply("losing", rest);
      expect(routes.module("losing", member)).toBeNull();
      expect(routes.lines("losing", after).filter((line) => !line.startsWith("GET"))).toEqual([`DELETE ${member}`]);
      expect(status.saml === undefined).toBe(rest["saml"] === undefined);
    });

    test("until none is left, and none is read any more", async () => {
      const after = routes.lastSeq;
      await world.reconcileNow(routes.object("losing", {}));
      expect(routes.lines("losing", after)).toEqual([]);
    });
  });

  test("leaves modules alone that its object never set, whatever they contain", async () => {
    routes.add("foreign");
    await routes.put("foreign", "oidc", oidc.put({}));
    await routes.apply("foreign", { webhookVerification: { provider: "sns" } });
    const after = routes.lastSeq;
    await world.reconcileNow(routes.object("foreign", {}));
    expect(routes.lines("foreign", after)).toEqual(["GET webhook_verification"]);
    await world.kube.delete("HTTPSEdgeRoute", "foreign");
    await world.gone("HTTPSEdgeRoute", "foreign");
    expect(routes.set("foreign")).toEqual(["oidc"]);
    expect(routes.lines("foreign", after).slice(1)).toEqual(["DELETE webhook_verification"]);
  });

  test("keeps modules that existed before its object, and loses those that the object has added", async () => {
    routes.add("before");
    await routes.put("before", "oidc", oidc.put({}));
    const { status } = await routes.apply("before", { oidc: oidc.spec, webhookVerification: { provider: "sns" } });
    expect(status.moduleOrigins).toEqual({ oidc: "Adopted", webhookVerification: "Created" });
    await world.kube.delete("HTTPSEdgeRoute", "before");
    await world.gone("HTTPSEdgeRoute", "before");
    expect(routes.set("before")).toEqual(["oidc"]);
  });

  test("accepts values that the service chooses for unset fields, and restores those that it had chosen before", async () => {
    const { maximumDuration: _, ...open } = oidc.spec;
    await routes.given("choosing", { oidc: open });
    const set = routes.module("choosing", "oidc") ?? {};
    await routes.put("choosing", "oidc", { ...set, maximum_duration: 86_400 });
    const after = routes.lastSeq;
    await world.reconcileNow(routes.object("choosing", {}));
    expect(routes.lines("choosing", after)).toEqual(["GET oidc"]);
    await routes.apply("choosing", { oidc: { ...open, maximumDuration: 60 } });
    expect(routes.module("choosing", "oidc")).toMatchObject({ maximum_duration: 60 });
    await routes.apply("choosing", { oidc: open });
    expect(routes.module("choosing", "oidc")).toMatchObject({ maximum_duration: 0, inactivity_timeout: 60 });
    const settled = routes.lastSeq;
    await world.reconcileNow(routes.object("choosing", {}));
    expect(routes.lines("choosing", settled)).toEqual(["GET oidc"]);
  });

  test("is sent a secret again when it changes, and loses it when the spec no longer names it", async () => {
    await world.kube.apply(secret("turning", { webhook: "first-value" }));
    const webhook = (more: Spec) => ({ webhookVerification: { provider: "sns", ...more } });
    await routes.given("turning", webhook({ secretRef: { name: "turning", key: "webhook" } }));
    expect(routes.module("turning", "webhook_verification")).toMatchObject({ secret: "first-value" });
    await world.kube.apply(secret("turning", { webhook: "second-value" }));
    await world.reconcileNow(routes.object("turning", {}));
    expect(routes.module("turning", "webhook_verification")).toMatchObject({ secret: "second-value" });
    await routes.apply("turning", webhook({}));
    expect(routes.module("turning", "webhook_verification")).toMatchObject({ secret: "" });
  });

  test("waits for its Secret and policies before anything is sent", async () => {
    routes.add("waiting");
    const later = { ...oidc.spec, clientSecretRef: { name: "later", key: "oidc" } };
    await world.kube.apply(routes.object("waiting", { oidc: later, webhookVerification: { provider: "sns" } }));
    await world.condition("HTTPSEdgeRoute", "waiting", { type: "Ready", status: "False", reason: "SecretNotReady" });
    expect(routes.set("waiting")).toEqual([]);
    await world.kube.apply(secret("later", { oidc: "late" }));
    await world.ready("HTTPSEdgeRoute", "waiting");
    expect(routes.module("waiting", "oidc")).toMatchObject({ client_secret: "late" });
  });

  test("that does not exist is reported as missing, and used when it exists", async () => {
    const object = routes.object("absent", { webhookVerification: { provider: "sns" } });
    await world.kube.apply(object);
    const missed = await world.condition("HTTPSEdgeRoute", "absent", { type: "Stalled", reason: "RemoteMissing" });
    expect(conditionOf(missed, "Ready")?.message).toContain("HTTPS edge route edghts_absent/edghtsrt_absent");
    routes.add("absent");
    await world.kube.annotate("HTTPSEdgeRoute", "absent", { "tunnelgateway.dev/reconcile-requested-at": "now" });
    await world.ready("HTTPSEdgeRoute", "absent");
    expect(routes.set("absent")).toEqual(["webhook_verification"]);
  });

  test("that is deleted is reported as missing, and its object can be deleted as well", async () => {
    await routes.given("vanishing", { webhookVerification: { provider: "sns" } });
    world.simulator.control.remove("edghtsrt_vanishing");
    await world.kube.annotate("HTTPSEdgeRoute", "vanishing", { "tunnelgateway.dev/reconcile-requested-at": "now" });
    await world.condition("HTTPSEdgeRoute", "vanishing", { type: "Stalled", reason: "RemoteMissing" });
    await world.kube.delete("HTTPSEdgeRoute", "vanishing");
    await world.gone("HTTPSEdgeRoute", "vanishing");
  });

  test("that two objects name belongs to the first, until that is deleted", async () => {
    const github = { webhookVerification: { provider: "sns", enabled: false } };
    await routes.given("rivals", { webhookVerification: { provider: "sns" } });
    const after = routes.lastSeq;
    await world.kube.apply(routes.object("rival", github, "rivals"));
    const object = await world.condition("HTTPSEdgeRoute", "rival", { type: "Stalled", reason: "OwnershipConflict" });
    expect(conditionOf(object, "Ready")?.message).toContain(`${world.namespace}/rivals,`);
    await world.quiet();
    expect(routes.lines("rivals", after)).toEqual([]);
    await world.kube.delete("HTTPSEdgeRoute", "rivals");
    await world.gone("HTTPSEdgeRoute", "rivals");
    await world.ready("HTTPSEdgeRoute", "rival");
    expect(routes.module("rivals", "webhook_verification")).toMatchObject({ enabled: false });
    expect(routes.lines("rivals", after).filter((line) => !line.startsWith("GET"))).toEqual([
      "PUT webhook_verification",
    ]);
  });

  test("that two objects name from the start belongs to one, and then to the other", async () => {
    routes.add("twins");
    const spec = { webhookVerification: { provider: "sns" } };
    await world.operator.stop();
    await world.kube.apply(routes.object("twin-one", spec, "twins"), routes.object("twin-two", spec, "twins"));
    await world.startOperator();
    const names = ["twin-one", "twin-two"];
    const reasonOf = async (name: string) => {
      const object = await world.kube.get("HTTPSEdgeRoute", name);
      return conditionOf(object, "Ready")?.reason;
    };
    await world.until("one has it and the other says so", async () => {
      const reasons = await Promise.all(names.map(reasonOf));
      return reasons.includes("Available") && reasons.includes("OwnershipConflict");
    });
    const [first, second] = (await reasonOf("twin-one")) === "Available" ? names : names.toReversed();
    await world.kube.delete("HTTPSEdgeRoute", first as string);
    await world.gone("HTTPSEdgeRoute", first as string);
    await world.ready("HTTPSEdgeRoute", second as string);
    expect(routes.set("twins")).toEqual(["webhook_verification"]);
    expect(routes.lines("twins").filter((line) => line.startsWith("DELETE"))).toEqual([]);
  });

  test("of a deleted object loses the modules that the object has set", async () => {
    await world.kube.delete("HTTPSEdgeRoute", "whole");
    const after = routes.lastSeq;
    await world.gone("HTTPSEdgeRoute", "whole");
    expect(routes.set("whole")).toEqual([]);
    expect(routes.lines("whole", after - 4).filter((line) => line.startsWith("DELETE"))).toEqual(
      moduleMembers.map((member) => `DELETE ${member}`),
    );
  });

  test("stays unchanged when the spec says so", async () => {
    await routes.given("retained", { webhookVerification: { provider: "sns" }, deletionPolicy: "Retain" });
    await world.kube.delete("HTTPSEdgeRoute", "retained");
    await world.gone("HTTPSEdgeRoute", "retained");
    expect(routes.set("retained")).toEqual(["webhook_verification"]);
  });

  test("that stays with a policy in a module keeps the policy", async () => {
    await world.kube.apply(manifest("IPPolicy", "kept", {}));
    const { status } = await world.ready("IPPolicy", "kept");
    await routes.given("left", { ipRestriction: { ipPolicyRefs: [{ name: "kept" }] }, deletionPolicy: "Retain" });
    await world.kube.delete("HTTPSEdgeRoute", "left");
    await world.gone("HTTPSEdgeRoute", "left");
    await world.restartOperator();
    await world.kube.delete("IPPolicy", "kept");
    const waiting = await world.condition("IPPolicy", "kept", { type: "Ready", status: "False", reason: "InUse" });
    expect(conditionOf(waiting, "Ready")?.message).toContain("HTTPS edge route edghts_left/edghtsrt_left");
    expect(world.simulator.control.get(status.id)).toBeDefined();
    world.simulator.control.patch("edghtsrt_left", { ip_restriction: null });
    await world.gone("IPPolicy", "kept");
  });

  test("is only observed when the spec says so", async () => {
    routes.add("watched");
    await routes.put("watched", "webhook_verification", { provider: "sns", enabled: false });
    const spec = { webhookVerification: { provider: "sns" }, managementPolicy: "ObserveOnly" };
    const { status } = await routes.apply("watched", spec);
    expect(status.drift).toEqual(["webhookVerification"]);
    expect(routes.lines("watched")).toEqual(["GET webhook_verification"]);
  });
});

describe("a service that does only what its page shows, and answers null for unset modules", () => {
  const world = useWorld({
    simulator: { undocumented: false, unsetModule: 200 },
    env: { RESYNC_INTERVAL: "1s" },
  });
  const routes = useRoutes(world);

  test("has SAML disabled, and all other modules removed", async () => {
    await routes.given("limited", allModules);
    const { saml: _, ...rest } = allModules;
    await routes.apply("limited", rest);
    expect(routes.module("limited", "saml")).toMatchObject({ enabled: false, idp_metadata: idpMetadata("one") });
    await routes.apply("limited", allModules);
    expect(routes.module("limited", "saml")).toMatchObject({ enabled: true });
    await world.kube.delete("HTTPSEdgeRoute", "limited");
    await world.gone("HTTPSEdgeRoute", "limited");
    expect(routes.set("limited")).toEqual(["saml"]);
    expect(routes.module("limited", "saml")).toMatchObject({ enabled: false });
    const tried = routes.lines("limited").filter((line) => line === "DELETE saml");
    expect(tried).toHaveLength(1);
  });

  test("is read again at each resync, so that a change is corrected without a request for it", async () => {
    await routes.given("resynced", { webhookVerification: { provider: "sns" } });
    await world.until("two resyncs", async () => routes.lines("resynced").length >= 4);
    await routes.put("resynced", "webhook_verification", { provider: "sns", enabled: false });
    await world.until("it is put right", async () => routes.module("resynced", "webhook_verification")?.["enabled"]);
    expect(new Set(routes.lines("resynced"))).toEqual(
      new Set(["GET webhook_verification", "PUT webhook_verification"]),
    );
  });
});
