import { beforeEach, describe, expect, it, test } from "vitest";
import type { FakeRemote } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { RESYNC_SECONDS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMarkOf, parseMark } from "../../objects/ownership.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

let scene: Scene;
let lost: FakeRemote[];

beforeEach(() => {
  scene = new Scene();
  lost = [];
});

async function given(count: number): Promise<ManagedObject[]> {
  const objects: ManagedObject[] = [];
  for (let index = 0; index < count; index += 1) objects.push(await scene.given(IPPolicy, `policy-${index}`));
  await scene.resync(IPPolicy);
  await scene.clock.advance(1);
  return objects;
}

/** Removes remotes, as if somebody had deleted them or (all) the key belonged to another account. */
function loseRemotes(count = Number.POSITIVE_INFINITY): void {
  lost = scene.gateway.remotesOf(IPPolicy.resource).slice(0, count);
  for (const { id } of lost) scene.gateway.drop(IPPolicy.resource, id);
}

function restoreRemotes(): void {
  for (const row of lost) scene.gateway.put(IPPolicy.resource, row);
}

const rows = () => scene.gateway.remotesOf(IPPolicy.resource);

const syncedOf = (object: ManagedObject) => scene.condition(object, "Synced");

const requestReconcile = (object: ManagedObject, value: string) =>
  scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, value);

async function remove(object: ManagedObject): Promise<void> {
  await scene.delete(object);
}

