import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { until } from "../../../test/fakes/runtime/until.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { KubeClient } from "../connection/client.ts";
import { type Answer, type Exchange, Transport } from "../connection/transport.ts";
import { LeaderElector } from "./election.ts";
import type { Lease } from "./lease.ts";

const collection = "coordination.k8s.io/v1/leases";

let server: FakeApiServer;
/** Counts the requests that have no answer yet. */
class CountingTransport extends Transport {
  waiting = 0;
  override async request(exchange: Exchange): Promise<Answer> {
    this.waiting += 1;
    return super.request(exchange).finally(() => {
      this.waiting -= 1;
    });
  }
}

let transport: CountingTransport;
let clock: VirtualClock;
let electors: LeaderElector[];

beforeEach(async () => {
  server = await FakeApiServer.start();
  transport = new CountingTransport(server.connection);
  clock = new VirtualClock();
  electors = [];
});

afterEach(async () => {
  await Promise.all(electors.map((elector) => elector.stop()));
  await transport.close();
  await server[Symbol.asyncDispose]();
  expect(clock.pending).toBe(0);
});

function elector(identity: string, time = clock, random = () => 0): LeaderElector {
  const client = new KubeClient(transport, { fieldManager: "test", clock: time });
  const created = new LeaderElector({
    client,
    namespace: "ns",
    name: "operator",
    identity,
    log: recordingLogger(),
    clock: time,
    random,
  });
  electors.push(created);
  created.start();
  return created;
}

const lease = () => server.storage.get(collection, "ns/operator") as Lease;

/** Advances the clock in small steps. Before each step it waits for the answers, unless there will be none. */
async function pass(seconds: number, { unanswered = false } = {}): Promise<void> {
  for (let step = 0; step < seconds * 2; step += 1) {
    await clock.advance(500);
    if (!unanswered) await until(() => transport.waiting === 0);
  }
  await settle();
}

