import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { ListOptions } from "../../runtime/connection/client.ts";
import { KubeError } from "../../runtime/connection/errors.ts";
import type { ObjectRef, ResourceType } from "../../runtime/object.ts";
import type { Lease } from "../../runtime/process/lease.ts";
import { parseLabelSelector } from "../../schema/label-selector.ts";
import { InstallationClaim, type InstallationClaimOptions } from "./claim.ts";
import { installationOf } from "./record.ts";

let clock: VirtualClock;
/** By namespace and name. */
let leases: Map<string, Lease>;
let installed: { claim: InstallationClaim }[];
/** Namespaces that do not exist. */
let missing: Set<string>;
/** Namespaces where a Lease is answered with this status. */
let refusing: Map<string, number>;
let writes: string[];
let versions: number;

beforeEach(() => {
  clock = new VirtualClock();
  leases = new Map();
  installed = [];
  missing = new Set();
  refusing = new Map();
  writes = [];
  versions = 0;
});

afterEach(async () => {
  await Promise.all(installed.map(({ claim }) => claim.stop()));
  expect(clock.pending).toBe(0);
});

type Client = InstallationClaimOptions["client"];

const refusal = (status: number) => new KubeError({ status, message: "refused" });
const keyOf = ({ namespace, name }: ObjectRef) => `${namespace}/${name}`;

/** Stores an object as an API server would. */
function store(lease: Lease): Lease {
  versions += 1;
  const key = keyOf(lease.metadata as ObjectRef);
  const uid = leases.get(key)?.metadata.uid ?? `uid-${key}-${versions}`;
  const creationTimestamp = leases.get(key)?.metadata.creationTimestamp ?? clock.date().toISOString();
  const metadata = { creationTimestamp, uid, ...lease.metadata, resourceVersion: String(versions) };
  const stored = { ...lease, metadata };
  leases.set(key, stored);
  return stored;
}

/** An API server whose rights are those of an installation: with listed namespaces, it reads there only. */
const clientOf = (readable: readonly string[] | undefined): Client =>
  ({
    async listAll(_: ResourceType, { namespace }: ListOptions) {
      if (readable && !readable.includes(namespace ?? "")) throw refusal(403);
      return {
        items: [...leases.values()].filter(({ metadata }) => !namespace || metadata.namespace === namespace),
      };
    },
    async apply(_: ResourceType, lease: Lease) {
      const { namespace = "" } = lease.metadata;
      if (missing.has(namespace)) throw refusal(404);
      const status = refusing.get(namespace);
      if (status !== undefined) throw refusal(status);
      writes.push(keyOf(lease.metadata as ObjectRef));
      return store(lease);
    },
    async delete(_: ResourceType, ref: ObjectRef) {
      if (!leases.delete(keyOf(ref))) throw refusal(404);
    },
  }) as unknown as Client;

/** The API server answers 500 to all requests while the connection is off. */
function cutOff(cut: { isOff: boolean }, readable: readonly string[]): Client {
  const { listAll, apply, delete: remove } = clientOf(readable);
  const through =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    (...given: A): Promise<R> =>
      cut.isOff ? Promise.reject(refusal(500)) : call(...given);
  return { listAll: through(listAll), apply: through(apply), delete: through(remove) } as Client;
}

interface Settings {
  /** When its Lease was made, in seconds; default: now. */
  born?: number;
  watchNamespaces?: string[];
  selector?: string;
  client?: Partial<Client>;
}

type Installed = ReturnType<typeof install>;

