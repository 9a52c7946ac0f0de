import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import { annotations } from "../../schema/contract.ts";

const record = { name: "web.example.com", type: "CNAME" as const, targets: ["x.example.net"] };

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** A domain whose record is there. */
async function given(spec: Record<string, unknown>): Promise<ManagedObject> {
  const object = await scene.given(ReservedDomain, "web", { domain: "web.example.com", ...spec });
  scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { cname_target: "x.example.net" });
  scene.dns.make([record]);
  await scene.resync(ReservedDomain, object);
  await scene.clock.advance(60_000);
  scene.resetCounts();
  return object;
}

const externalDNS = { dns: { externalDNS: {} } };
const remotes = () => scene.gateway.remotesOf(ReservedDomain.resource);

async function later(object: ManagedObject, seconds = 60) {
  await scene.clock.advance(seconds * 1000);
  return scene.reconcile(object);
}

describe("a domain whose remote is to stay, and that cannot be reconciled", () => {
  const changed = {
    domain: "web.example.com",
    deletionPolicy: "Retain" as const,
    description: "other",
    ...externalDNS,
  };

  it.each<[string, (object: ManagedObject) => void]>([
    ["is refused", () => scene.gateway.refuse("update", 422)],
    ["cannot be sent", () => scene.gateway.refuse("update", 503)],
    ["is released", (object) => scene.cluster.annotateByHand(object, annotations.releaseTo, "team-a/next")],
  ])("keeps its DNSEndpoint before it is deleted, when it %s", async (what, act) => {
    const object = await given(externalDNS);
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: true });
    act(object);
    await scene.apply(ReservedDomain, "web", changed);
    expect(scene.condition(object, "Ready")?.status).toBe(what === "is released" ? "True" : "False");
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: false });
  });

  it("keeps it with the next attempt when it is released and the first one fails", async () => {
    const object = await given(externalDNS);
    const { keep } = scene.cluster.endpoints;
    scene.cluster.endpoints.keep = () => Promise.reject(new Retry("Forbidden", "not allowed"));
    scene.cluster.annotateByHand(object, annotations.releaseTo, "team-a/next");
    expect(await scene.reconcile(object)).toMatchObject({ backoff: true });
    scene.cluster.endpoints.keep = keep;
    await scene.reconcile(object);
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: false });
  });

  it("keeps it as soon as it may, and goes on meanwhile", async () => {
    const object = await given(externalDNS);
    const { keep } = scene.cluster.endpoints;
    scene.cluster.endpoints.keep = () => Promise.reject(new Retry("Forbidden", "not allowed"));
    scene.gateway.refuse("update", 422);
    await scene.apply(ReservedDomain, "web", changed);
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: true });
    expect(scene.reason(object)).not.toContain("not allowed");
    scene.cluster.endpoints.keep = keep;
    await scene.reconcile(object);
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: false });
  });
});