describe("LeaderElector", () => {
  it("creates the lease, with times in the form of the API server", async () => {
    await elector("one").elected;
    expect(lease().spec).toEqual({
      holderIdentity: "one",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
  });

  it("renews, and stays the only leader while it does", async () => {
    const one = elector("one");
    await one.elected;
    const two = elector("two");
    await pass(60);
    expect(one.isLeading).toBe(true);
    expect(two.isLeading).toBe(false);
    expect(lease().spec).toMatchObject({
      holderIdentity: "one",
      leaseTransitions: 0,
      acquireTime: "2026-01-01T00:00:00.000000Z",
    });
    expect(lease().spec?.renewTime).toMatch(/^2026-01-01T00:0[01]:\d\d\.\d{6}Z$/);
  });

  it("takes over when the lease has not changed for its whole duration, whatever times are in it", async () => {
    const one = elector("one");
    await one.elected;
    await one.stop();
    // far in the future, by the clock of the writer
    server.storage.update(collection, "ns/operator", (object) => ({
      ...object,
      spec: { ...lease().spec, renewTime: "2036-01-01T00:00:00.000000Z" },
    }));
    const two = elector("two");
    await until(() => server.received.some(({ method }) => method === "GET"));
    await pass(14);
    expect(two.isLeading).toBe(false);
    await pass(4);
    expect(two.isLeading).toBe(true);
    expect(lease().spec).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
  });

  it("does not sleep beyond the end of the lease, however long the time between two attempts is", async () => {
    const one = elector("one");
    await one.elected;
    await one.stop();
    const looked = server.received.length;
    const two = elector("two", clock, () => 0.99);
    await until(() => server.received.length > looked);
    await pass(15);
    expect(two.isLeading).toBe(false);
    await pass(0.5);
    expect(two.isLeading).toBe(true);
  });

  it("takes a released lease at once", async () => {
    const one = elector("one");
    await one.elected;
    await one.release();
    expect(lease().spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await elector("two").elected;
    expect(lease().spec).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
  });

  it("releases the lease after a renewal whose answer was cut off", async () => {
    const one = elector("one");
    await one.elected;
    server.storage.update(collection, "ns/operator", (object) => ({
      ...object,
      spec: { ...(object as Lease).spec, renewTime: "2026-01-01T00:00:02.000000Z" },
    }));
    await one.release();
    expect(lease().spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
  });

  it("does not release a lease that another process has taken meanwhile", async () => {
    const one = elector("one");
    await one.elected;
    server.storage.update(collection, "ns/operator", (object) => ({ ...object, spec: { holderIdentity: "two" } }));
    await one.release();
    expect(lease().spec).toEqual({ holderIdentity: "two" });
  });

  it("counts renewals that came after the lease had expired, by either clock", async () => {
    const one = elector("one");
    await one.elected;
    await pass(20);
    expect([one.interruptions, one.formerLease]).toEqual([0, undefined]);
    clock.setBy(14_000);
    await pass(4);
    clock.setBy(60_000);
    expect(one.holdsFor(0)).toBe(false);
    await pass(4);
    expect([one.interruptions, one.holdsFor(5)]).toEqual([2, true]);
  });

  it("knows the lease as it found it", async () => {
    await elector("one").elected;
    await electors[0]?.release();
    const left = lease();
    const two = elector("two");
    await two.elected;
    await pass(4);
    expect(two.formerLease).toEqual(left);
  });

  it("is lost, before anybody may take the lease, when it cannot be renewed", async () => {
    const one = elector("one");
    await one.elected;
    server.faults.push(...Array.from({ length: 100 }, () => ({ status: 500 })));
    await pass(9);
    expect(one.isLeading).toBe(true);
    await pass(3);
    expect(one.isLeading).toBe(false);
    expect((await one.lost).message).toContain("could not be renewed");
  });

  it("is lost in time even when the API server does not answer at all", async () => {
    const one = elector("one");
    await one.elected;
    server.faults.push(...Array.from({ length: 100 }, () => ({ hang: true }) as const));
    await pass(11, { unanswered: true });
    expect(one.isLeading).toBe(false);
  });

  it("is not lost to one renewal without an answer, since the next one follows at once", async () => {
    const one = elector("one");
    await one.elected;
    server.faults.push({ hang: true });
    // it is sent after 2 seconds, and given up after 5 more
    await pass(7, { unanswered: true });
    await until(() => lease().spec?.renewTime === "2026-01-01T00:00:07.000000Z");
    await pass(30);
    expect(one.isLeading).toBe(true);
  });

  it("is lost at once when another holds the lease", async () => {
    const one = elector("one");
    await one.elected;
    server.storage.update(collection, "ns/operator", (object) => ({
      ...object,
      spec: { ...lease().spec, holderIdentity: "thief" },
    }));
    await pass(3);
    expect((await one.lost).message).toBe("The lease is held by thief");
    expect(one.holdsFor(0)).toBe(false);
  });

  it("keeps the lease after a conflict with a writer of its metadata", async () => {
    const one = elector("one");
    await one.elected;
    const labelled = server.storage.update(collection, "ns/operator", (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { seen: "true" } },
    }));
    await pass(3);
    expect(one.isLeading).toBe(true);
    expect(lease().metadata.resourceVersion).not.toBe(labelled.metadata.resourceVersion);
    expect(lease().metadata.labels).toEqual({ seen: "true" });
  });

  it("holds for no longer than others wait, counted from when the renewal was sent", async () => {
    const one = elector("one");
    expect(one.holdsFor(0)).toBe(false);
    await one.elected;
    expect(one.holdsFor(14.9)).toBe(true);
    expect(one.holdsFor(15)).toBe(false);
    await clock.advance(1_000);
    expect(one.holdsFor(14.1)).toBe(false);
  });

  it("does not rely on the monotonic clock alone, which stops while a machine is suspended", async () => {
    let suspended = 0;
    const time = Object.assign(new VirtualClock(), { date: () => new Date(1e12 + suspended) });
    const one = elector("one", time);
    await one.elected;
    suspended = 60_000;
    expect(one.holdsFor(1)).toBe(false);
  });

  it("does not release what it does not hold", async () => {
    await elector("one").elected;
    const two = elector("two");
    await two.release();
    expect(lease().spec?.holderIdentity).toBe("one");
  });
});