/** An installation in a namespace of its own, which has taken its Lease. */
function install(namespace: string, settings: Settings = {}) {
  const { born, watchNamespaces = [], selector = "" } = settings;
  const log = recordingLogger();
  const key = `${namespace}/tunnel-gateway-operator`;
  const before = leases.get(key);
  const held = { interruptions: 0, ends: 0 };
  const claim: InstallationClaim = new InstallationClaim({
    client: {
      ...clientOf(watchNamespaces.length > 0 ? [...watchNamespaces, namespace] : undefined),
      ...settings.client,
    },
    config: {
      watchNamespaces,
      watchSelector: parseLabelSelector(selector),
      podNamespace: namespace,
      installation: "default",
    },
    elector: () => ({ ownLease: leases.get(key), formerLease: before, interruptions: held.interruptions }),
    random: () => 0.5,
    clock,
    log,
  });
  const renew = () =>
    store({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        namespace,
        name: "tunnel-gateway-operator",
        ...claim.marks(),
        ...(born !== undefined && { creationTimestamp: new Date(born * 1000).toISOString() }),
      },
      spec: { holderIdentity: "pod", leaseDurationSeconds: 15, renewTime: String(clock.now()) },
    });
  const state = () => installationOf(leases.get(key) as Lease)?.claim;
  let lost: Error | undefined;
  claim.lost.then((error) => {
    lost = error;
  });
  const one = {
    claim,
    log,
    renew,
    state,
    lost: () => lost?.message,
    acts: () => lost === undefined && claim.holdsFor(5),
    /** As at a graceful stop. */
    async end() {
      await claim.stop();
      await claim.release();
      const lease = leases.get(key) as Lease;
      leases.set(key, { ...lease, spec: { ...lease.spec, holderIdentity: "" } });
    },
    /** As after SIGKILL: nothing is said. */
    kill: () => claim.stop(),
    /** Suspended beyond its Lease, and awake again. */
    wake() {
      held.interruptions += 1;
      renew();
    },
    copies: () => [...leases.keys()].filter((name) => name.endsWith(`.${namespace}`)),
  };
  renew();
  claim.start();
  installed.push(one);
  return one;
}

/** Two seconds at a time, after each of which these renew their Leases. */
async function pass(seconds: number, ...alive: Pick<Installed, "renew">[]): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 2) {
    await clock.advance(2_000);
    for (const one of alive) one.renew();
  }
}

/** Ten minutes at the most. */
async function passUntilActive(one: Installed, ...others: Installed[]): Promise<number> {
  const begin = clock.now();
  while (clock.now() - begin < 600_000 && one.state() !== "active") await pass(2, one, ...others);
  expect(one.state()).toBe("active");
  return (clock.now() - begin) / 1000;
}

describe("an installation of all namespaces", () => {
  it("goes on at once where no other has its objects", async () => {
    install("other", { selector: "team=b" });
    const { claim, acts } = install("own", { selector: "team=a" });
    expect(acts()).toBe(false);
    await claim.synced;
    expect([claim.isWaiting, acts(), clock.now()]).toEqual([false, true, 0]);
  });

  it("waits while one that is active has its objects, and says so, whichever of them is older", async () => {
    const first = install("first", { born: 1 });
    await first.claim.synced;
    first.renew();
    const second = install("second", { born: 0 });
    await pass(120, first, second);
    expect(second.claim.isWaiting).toBe(true);
    expect(second.claim.problem).toContain('installation "default" in namespace first');
    expect(second.log.lines.map(({ message }) => message)).toContain("Could not start yet");
    expect([first.state(), second.state()]).toEqual(["active", "waiting"]);
    expect([first.acts(), second.acts()]).toEqual([true, false]);
    await first.kill();
    await passUntilActive(second);
    expect(second.claim.isWaiting).toBe(false);
  });

  it("goes on beside one that has objects with other labels, and waits for one that may have the same", async () => {
    const first = install("first", { selector: "team=a" });
    await first.claim.synced;
    first.renew();
    const second = install("second", { selector: "team in (b,c)" });
    await second.claim.synced;
    const third = install("third", { selector: "tier=gold" });
    await pass(4, first, second, third);
    expect([second.state(), third.state()]).toEqual(["active", "waiting"]);
  });

  it("goes on when the other one has given up its Lease", async () => {
    const first = install("first");
    await first.claim.synced;
    first.renew();
    const second = install("second");
    await pass(4, first, second);
    await first.end();
    expect(await passUntilActive(second)).toBeLessThan(35);
  });

  it("goes on as one of two that claim the same objects at the same time: the older", async () => {
    const older = install("older", { born: 0 });
    const younger = install("younger", { born: 1 });
    await pass(20, older, younger);
    expect([older.state(), younger.state()]).toEqual(["active", "waiting"]);
  });

  it("says after a while that a younger one does not give way", async () => {
    const own = install("own", { born: 0 });
    const stuck = { ...(leases.get("own/tunnel-gateway-operator") as Lease) };
    const metadata = { ...stuck.metadata, namespace: "stuck", creationTimestamp: clock.date().toISOString(), uid: "s" };
    const renew = () => store({ ...stuck, metadata, spec: { ...stuck.spec, renewTime: String(clock.now()) } });
    renew();
    await pass(60, own, { renew });
    expect(own.claim.problem).toContain("in namespace stuck has the same objects");
    expect([own.claim.isWaiting, own.acts()]).toEqual([false, false]);
  });

  it("does not take its former claim for the new one", async () => {
    const first = install("first");
    await first.claim.synced;
    first.renew();
    const second = install("second");
    await clock.advance(1_000);
    leases.delete("first/tunnel-gateway-operator");
    // Its Lease still shows the first claim.
    await clock.advance(60_000);
    expect(second.claim.reason).toBeDefined();
    await passUntilActive(second);
  });

  it("goes on, with a warning, where it may not see the others", async () => {
    const listAll = async () => {
      throw refusal(403);
    };
    const { claim, log } = install("own", { client: { listAll } });
    await claim.synced;
    expect(log.lines.map(({ message }) => message)).toEqual([expect.stringMatching(/^Cannot see/)]);
  });
});

