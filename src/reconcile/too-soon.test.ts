import { beforeEach, describe, expect, it, vi } from "vitest";
import { keyPair } from "../../test/fakes/reconcile/key-pairs.ts";
import { RESYNC_SECONDS, Scene } from "../../test/fakes/reconcile/scene.ts";
import type { Lane } from "../account/requests/request-budget.ts";
import { GatewayError } from "../gateway/errors.ts";
import { CertificateAuthority } from "../kinds/certificate-authority.ts";
import { EventSubscription } from "../kinds/event-subscription.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import type { ManagedObject } from "../objects/object.ts";
import { annotations } from "../schema/contract.ts";
import { reconcile } from "./reconcile.ts";

const HOUR = 3600;

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** Something wakes the object every few seconds: a resync, a list, a write. The calls in this time. */
async function wokenFor(seconds: number, object: ManagedObject, every = 20, lane: Lane = "retry"): Promise<string[]> {
  scene.lane = lane;
  scene.gateway.takeCalls();
  for (let passed = 0; passed < seconds; passed += every) {
    await scene.reconcile(object);
    await scene.clock.advance(every * 1000);
  }
  scene.lane = "edit";
  return scene.gateway.takeCalls();
}

function refuse(verb: "update" | "create" | "delete", status: number): void {
  for (let count = 0; count < 200; count += 1) scene.gateway.refuse(verb, status);
}

/** An object whose edit the service does not take. */
async function givenRefused(status: number): Promise<ManagedObject> {
  const object = await scene.given(IPPolicy, "office", { description: "one" });
  refuse("update", status);
  return scene.apply(IPPolicy, "office", { description: "two" }).then(() => scene.cluster.now(object));
}

describe("an object whose request failed, and that is triggered all the time,", () => {
  it.each([
    // full jitter: every 150 s on average in the end
    [500, 45],
    // and each time, whether the key is accepted elsewhere
    [401, 12],
    [403, 6],
    [400, 2],
    [422, 2],
  ])("with %d sends at most %d requests in the first hour", async (status, limit) => {
    const object = await givenRefused(status);
    scene.cluster.writes.length = 0;
    const calls = await wokenFor(HOUR, object);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(limit);
    // what it says is as before; a second refusal of the value counts for a day
    expect(scene.cluster.writes).toEqual(status === 400 || status === 422 ? ["writeStatus"] : []);
  });

  it.each([400, 409, 422])("with %d sends at most two requests an hour in the long run", async (status) => {
    const object = await givenRefused(status);
    await wokenFor(2 * HOUR, object, 60);
    expect((await wokenFor(10 * HOUR, object, 60)).length).toBeLessThanOrEqual(20);
  });

  it("sends a create that is refused at most twice an hour", async () => {
    refuse("create", 422);
    const object = await scene.apply(IPPolicy, "office", {});
    await wokenFor(2 * HOUR, object, 60);
    expect((await wokenFor(10 * HOUR, object, 60)).length).toBeLessThanOrEqual(20);
  });

  it("sends a deletion less and less often", async () => {
    const object = await scene.given(IPPolicy, "office");
    refuse("delete", 503);
    await scene.delete(object);
    // each time, lists have shown before that nothing uses it
    const calls = (await wokenFor(HOUR, object)).filter((call) => call.startsWith("delete"));
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(45);
    expect(scene.reason(object)).toMatch(/^ServiceUnavailable: /);
  });
});

describe("an object that waits after a failure sends its request at once", () => {
  let object: ManagedObject;

  beforeEach(async () => {
    object = await givenRefused(422);
    expect(await wokenFor(60, object)).toEqual([]);
  });

  it("when its spec changes", async () => {
    await scene.apply(IPPolicy, "office", { description: "three" });
    // a refusal does not prove that the account has the former value
    const id = scene.idOf(object);
    expect(scene.gateway.takeCalls()).toEqual([`get ${id}`, `update ${id}`]);
  });

  it("when a reconcile is requested, once", async () => {
    scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, "now");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain(`update ${scene.idOf(object)}`);
    expect(await wokenFor(60, object)).toEqual([]);
  });

  it("when its account is another one, as after a change of the key", async () => {
    const { account } = new Scene({ beside: scene });
    await reconcile({ ...scene.contextFor(object), account }, { resyncSeconds: RESYNC_SECONDS });
    expect(scene.gateway.takeCalls()).toContain(`update ${scene.idOf(object)}`);
  });
});

it("an edit of another object makes one whose list is shared with others try again sooner than one whose is not", async () => {
  const sources = (type: string) => ({ sources: [{ type }] });
  const subscription = await scene.given(EventSubscription, "audit", sources("a.v0"));
  const policy = await scene.given(IPPolicy, "office", { description: "one" });
  refuse("update", 422);
  await scene.apply(EventSubscription, "audit", sources("b.v0"));
  await scene.apply(IPPolicy, "office", { description: "two" });
  expect(await wokenFor(600, subscription, 60, "edit")).toContain(`update ${scene.idOf(subscription)}`);
  expect(await wokenFor(600, policy, 60, "edit")).toEqual([]);
});

it("an object is tried as soon as a value that its spec refers to has changed, although no watch reports it", async () => {
  scene.cluster.setConfigMap("ca", { pem: keyPair("first")["tls.crt"] });
  refuse("create", 422);
  const caPemFrom = { configMapKeyRef: { name: "ca", key: "pem" } };
  const authority = await scene.apply(CertificateAuthority, "partners", { caPemFrom });
  expect(await wokenFor(600, authority, 300)).toEqual([]);
  scene.cluster.setConfigMap("ca", { pem: keyPair("second")["tls.crt"] });
  expect(await wokenFor(600, authority, 300)).toEqual(["create", "list"]);
});

