import { beforeEach, describe, expect, it } from "vitest";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Account } from "../../account/account.ts";
import { RequestBudget } from "../../account/requests/request-budget.ts";
import { reservedDomains, tunnelGroupBackends } from "../../gateway/resources/index.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { resync } from "./resync.ts";

const kinds: Kind[] = [ReservedDomain, TunnelGroupBackend];
const SECONDS = 300;

let clock: VirtualClock;
let gateway: FakeGateway;
let account: Account;
let other: Account;
let objects: ManagedObject[];
let stopping: AbortController;

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  objects = [];
  stopping = new AbortController();
  account = accountWith(new RequestBudget({ perMinute: 0, clock }));
});

const accountWith = (budget: RequestBudget): Account =>
  new Account({
    client: gateway.asClient(),
    clock,
    budget,
    signal: stopping.signal,
    undocumented: true,
    deletesPerMinute: 0,
    assertMaySend: () => {},
  });

function add(kind: string, id?: string, of?: string): void {
  const metadata = { name: `of-${id}`, namespace: "team-a", uid: `uid-${id}`, generation: 1 };
  const status = { ...(id && { id }), account: of };
  objects.push({ apiVersion: "tunnelgateway.dev/v1", kind, metadata, spec: {}, status });
}

/** Starts the resync with these random numbers, one for each wait. Returns the function that stops it. */
function begin(...randoms: number[]): () => Promise<void> {
  const informers = new Map(
    kinds.map(({ kind }) => [kind, { store: { list: () => objects.filter((object) => object.kind === kind) } }]),
  );
  const ended = resync(
    {
      kinds,
      informers,
      clock,
      log: recordingLogger(),
      resyncSeconds: SECONDS,
      accounts: { accountOf: ({ status }) => (status?.account ? other : account), most: 2 },
      random: () => randoms.shift() ?? 0.5,
    },
    stopping.signal,
  );
  return () => {
    stopping.abort();
    return ended;
  };
}

/** The resources that are listed within the next seconds. */
async function listedWithin(seconds: number): Promise<string[]> {
  await clock.advance(seconds * 1000);
  return gateway.calls.splice(0).map(({ resource }) => resource);
}

describe("a resync", () => {
  it("lists each resource once per interval, also the first time, and not all at the same time", async () => {
    add("ReservedDomain", "rd_1");
    add("TunnelGroupBackend", "bkdtg_1");
    const end = begin(0, 1);
    expect(await listedWithin(269)).toEqual([]);
    expect(await listedWithin(2)).toEqual(["reserved_domains"]);
    expect(await listedWithin(58)).toEqual([]);
    expect(await listedWithin(2)).toEqual(["tunnel_group_backends"]);
    expect((await listedWithin(SECONDS)).sort()).toEqual(["reserved_domains", "tunnel_group_backends"]);
    await end();
    expect(clock.pending).toBe(0);
  });

  it("lists certificates where a domain may serve one, although no object stands for one", async () => {
    kinds.push(TLSCertificate);
    const end = begin(0.5, 0.5, 0.5);
    expect(await listedWithin(SECONDS)).toEqual([]);
    add("ReservedDomain", "rd_1");
    expect((await listedWithin(SECONDS)).sort()).toEqual(["reserved_domains", "tls_certificates"]);
    await end();
    kinds.pop();
  });

  it("leaves out a resource that was listed shortly before", async () => {
    add("ReservedDomain", "rd_1");
    const end = begin();
    await clock.advance((SECONDS - 60) * 1000);
    await account.collection(reservedDomains).listed(clock.now(), { lane: "edit" });
    gateway.takeCalls();
    expect(await listedWithin(120)).toEqual([]);
    expect(await listedWithin(SECONDS)).toEqual(["reserved_domains"]);
    await end();
  });

  it("leaves out a resource that has no remote of an object", async () => {
    add("ReservedDomain");
    const end = begin();
    expect(await listedWithin(3 * SECONDS)).toEqual([]);
    await end();
  });

  it("lists an account while another one waits for its budget", async () => {
    const budget = new RequestBudget({ perMinute: 1, clock });
    other = accountWith(budget);
    add("ReservedDomain", "rd_1");
    add("ReservedDomain", "rd_2", "other");
    budget.pauseAfter429(600);
    const end = begin();
    expect(await listedWithin(SECONDS + 1)).toEqual(["reserved_domains"]);
    expect(await listedWithin(SECONDS - 10)).toEqual([]);
    expect(await listedWithin(20)).toEqual(["reserved_domains", "reserved_domains"]);
    await end();
  });

  it("repeats a list that failed after the next interval", async () => {
    add("TunnelGroupBackend", "bkdtg_1");
    gateway.refuse("list", 503);
    const end = begin();
    expect(await listedWithin(SECONDS + 1)).toEqual(["tunnel_group_backends"]);
    expect(account.collection(tunnelGroupBackends).listedAt).toBeUndefined();
    expect(await listedWithin(SECONDS)).toEqual(["tunnel_group_backends"]);
    await settle();
    expect(account.collection(tunnelGroupBackends).listedAt).toBeDefined();
    await end();
  });
});