describe("remotes that are missing", () => {
  it.each([
    { of: 60, missing: 60, made: false, why: "all are" },
    { of: 5, missing: 5, made: false, why: "five count as many" },
    { of: 60, missing: 7, made: false, why: "it is more than a tenth" },
    { of: 4, missing: 4, made: true, why: "somebody may have deleted so few" },
    { of: 60, missing: 6, made: true, why: "it is no more than a tenth" },
    { of: 7, missing: 7, others: 63, made: true, why: "it is no more than a tenth of everything" },
    { of: 7, missing: 7, others: 62, made: false, why: "it is more than a tenth of everything" },
  ])("$missing of $of: created again: $made, since $why", async ({ of, missing, others = 0, made }) => {
    for (let index = 0; index < others; index += 1) await scene.given(TLSEdge, `edge-${index}`);
    const objects = await given(of);
    loseRemotes(missing);
    await scene.resync(IPPolicy, ...objects);
    expect(rows()).toHaveLength(made ? of : of - missing);
    expect(syncedOf(objects[0] as ManagedObject)?.reason).toBe(made ? "Available" : "AccountMismatch");
    for (const object of objects) expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("are not those whose rows cannot be read: their objects tell what is wrong with the answers", async () => {
    const objects = await given(6);
    for (const { id } of rows()) scene.gateway.unreadable.add(id);
    scene.restart();
    for (const object of objects) {
      scene.gateway.loseAnswer("get", { kind: "unreadable" });
      await scene.reconcile(object);
      expect(syncedOf(object)?.reason).toBe("UnexpectedResponse");
    }
    expect(scene.account.lossGuard.isSuspected).toBe(false);
  });

  it("are noticed when an object is edited, before the next list", async () => {
    const [object] = await given(10);
    loseRemotes();
    scene.cluster.apply(IPPolicy, "policy-0", { description: "edited" });
    await scene.settle(object as ManagedObject, 4);
    expect(scene.gateway.takeCalls()).not.toContain("create");
    expect(syncedOf(object as ManagedObject)?.reason).toBe("AccountMismatch");
  });

  it("are noticed when a reconcile is requested, before the next list", async () => {
    const [object] = await given(10);
    loseRemotes();
    requestReconcile(object as ManagedObject, "1");
    await scene.settle(object as ManagedObject, 4);
    expect(rows()).toEqual([]);
    expect(syncedOf(object as ManagedObject)?.reason).toBe("AccountMismatch");
  });

  it("are not created again because of an annotation on their objects: an editor of objects must not confirm for the account", async () => {
    const objects = await given(10);
    loseRemotes();
    await scene.resync(IPPolicy, ...objects);
    for (const object of objects) {
      requestReconcile(object, "after the loss was reported");
      await scene.settle(object, 3);
    }
    expect(rows()).toEqual([]);
  });

  it.each([
    ["on the GatewayAccount", "production", "team-a/production"],
    ["for the operator's own credentials", "", ""],
  ])("are created again when a person confirms the reported loss %s", async (_, name, credentials) => {
    scene.accountName = name;
    const objects = await given(10);
    const { lossGuard } = scene.account;
    loseRemotes();
    await scene.resync(IPPolicy);
    lossGuard.confirm(credentials, "before the loss is reported");
    for (const object of objects) await scene.reconcile(object);
    lossGuard.confirm(credentials, "when it is reported");
    for (const object of objects) await scene.reconcile(object);
    expect(rows()).toEqual([]);

    lossGuard.confirm("team-b/production", "0");
    lossGuard.confirm("team-b/production", "by somebody else");
    for (const object of objects) await scene.reconcile(object);
    expect(rows()).toEqual([]);

    lossGuard.confirm(credentials, "after it was reported");
    for (const object of objects) await scene.settle(object);
    expect(rows()).toHaveLength(10);
    for (const object of objects) expect(syncedOf(object)?.reason).toBe("Available");
  });

  it("3.1: count over all GatewayAccounts of the account, few as each has", async () => {
    scene.accountName = "production";
    const objects: ManagedObject[] = [];
    for (const [index, object] of (await given(20)).entries()) {
      const now = scene.cluster.now(object);
      scene.cluster.vanish(now);
      const metadata = { ...now.metadata, namespace: `team-${Math.floor(index / 4)}` };
      objects.push({ ...now, metadata });
      scene.cluster.restore({ ...now, metadata });
    }
    loseRemotes();
    await scene.resync(IPPolicy, ...objects);
    expect(objects.map((object) => syncedOf(object)?.reason)).toEqual(objects.map(() => "AccountMismatch"));
    expect(rows()).toEqual([]);
  });

  it("are confirmed by a GatewayAccount for its own namespace only, when GatewayAccounts of other namespaces share the account", async () => {
    scene.accountName = "production";
    const objects = await given(10);
    const moved = scene.cluster.now(objects[0] as ManagedObject);
    scene.cluster.vanish(moved);
    scene.cluster.restore({ ...moved, metadata: { ...moved.metadata, namespace: "team-b" } });
    const { lossGuard } = scene.account;
    loseRemotes();
    await scene.resync(IPPolicy);
    const [, ...own] = objects;
    for (const object of own) await scene.reconcile(object);
    for (const requested of ["0", "1"]) lossGuard.confirm("team-a/production", requested);
    for (const object of own) await scene.settle(object);
    expect(own.map((object) => lossGuard.isAccepted(object.status?.id ?? ""))).not.toContain(false);
    expect(lossGuard.isAccepted(moved.status?.id ?? "")).toBe(false);
  });

  it.each([
    ["any namespace", "the operator's own credentials were", "", "", ["team-a", "team-b"]],
    ["its own namespace", "one GatewayAccount was", "production", "team-a/production", ["team-a"]],
  ])("do not count again in %s after %s confirmed", async (_, __, accountName, credentials, namespaces) => {
    scene.accountName = accountName;
    const objects = await given(5);
    for (let index = 0; index < 5; index += 1)
      await scene.apply(IPPolicy, `other-${index}`, {}, { namespace: "team-b" });
    await scene.resync(IPPolicy);
    loseRemotes();
    await scene.resync(IPPolicy, ...objects);
    scene.account.lossGuard.confirmAll(credentials);
    const marks = lost.map((remote) => ({ id: remote.id, namespace: parseMark(ownerMarkOf(remote))?.namespace ?? "" }));
    await scene.reconcile(objects[0] as ManagedObject);
    const accepted = marks.filter(({ id }) => scene.account.lossGuard.isAccepted(id));
    expect(accepted).toEqual(marks.filter(({ namespace }) => namespaces.includes(namespace)));
  });

  it("are confirmed for the operator's own credentials only, when a GatewayAccount shares the account", async () => {
    const objects = await given(5);
    scene.accountName = "production";
    for (let index = 0; index < 5; index += 1) await scene.given(IPPolicy, `other-${index}`);
    scene.accountName = "";
    await scene.resync(IPPolicy);
    loseRemotes();
    await scene.resync(IPPolicy, ...objects);
    const { lossGuard } = scene.account;
    lossGuard.confirmAll("");
    await scene.reconcile(objects[0] as ManagedObject);
    const accepted = lost.map(({ id }) => id).filter((id) => lossGuard.isAccepted(id));
    expect(accepted.sort()).toEqual(objects.map(({ status }) => status?.id).sort());
  });

  it("stop the operator again when more are lost after a confirmed loss", async () => {
    const objects = await given(10);
    const { lossGuard } = scene.account;
    loseRemotes(5);
    await scene.resync(IPPolicy, ...objects);
    lossGuard.confirm("", "0");
    lossGuard.confirm("", "1");
    for (const object of objects) await scene.settle(object);
    expect(rows()).toHaveLength(10);
    await scene.clock.advance(RESYNC_SECONDS * 2000);
    loseRemotes(4);
    await scene.resync(IPPolicy);
    for (const object of objects) await scene.settle(object);
    expect(rows()).toHaveLength(10);
    await scene.clock.advance(RESYNC_SECONDS * 2000);
    loseRemotes(5);
    await scene.resync(IPPolicy, ...objects);
    expect(rows()).toHaveLength(5);
  });

  it.each([
    ["the operator's own", ""],
    ["another", "production"],
  ])(
    "stop creates in an account that has none of the remotes, for less than a minute at a time: %s",
    async (_, name) => {
      scene.accountName = name;
      const [object] = await given(10);
      loseRemotes();
      await scene.resync(IPPolicy);
      await scene.reconcile(object as ManagedObject);
      const fresh = scene.cluster.apply(IPPolicy, "fresh");
      const result = await scene.reconcile(fresh);
      expect("requeueAfterSeconds" in result && result.requeueAfterSeconds).toBeLessThan(60);
      expect(scene.reason(fresh)).toMatch(/^AccountMismatch: /);
      expect(rows()).toEqual([]);
      restoreRemotes();
      await scene.resync(IPPolicy, fresh);
      expect(scene.condition(fresh, "Ready")?.status).toBe("True");
    },
  );
});

describe("while a loss is suspected, a create", () => {
  it.each([
    ["of the same kind is carried out where the account has others of the kind", IPPolicy, 6],
    ["of another kind is carried out where none of that kind is missing", TLSEdge, 10],
  ])("%s", async (_, kind, missing) => {
    const objects = await given(10);
    loseRemotes(missing);
    await scene.resync(IPPolicy, ...objects);
    expect(scene.account.lossGuard.isSuspected).toBe(true);
    const fresh = await scene.apply(kind, "fresh");
    expect(scene.reason(fresh)).toMatch(/^Available/);
    expect(rows()).toHaveLength(10 - missing + (kind === IPPolicy ? 1 : 0));
  });
});

describe("remotes of several kinds that are missing at once", () => {
  const kinds: [Kind, ManagedObject["spec"]][] = [
    [IPPolicy, {}],
    [TunnelGroupBackend, { labels: { app: "a" } }],
    [TLSEdge, {}],
  ];
  const drop = (kind: Kind) => {
    for (const { id } of scene.gateway.remotesOf(kind.resource)) scene.gateway.drop(kind.resource, id);
  };
  let objects: ManagedObject[];

  beforeEach(async () => {
    objects = [];
    for (const [kind, spec] of kinds)
      for (const name of ["a", "b", "c", "d"]) objects.push(await scene.given(kind, name, spec));
    for (const [kind] of kinds) await scene.resync(kind);
    await scene.clock.advance(1);
    scene.resetCounts();
  });

  const count = () => kinds.flatMap(([kind]) => scene.gateway.remotesOf(kind.resource)).length;

  it("count together, four of each", async () => {
    for (const [kind] of kinds) drop(kind);
    for (const [kind] of kinds) await scene.resync(kind);
    for (const object of objects) await scene.reconcile(object);
    expect(count()).toBe(0);
    expect(scene.condition(objects[0] as ManagedObject, "Synced")?.message).toBe(
      "Check the API key: 12 of 12 remotes are not in its account. If they were deleted there, start the operator with GATEWAY_ACCOUNT_CONFIRMED=true",
    );
  });

  it("3.3: count together over several lists, and fewer than five are created again", async () => {
    for (const [kind] of kinds) {
      drop(kind);
      await scene.resync(kind);
      for (const object of objects) await scene.settle(object, 3);
      await scene.clock.advance(20_000);
    }
    expect(count()).toBe(4);
  });

  it("do not count together after a resync", async () => {
    for (const [kind] of kinds) {
      drop(kind);
      await scene.resync(kind);
      for (const object of objects) await scene.settle(object, 3);
      await scene.clock.advance(RESYNC_SECONDS * 1500);
    }
    expect(count()).toBe(12);
  });
});

describe("an account with a suspected loss", () => {
  const account = () => scene.contextFor(scene.cluster.apply(IPPolicy, "any")).account;
  const recheckMissing = () => account().recheckMissing(new AbortController().signal);

  it("is asked for one missing remote with growing delays, and listed once when the remote is back", async () => {
    const objects = await given(10);
    loseRemotes();
    await scene.resync(IPPolicy, ...objects);
    scene.gateway.takeCalls();
    for (let second = 0; second < 60; second += 1) {
      await scene.clock.advance(1000);
      await recheckMissing();
    }
    // after 2, 4, 8, 16 and 20 seconds
    expect(scene.gateway.takeCalls()).toHaveLength(5);
    restoreRemotes();
    await scene.clock.advance(20_000);
    await recheckMissing();
    await scene.clock.advance(20_000);
    await recheckMissing();
    expect(scene.gateway.takeCalls().map((call) => call.split(" ")[0])).toEqual(["get", "list"]);
    for (const object of objects) await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    for (const object of objects) expect(syncedOf(object)?.reason).toBe("Available");
  });
});

describe("a delete that is answered 404", () => {
  it("does not count while the other remotes are missing too, and is repeated in the right account", async () => {
    const objects = await given(10);
    const [object] = objects as [ManagedObject];
    loseRemotes();
    await remove(object);
    expect(scene.cluster.exists(object)).toBe(true);
    expect(scene.reason(object)).toMatch(/^AccountMismatch: /);
    restoreRemotes();
    await scene.resync(IPPolicy, object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(rows()).toHaveLength(9);
  });

  it("does not count while too many remotes of other kinds are missing, though those of its own kind are there", async () => {
    const [edge] = [await scene.given(TLSEdge, "edge"), await scene.given(TLSEdge, "other")];
    await given(10);
    loseRemotes();
    await scene.resync(IPPolicy);
    scene.gateway.drop(TLSEdge.resource, scene.idOf(edge));
    await remove(edge);
    expect(scene.cluster.exists(edge)).toBe(true);
    expect(scene.reason(edge)).toMatch(/^AccountMismatch: /);
  });

  it.each([
    ["does not count when all five are missing, though all are being deleted", 5, 5],
    ["counts as a deletion when all four are missing: somebody may have deleted so few", 4, 0],
  ])("%s", async (_, count, left) => {
    const objects = await given(count);
    loseRemotes();
    for (const object of objects) await remove(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toHaveLength(left);
  });

  it("counts as a deletion when the other remotes exist", async () => {
    const objects = await given(10);
    loseRemotes(4);
    for (const object of objects.slice(0, 4)) await remove(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toHaveLength(6);
  });

  it("counts as a deletion when many are being deleted, as long as another remote of the kind is there", async () => {
    const objects = await given(10);
    const deleted = objects.slice(0, 9);
    for (const object of deleted) scene.cluster.delete(object);
    loseRemotes(9);
    for (const object of deleted) await scene.reconcile(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toEqual(objects.slice(9));
  });

  it("counts as a deletion when the answer to an earlier delete was lost", async () => {
    const objects = await given(10);
    for (const object of objects) {
      scene.gateway.loseAnswer("delete");
      await remove(object);
      // until the circuit breaker is closed again
      await scene.clock.advance(120_000);
    }
    for (const object of objects) await scene.reconcile(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toEqual([]);
  });

  it("3.2: counts as a deletion when a killed process may have had as many deletes under way", async () => {
    const objects = await given(32);
    for (const object of objects) scene.cluster.delete(object);
    loseRemotes();
    scene.restart();
    for (const object of objects) await scene.reconcile(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toEqual([]);
  });

  it("does not count after a restart when more remotes are missing than a process can have been deleting", async () => {
    const objects = await given(40);
    for (const object of objects) scene.cluster.delete(object);
    loseRemotes();
    scene.restart();
    for (const object of objects) await scene.reconcile(object);
    expect(objects.filter((object) => scene.cluster.exists(object))).toHaveLength(40);
  });
});

test("a missing subscription counts once, together with its entries", async () => {
  const { resource } = EventSubscription;
  const subscriptions: ManagedObject[] = [];
  const sources: ManagedObject[] = [];
  for (const name of ["a", "b", "c"]) {
    subscriptions.push(await scene.given(EventSubscription, name));
    const spec = { subscriptionRef: { name }, type: `${name}_created.v0` };
    sources.push(await scene.given(EventSource, name, spec));
  }
  await scene.resync(EventSubscription);
  for (const { id } of scene.gateway.remotesOf(resource)) scene.gateway.drop(resource, id);
  await scene.resync(EventSubscription);
  for (const object of [...subscriptions, ...sources]) await scene.settle(object);
  expect(scene.gateway.remotesOf(resource)).toHaveLength(3);
  for (const object of sources) expect(syncedOf(object)?.reason).toBe("Available");
});

test("subscriptions that are missing are looked for again when only an entry has reported them", async () => {
  const { resource } = EventSubscription;
  const sources: ManagedObject[] = [];
  for (const name of ["a", "b", "c", "d", "e"]) {
    await scene.given(EventSubscription, name);
    sources.push(await scene.given(EventSource, name, { subscriptionRef: { name }, type: "a_created.v0" }));
  }
  await scene.resync(EventSubscription);
  const subscriptions = scene.gateway.remotesOf(resource);
  for (const { id } of subscriptions) scene.gateway.drop(resource, id);
  await scene.resync(EventSubscription, ...sources);
  expect(syncedOf(sources[0] as ManagedObject)?.reason).toBe("AccountMismatch");
  for (const row of subscriptions) scene.gateway.put(resource, row);
  await scene.clock.advance(20_000);
  await scene.account.recheckMissing(new AbortController().signal);
  expect(scene.account.lossGuard.isSuspected).toBe(false);
  for (const object of sources) await scene.reconcile(object);
  for (const object of sources) expect(syncedOf(object)?.reason).toBe("Available");
});