describe("a domain that is deleted", () => {
  it("is released only when its record is gone, and reports what it waits for", async () => {
    const object = await given(externalDNS);
    await scene.delete(object);
    expect(scene.cluster.endpointOf(object)).toBeUndefined();
    expect(remotes()).toHaveLength(1);
    expect(scene.reason(object)).toBe(
      "DNSRecordRemains: Waiting for external-dns to delete the DNS record web.example.com CNAME x.example.net: the name is released when it is gone, or in 10 min",
    );
    expect(scene.condition(object, "Reconciling")?.status).toBe("True");
    await later(object);
    expect(remotes()).toHaveLength(1);
    scene.dns.removeAll();
    await later(object);
    expect(remotes()).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.cluster.events.filter(({ type }) => type === "Warning")).toEqual([]);
  });

  it("does not count an answer from before the DNSEndpoint was deleted", async () => {
    const object = await given(externalDNS);
    scene.dns.removeAll();
    await scene.reconcile(object);
    scene.dns.make([record]);
    scene.cluster.delete(object);
    // The last look was 10 s ago, and no name is asked for more than once a minute.
    expect(await later(object, 10)).toEqual({ requeueAfterSeconds: 50 });
    expect(remotes()).toHaveLength(1);
    await later(object, 50);
    expect(remotes()).toHaveLength(1);
  });

  it.each([
    ["ten minutes", {}, 9.5],
    ["its TTL and two looks of external-dns", { ttl: 60 }, 2.5],
    ["ten minutes with a long TTL", { ttl: 86_400 }, 9.5],
  ])("waits for %s at most, and an event names the record", async (_, more, minutes) => {
    const object = await given({ dns: { externalDNS: more } });
    await scene.delete(object);
    expect(await later(object, minutes * 60)).toEqual({ requeueAfterSeconds: 30 });
    expect(remotes()).toHaveLength(1);
    await later(object, 30);
    expect(remotes()).toEqual([]);
    expect(scene.cluster.events).toContainEqual(
      expect.objectContaining({
        type: "Warning",
        reason: "DNSRecordRemains",
        note: expect.stringContaining("web.example.com"),
      }),
    );
  });

  it("waits as long when the resolver fails", async () => {
    const object = await given(externalDNS);
    scene.dns.failure = "ESERVFAIL";
    scene.cluster.delete(object);
    await later(object);
    await later(object, 9.5 * 60);
    expect(remotes()).toHaveLength(1);
    await later(object, 30);
    expect(remotes()).toEqual([]);
  });

  it.each<[string, Record<string, unknown>]>([
    ["external-dns makes the record", externalDNS],
    ["a person makes the record", { dns: { check: true } }],
  ])("waits also if the process died before it wrote a status, and %s", async (_, spec) => {
    scene.gateway.normalise = (remote) => ({ ...remote, cname_target: "x.example.net" });
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "web.example.com", ...spec });
    await scene.reconcile(object);
    scene.cluster.loseStatus(object);
    scene.restart();
    scene.dns.make([record]);
    await scene.clock.advance(60_000);
    await scene.delete(object);
    expect(scene.reason(object)).toContain("DNSRecordRemains");
    expect(scene.cluster.endpointOf(object)).toBeUndefined();
    expect(remotes()).toHaveLength(1);
    scene.dns.removeAll();
    await later(object);
    expect(remotes()).toEqual([]);
  });

  it("starts the wait again after a restart", async () => {
    const object = await given(externalDNS);
    await scene.delete(object);
    await later(object, 9 * 60);
    scene.restart();
    await later(object, 2 * 60);
    expect(remotes()).toHaveLength(1);
    await later(object, 10 * 60);
    expect(remotes()).toEqual([]);
  });

  it("asks a person to delete the record if a person created it", async () => {
    const object = await given({ dns: { check: true } });
    await scene.delete(object);
    expect(scene.reason(object)).toMatch(/^DNSRecordRemains: Delete the DNS record web.example.com CNAME/);
  });

  it("waits while the record has its target besides another one", async () => {
    const object = await given(externalDNS);
    scene.dns.check = async () => ({ state: "elsewhere", there: ["other.example.org"], hasTarget: true });
    await scene.delete(object);
    expect(scene.reason(object)).toMatch(/^DNSRecordRemains: /);
    expect(remotes()).toHaveLength(1);
  });

  it("names the record that was left once, however often the DELETE fails after that", async () => {
    const object = await given(externalDNS);
    await scene.delete(object);
    for (const seconds of [600, 60, 60]) {
      scene.gateway.refuse("delete", 503);
      await later(object, seconds);
    }
    expect(remotes()).toHaveLength(1);
    expect(scene.cluster.events.filter(({ note }) => note.startsWith("Delete the DNS record"))).toHaveLength(1);
  });

  it.each([
    ["a record that points elsewhere by now", () => scene.dns.make([{ ...record, targets: ["other.example.org"] }])],
    ["no record", () => scene.dns.removeAll()],
  ])("is released at once with %s", async (_, change) => {
    const object = await given(externalDNS);
    change();
    await scene.delete(object);
    expect(remotes()).toEqual([]);
  });

  it("is released at once when records are not checked", async () => {
    const object = await given({});
    scene.cluster.endpoints.delete = () => Promise.reject(new TypeError("there never was a DNSEndpoint"));
    await scene.delete(object);
    expect(remotes()).toEqual([]);
    expect(scene.dns.asked).toEqual([]);
  });

  it("keeps its record while another remote uses the domain", async () => {
    const object = await given(externalDNS);
    scene.cluster.kindsReferringTo = () => [TCPEdge];
    scene.cluster.referrersOf = () => [{ kind: TCPEdge, object: scene.cluster.apply(TCPEdge, "edge", {}) }];
    await scene.delete(object);
    expect(scene.reason(object)).toContain("InUse");
    expect(scene.cluster.endpointOf(object)).toBeDefined();
  });
});

describe("a domain that stays in the account", () => {
  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    ["deletionPolicy: Retain", { deletionPolicy: "Retain" }, {}],
    ["the annotation orphan", {}, { [annotations.orphan]: "true" }],
  ])("keeps its record with %s", async (_, spec, marks) => {
    const object = await given({ ...spec, ...externalDNS });
    for (const [name, value] of Object.entries(marks)) scene.cluster.annotateByHand(object, name, value);
    const { dnsRecords } = scene.cluster.now(object).status ?? {};
    await scene.delete(object);
    expect(dnsRecords).toEqual([record]);
    expect(remotes()).toHaveLength(1);
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: false });
    expect(scene.cluster.exists(object)).toBe(false);
  });
});

it("a domain that stays in the account does not hold its namespace without the right to keep its DNSEndpoint", async () => {
  const object = await given({ deletionPolicy: "Retain", ...externalDNS });
  scene.cluster.endpoints.keep = () => Promise.reject(new Retry("Forbidden", "Grant the right"));
  await scene.delete(object);
  expect(scene.reason(object)).toBe("Forbidden: Grant the right");
  scene.cluster.namespaceDeleting = true;
  await scene.reconcile(object);
  expect(scene.cluster.exists(object)).toBe(false);
});