describe("an object that was refused with a value of a Secret", () => {
  let authority: ManagedObject;

  beforeEach(async () => {
    scene.cluster.setSecret("ca", { pem: keyPair("first")["tls.crt"] });
    refuse("create", 422);
    const caPemFrom = { secretKeyRef: { name: "ca", key: "pem" } };
    authority = await scene.apply(CertificateAuthority, "partners", { caPemFrom });
    scene.gateway.takeCalls();
  });

  it("is not sent again when somebody touches the Secret, which triggers it like an edit", async () => {
    for (let touches = 0; touches < 30; touches += 1) {
      scene.cluster.setSecret("ca", { pem: keyPair("first")["tls.crt"] });
      expect(await wokenFor(20, authority, 20, "edit")).toEqual([]);
    }
  });

  it("is sent at once when the value changes", async () => {
    scene.cluster.setSecret("ca", { pem: keyPair("second")["tls.crt"] });
    expect(await wokenFor(20, authority, 20, "edit")).toEqual(["create", "list"]);
  });
});

describe("an object that is refused because of other objects", () => {
  it("is deleted less and less often while the service says that it is in use, whatever triggers it", async () => {
    const object = await scene.given(IPPolicy, "office");
    refuse("delete", 409);
    await scene.delete(object);
    for (const lane of ["retry", "edit"] as const) {
      const calls = (await wokenFor(HOUR, object, 5, lane)).filter((call) => call.startsWith("delete"));
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.length).toBeLessThanOrEqual(45);
    }
    expect(scene.reason(object)).toMatch(/^InUse: /);
  });

  it("is created as soon as the name is free", async () => {
    scene.gateway.unique["reserved_domains"] = "domain";
    const other = scene.gateway.seed(ReservedDomain.resource, { domain: "a.example.com" });
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
    scene.gateway.drop(ReservedDomain.resource, other.id);
    await scene.clock.advance(20_000);
    expect(await wokenFor(20, object, 20, "edit")).toContain("create");
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});

describe("a domain whose DNS record is missing", () => {
  const job = { error_code: "DNS_ERROR", msg: "no CNAME", started_at: "2025-12-31T00:00:00Z" };

  async function given(): Promise<ManagedObject> {
    const certificateManagementPolicy = { authority: "freeca", privateKeyType: "rsa" };
    const object = await scene.apply(ReservedDomain, "web", { domain: "a.example.com", certificateManagementPolicy });
    const members = { certificate: null, certificate_management_status: { provisioning_job: job } };
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), members);
    await scene.resync(ReservedDomain, object);
    expect(scene.condition(object, "Stalled")?.reason).toBe("CertificateDNSError");
    return object;
  }

  async function callsIn(hours: number, object: ManagedObject, resyncs: boolean): Promise<number> {
    let calls = 0;
    for (let passed = 0; passed < hours * HOUR; passed += 300) {
      await scene.clock.advance(300_000);
      if (resyncs) await scene.resync(ReservedDomain);
      await scene.reconcile(object);
      calls += scene.gateway.takeCalls().length;
    }
    return calls;
  }

  it.each([
    ["nothing beside the lists that are due anyway", true, 0],
    ["two requests an hour where no list is due", false, 2],
  ])("costs %s", async (_, resyncs, limit) => {
    const object = await given();
    expect(await callsIn(10, object, resyncs)).toBeLessThanOrEqual(10 * limit);
  });
});

it("a list that the key may not read says nothing about the account, if another one can be read", async () => {
  const [policy, domain] = [
    await scene.given(IPPolicy, "office"),
    await scene.given(ReservedDomain, "web", { domain: "a.example.com" }),
  ];
  scene.restart();
  scene.gateway.refuse("list", 401);
  await scene.reconcile(policy);
  expect(scene.condition(policy, "Synced")?.reason).toBe("Unauthorized");
  expect(scene.gateway.calls.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
    "list ip_policies",
    "list reserved_domains",
  ]);
  await scene.reconcile(domain);
  expect(scene.condition(domain, "Synced")?.status).toBe("True");
});

it("an object whose account is unknown, because the service does not answer, reports that", async () => {
  const object = scene.cluster.apply(IPPolicy, "office", {});
  const context = scene.contextFor(object);
  const problem = new GatewayError({
    kind: "refused",
    status: 401,
    method: "GET",
    route: "/ip_policies",
    problem: "no",
  });
  Object.defineProperty(context, "account", {
    get() {
      throw problem;
    },
  });
  await reconcile(context, { resyncSeconds: 300 });
  expect(scene.condition(object, "Synced")?.reason).toBe("Unauthorized");
});

it("an object that has not failed is not delayed by others", async () => {
  await givenRefused(500);
  scene.lane = "sync";
  const other = await scene.apply(IPPolicy, "home", {});
  expect(scene.condition(other, "Ready")?.status).toBe("True");
});

it("a deletion that succeeds releases those that failed like it, although its object is forgotten at that moment", async () => {
  const names = Array.from({ length: 6 }, (_, index) => `office-${index}`);
  const objects: ManagedObject[] = [];
  for (const name of names) objects.push(await scene.given(IPPolicy, name));
  for (const _ of names) scene.gateway.refuse("delete", 503);
  for (const object of objects) await scene.delete(object);
  expect(objects.filter((object) => scene.cluster.exists(object))).toEqual(objects);
  const remove = scene.cluster.removeFinalizer.bind(scene.cluster);
  vi.spyOn(scene.cluster, "removeFinalizer").mockImplementation(async (kind, object) => {
    await remove(kind, object);
    scene.memory.end(object.metadata.uid);
  });
  await scene.clock.advance(5 * 60_000);
  for (const object of objects) await scene.reconcile(object);
  expect(objects.filter((object) => scene.cluster.exists(object))).toEqual([]);
});