const [a, b] = [
  ["a", "shared"],
  ["b", "shared"],
];

describe("installations of which one or both have listed namespaces", () => {
  it("both work where they have no namespace in common", async () => {
    const [one, other] = [install("one", { watchNamespaces: ["a"] }), install("other", { watchNamespaces: ["b"] })];
    await pass(20, one, other);
    expect([one.acts(), other.acts()]).toEqual([true, true]);
  });

  it("both work where no object has the labels of both", async () => {
    const one = install("one", { watchNamespaces: a, selector: "team=a" });
    const other = install("other", { watchNamespaces: b, selector: "team!=a" });
    await pass(20, one, other);
    expect([one.acts(), other.acts()]).toEqual([true, true]);
  });

  it("the one that comes later waits, and goes on when the first has ended", async () => {
    const first = install("first", { watchNamespaces: a });
    await passUntilActive(first);
    const second = install("second", { watchNamespaces: b });
    await pass(60, first, second);
    expect([first.acts(), second.acts(), second.claim.isWaiting]).toEqual([true, false, true]);
    expect(second.claim.problem).toContain('installation "default" in namespace first has the same objects');
    await first.end();
    expect(first.copies()).toEqual([]);
    expect(await passUntilActive(second)).toBeLessThan(35);
  });

  it("of two that start at the same time, the older goes on", async () => {
    const [one, other] = [install("one", { watchNamespaces: a }), install("other", { watchNamespaces: b })];
    await pass(30, one, other);
    expect([one.acts(), other.acts()].filter(Boolean)).toHaveLength(1);
    expect([one.claim.isWaiting, other.claim.isWaiting].filter(Boolean)).toHaveLength(1);
  });

  it("one of all namespaces that comes later waits", async () => {
    const first = install("first", { watchNamespaces: a });
    await passUntilActive(first);
    const all = install("all");
    await pass(60, first, all);
    expect([first.acts(), all.acts()]).toEqual([true, false]);
    expect(all.claim.problem).toContain("in namespace first");
    await first.end();
    await passUntilActive(all);
  });

  it("the one with listed namespaces waits for one of all that was there before, which it cannot see", async () => {
    const all = install("all");
    await passUntilActive(all);
    const second = install("second", { watchNamespaces: a });
    await pass(60, all, second);
    expect([all.acts(), second.acts(), second.claim.isWaiting]).toEqual([true, false, true]);
    expect(second.claim.problem).toContain("in namespace all");
    expect(all.copies()).toEqual(["second/tunnel-gateway-operator.all"]);
    await all.end();
    await passUntilActive(second);
  });

  it("three: two that are apart work, and one that has objects of both waits for both", async () => {
    const one = install("one", { watchNamespaces: ["a"] });
    const other = install("other", { watchNamespaces: ["b"] });
    await pass(20, one, other);
    const third = install("third", { watchNamespaces: ["a", "b"] });
    await pass(30, one, other, third);
    expect([one.acts(), other.acts(), third.acts()]).toEqual([true, true, false]);
    await one.end();
    await pass(60, other, third);
    expect(third.claim.problem).toContain("in namespace other");
    await other.end();
    await passUntilActive(third);
  });

  it("one that starts again does not wait for answers, and finds a copy that was written while it was away", async () => {
    const first = install("first", { watchNamespaces: ["a"] });
    await passUntilActive(first);
    await first.end();
    const again = install("first", { watchNamespaces: ["a"] });
    await pass(2, again);
    expect(again.acts()).toBe(true);
    await again.end();
    const all = install("all");
    await pass(2, all);
    expect(all.acts()).toBe(true);
    const last = install("first", { watchNamespaces: ["a"] });
    await pass(60, all, last);
    expect([all.acts(), last.acts()]).toEqual([true, false]);
  });

  it("one of all namespaces sees one that starts before it could see the copy", async () => {
    const first = install("first", { watchNamespaces: ["a"] });
    await passUntilActive(first);
    await first.end();
    let again: Installed | undefined;
    const works = clientOf(undefined);
    const apply = (async (type: ResourceType, lease: Lease) => {
      if (!again) {
        again = install("first", { watchNamespaces: ["a"] });
        await again.claim.synced;
      }
      return works.apply(type, lease);
    }) as Client["apply"];
    const all = install("all", { client: { apply } });
    await pass(4, all);
    expect([again?.acts(), all.acts()]).toEqual([true, false]);
  });

  it("one that was killed before it had waited for answers waits for them at its next start", async () => {
    const first = install("first", { watchNamespaces: ["a"] });
    await pass(4, first);
    await first.kill();
    const again = install("first", { watchNamespaces: ["a"] });
    await pass(4, again);
    expect(again.acts()).toBe(false);
    await pass(10, again);
    expect(again.acts()).toBe(true);
  });

  it("one that was killed counts until its copies have expired, and at later starts no more", async () => {
    const first = install("first", { watchNamespaces: a });
    await passUntilActive(first);
    await first.kill();
    const second = install("second", { watchNamespaces: b });
    const passed = await passUntilActive(second);
    expect(passed).toBeGreaterThan(170);
    expect(passed).toBeLessThan(250);
    await second.end();
    const again = install("second", { watchNamespaces: b });
    await pass(4, again);
    expect(again.acts()).toBe(true);
  });

  it("one whose Lease expired while it claimed claims again", async () => {
    const one = install("one", { watchNamespaces: ["a"] });
    await pass(4, one);
    one.wake();
    await pass(8, one);
    const failures = one.log.lines.filter(({ message }) => message === "Could not start yet");
    expect(failures).toMatchObject([{ fields: { error: { message: "The Lease expired meanwhile" } } }]);
    expect(one.acts()).toBe(true);
  });

  it("one that was cut off while another took over sends nothing, and gives way as soon as it sees that", async () => {
    const cut = { isOff: false };
    const first = install("first", { watchNamespaces: a, client: cutOff(cut, [...a, "first"]) });
    await passUntilActive(first);
    const second = install("second", { watchNamespaces: b });
    await pass(10, first, second);
    cut.isOff = true;
    await passUntilActive(second);
    expect([first.acts(), second.acts(), first.lost()]).toEqual([false, true, undefined]);
    cut.isOff = false;
    await pass(8, first, second);
    expect([first.acts(), second.acts()]).toEqual([false, true]);
    expect(first.lost()).toContain("in namespace second");
  });
});