describe("a domain that was handed over", () => {
  /** Another object takes the domain. */
  async function handOver(object: ManagedObject, spec: Record<string, unknown>): Promise<ManagedObject> {
    scene.cluster.annotateByHand(object, annotations.releaseTo, "team-a/next");
    await scene.reconcile(object);
    const adopt = { id: scene.idOf(object), from: "team-a/web" };
    const next = await scene.apply(ReservedDomain, "next", { domain: "web.example.com", ...spec, adopt });
    expect(scene.condition(next, "Ready")?.status).toBe("True");
    return next;
  }

  it("leaves no DNSEndpoint that would keep the record when the other object goes", async () => {
    const object = await given(externalDNS);
    const next = await handOver(object, { ...externalDNS, deletionPolicy: "Delete" });
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.cluster.endpointOf(object)).toBeUndefined();
    expect(scene.cluster.endpointOf(next)).toBeDefined();
    expect(remotes()).toHaveLength(1);
  });

  it("leaves no DNSEndpoint of the first object when the domain is released", async () => {
    const object = await given(externalDNS);
    const next = await handOver(object, { ...externalDNS, deletionPolicy: "Delete" });
    expect(scene.cluster.endpointOf(object)).toBeDefined();
    scene.cluster.delete(next);
    await scene.settle(next);
    for (const one of [object, next]) expect(scene.cluster.endpointOf(one)).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>]>([
    ["has none", {}],
    ["cannot write one", externalDNS],
  ])("keeps its DNSEndpoint if the other object %s", async (_, spec) => {
    const object = await given(externalDNS);
    const { name } = object.metadata;
    const write = scene.cluster.endpoints.write.bind(scene.cluster);
    scene.cluster.endpoints.write = async (one, content) => {
      if (one.metadata.name !== name) throw new Retry("DNSEndpointNotWritten", "Grant the right");
      return write(one, content);
    };
    await handOver(object, spec);
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.cluster.endpointOf(object)).toMatchObject({ owned: false });
  });
});

describe("a domain that is replaced", () => {
  it("is deleted when its record is gone, and the new one has its own record", async () => {
    const object = await given({ ...externalDNS, replacement: "Recreate" });
    await scene.confirmLack(ReservedDomain.resource, "update");
    scene.cluster.apply(ReservedDomain, "web", {
      domain: "web.example.com",
      description: "new",
      replacement: "Recreate",
      ...externalDNS,
    });
    const old = scene.idOf(object);
    await scene.reconcile(object);
    expect(scene.reason(object)).toContain("DNSRecordRemains");
    expect(scene.cluster.endpointOf(object)).toBeUndefined();
    expect(scene.idOf(object)).toBe(old);
    scene.dns.removeAll();
    await later(object);
    expect(scene.idOf(object)).not.toBe(old);
    scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { cname_target: "y.example.net" });
    await scene.resync(ReservedDomain);
    await later(object);
    expect(scene.cluster.endpointOf(object)?.endpoints).toMatchObject([{ targets: ["y.example.net"] }]);
    const next = scene.idOf(object);
    scene.dns.make([{ ...record, targets: ["y.example.net"] }]);
    scene.cluster.apply(ReservedDomain, "web", {
      domain: "web.example.com",
      description: "newer",
      replacement: "Recreate",
      ...externalDNS,
    });
    await later(object);
    expect(scene.reason(object)).toContain("DNSRecordRemains");
    expect(scene.idOf(object)).toBe(next);
  });

  it.each([
    ["the deletion", "delete"],
    ["the next create", "create"],
  ] as const)(
    "says that it has no records when the service refuses %s, until they are written again",
    async (_, verb) => {
      const object = await given({ ...externalDNS, replacement: "Recreate" });
      await scene.confirmLack(ReservedDomain.resource, "update");
      const domain = { domain: "web.example.com", replacement: "Recreate" as const, ...externalDNS };
      scene.cluster.apply(ReservedDomain, "web", { ...domain, description: "new" });
      await scene.reconcile(object);
      expect(scene.condition(object, "DNSReady")).toMatchObject({ status: "False", reason: "DNSEndpointNotWritten" });
      scene.dns.removeAll();
      scene.gateway.refuse(verb, 403);
      await later(object);
      expect(scene.condition(object, "Ready")?.status).toBe("False");
      expect(scene.condition(object, "DNSReady")?.message).toBe(
        "See Ready: the DNS records are withdrawn before the name is released",
      );
      expect(remotes()).toHaveLength(verb === "delete" ? 1 : 0);
      scene.cluster.apply(ReservedDomain, "web", domain);
      await later(object, 600);
      scene.gateway.change(ReservedDomain.resource, scene.idOf(object), { cname_target: "x.example.net" });
      await scene.resync(ReservedDomain);
      scene.dns.make([record]);
      await later(object);
      expect(scene.cluster.endpointOf(object)).toBeDefined();
      expect(scene.condition(object, "DNSReady")?.status).toBe("True");
    },
  );
});