/** Writes, and renews, what looks like the Lease, or a copy of the Lease, of an installation that works. */
function forge(namespace: string, { of, isCopy = true }: { of: string; isCopy?: boolean }): () => Lease {
  const { spec, metadata } = leases.get(of) as Lease;
  const said = { name: "x", namespaces: [namespace], claim: "active", attempt: 1 };
  const origin = isCopy ? { home: "x", born: "0" } : {};
  return () =>
    store({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        namespace,
        name: "forged",
        labels: metadata.labels,
        annotations: { "tunnelgateway.dev/installation": JSON.stringify({ ...said, ...origin }) },
      },
      spec: { ...spec, renewTime: String(clock.now()) },
    } as Lease);
}

describe("an installation that works", () => {
  it("sends nothing after its Lease had expired, until it has looked everywhere, and gives way to who has begun", async () => {
    const first = install("first", { watchNamespaces: ["a", "shared"] });
    await passUntilActive(first);
    const { metadata, spec } = leases.get("shared/tunnel-gateway-operator.first") as Lease;
    first.wake();
    expect(first.acts()).toBe(false);
    await pass(4, first);
    expect(first.acts()).toBe(true);
    const said = { name: "default", namespaces: ["shared"], claim: "active", attempt: 1, home: "second", born: "9" };
    const annotations = { "tunnelgateway.dev/installation": JSON.stringify(said) };
    store({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      spec: { ...spec, renewTime: "now" },
      metadata: {
        namespace: "shared",
        name: "tunnel-gateway-operator.second",
        labels: metadata.labels,
        annotations,
      } as never,
    });
    await pass(8, first);
    expect(first.acts()).toBe(true);
    first.wake();
    await pass(8, first);
    expect(first.lost()).toContain("in namespace second has the same objects");
    expect(first.acts()).toBe(false);
  });

  it("gives way to one that has begun while its copy was missing", async () => {
    const first = install("first", { watchNamespaces: a });
    await passUntilActive(first);
    await pass(4, first);
    leases.delete("shared/tunnel-gateway-operator.first");
    const second = install("second", { watchNamespaces: b });
    await passUntilActive(second, first);
    await pass(60, first, second);
    expect([first.acts(), second.acts()]).toEqual([false, true]);
    expect(first.lost()).toContain("in namespace second");
  });

  it("gives way to an older one that it had not seen, and not to a younger one", async () => {
    let isBlind = true;
    const none = { items: [], resourceVersion: "" };
    const listAll = (async (type: ResourceType, options: ListOptions) =>
      isBlind ? none : clientOf(undefined).listAll(type, options)) as Client["listAll"];
    const older = install("older", { born: 0, client: { listAll } });
    const younger = install("younger", { born: 1, client: { listAll } });
    await pass(8, older, younger);
    expect([older.acts(), younger.acts()]).toEqual([true, true]);
    isBlind = false;
    await pass(8, older, younger);
    expect([older.lost(), older.acts(), younger.acts()]).toEqual([undefined, true, false]);
    expect(younger.lost()).toContain("in namespace older has the same objects");
  });

  it("is not stopped by what somebody writes to a watched namespace", async () => {
    const first = install("first", { watchNamespaces: ["a"] });
    await passUntilActive(first);
    await pass(120, first, { renew: forge("a", { of: "a/tunnel-gateway-operator.first" }) });
    expect([first.lost(), first.acts()]).toEqual([undefined, true]);
  });

  it("is ended by somebody who may delete its copy in a watched namespace, and write a Lease there", async () => {
    const first = install("first", { watchNamespaces: ["a"] });
    await passUntilActive(first);
    const forged = { renew: forge("a", { of: "a/tunnel-gateway-operator.first" }) };
    await pass(60, first, forged);
    expect(first.acts()).toBe(true);
    leases.delete("a/tunnel-gateway-operator.first");
    await pass(70, first, forged);
    expect(first.acts()).toBe(false);
    expect(first.lost()).toContain("has the same objects (Lease a/forged)");
  });

  it("of all namespaces, is ended by somebody who may change a Lease that is older than its own", async () => {
    store({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "a", name: "forged", creationTimestamp: new Date(0).toISOString() },
    });
    const all = install("all", { born: 1 });
    await passUntilActive(all);
    await pass(10, all, { renew: forge("a", { of: "all/tunnel-gateway-operator", isCopy: false }) });
    expect(all.lost()).toContain("has the same objects (Lease a/forged)");
  });

  it("writes each copy once a minute, and nothing else", async () => {
    const one = install("one", { watchNamespaces: ["a", "b"] });
    await passUntilActive(one);
    await pass(10, one);
    writes = [];
    await pass(600, one);
    expect(writes.filter((key) => key.startsWith("a/"))).toHaveLength(10);
    expect(new Set(writes)).toEqual(new Set(["a/tunnel-gateway-operator.one", "b/tunnel-gateway-operator.one"]));
    expect(one.acts()).toBe(true);
  });

  it("goes on without a namespace that does not exist, and writes its copy when there is one", async () => {
    missing.add("b");
    const one = install("one", { watchNamespaces: ["a", "b"] });
    await passUntilActive(one);
    expect(one.copies()).toEqual(["a/tunnel-gateway-operator.one"]);
    missing.clear();
    await pass(20, one);
    expect(one.copies()).toContain("b/tunnel-gateway-operator.one");
    expect(one.acts()).toBe(true);
  });

  it.each([400, 403, 422])("goes on without a namespace that answers %d to its copy", async (status) => {
    const one = install("one", { watchNamespaces: ["a", "b"] });
    await passUntilActive(one);
    refusing.set("b", status);
    await pass(400, one);
    expect([one.acts(), one.claim.problem]).toEqual([true, undefined]);
    const { "Could not write a copy of the Lease": warnings } = Object.groupBy(one.log.lines, ({ message }) => message);
    expect(warnings).toHaveLength(1);
    const rival = install("rival", { watchNamespaces: ["a"] });
    await pass(60, one, rival);
    expect([one.acts(), rival.acts()]).toEqual([true, false]);
  });

  it("says why it sends nothing when a namespace fails to take its copy, until it does", async () => {
    const one = install("one", { watchNamespaces: ["a", "b"] });
    await passUntilActive(one);
    refusing.set("b", 500);
    await pass(100, one);
    expect([one.acts(), one.claim.problem]).toEqual([true, undefined]);
    await pass(150, one);
    expect([one.acts(), one.claim.problem]).toEqual([false, "installation default: refused"]);
    refusing.clear();
    await pass(10, one);
    expect([one.acts(), one.claim.problem]).toEqual([true, undefined]);
    // What failed before says nothing about a later interruption.
    one.wake();
    expect([one.acts(), one.claim.problem]).toEqual([false, undefined]);
  });

  it("sends nothing while its copies may count as expired", async () => {
    const cut = { isOff: false };
    const one = install("one", { watchNamespaces: ["a"], client: cutOff(cut, ["a", "one"]) });
    await passUntilActive(one);
    await pass(4, one);
    cut.isOff = true;
    await pass(100, one);
    expect(one.acts()).toBe(true);
    await pass(100, one);
    expect(one.acts()).toBe(false);
    cut.isOff = false;
    await pass(10, one);
    expect(one.acts()).toBe(true);
  });

  it("takes its copy from where the other installation is no more", async () => {
    const all = install("all", { selector: "team=a" });
    await passUntilActive(all);
    const second = install("second", { watchNamespaces: ["a"] });
    await pass(20, all, second);
    expect(all.copies()).toEqual(["second/tunnel-gateway-operator.all"]);
    await second.end();
    leases.delete("second/tunnel-gateway-operator");
    await pass(8, all);
    expect(all.copies()).toEqual([]);
  });
});
