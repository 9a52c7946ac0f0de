import type { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Account } from "../../account/account.ts";
import { RequestBudget } from "../../account/requests/request-budget.ts";
import { ipPolicies, reservedDomains, sshHostCertificates, tlsCertificates } from "../../gateway/resources/index.ts";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject, Status } from "../../objects/object.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import type { MetricSources } from "./metric-sources.ts";
import { createTelemetry, type Telemetry } from "./telemetry.ts";

let clock: VirtualClock;
let gateway: FakeGateway;
let objects: ManagedObject[];
let telemetry: Telemetry;
let registry: Registry;
let own: Account;

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  objects = [];
  telemetry = createTelemetry({ version: "1.2.3", resyncSeconds: 300, requestsPerMinute: 100 });
  registry = telemetry.registry;
  own = accountOf();
  setSources();
});

const accountOf = (): Account =>
  new Account({
    client: gateway.asClient(),
    clock,
    budget: new RequestBudget({ perMinute: 0, clock }),
    undocumented: true,
    deletesPerMinute: 0,
    assertMaySend: () => {},
    signal: new AbortController().signal,
  });

function setSources(
  accounts: MetricSources["accounts"] = { accountOf: () => own, most: 1, labelOf: () => "" },
  watches: MetricSources["watches"] = new Map(),
): void {
  const informers = new Map(
    kinds.map(({ kind }) => [kind, { store: { list: () => objects.filter((object) => object.kind === kind) } }]),
  );
  telemetry.operator.setSources({ kinds, informers, counted: informers, watches, accounts, clock });
}

function add(kind: string, name: string, status: Status): ManagedObject {
  const metadata = { name, namespace: "team-a", uid: `uid-${name}`, generation: 1 };
  const object: ManagedObject = { apiVersion: "tunnelgateway.dev/v1", kind, metadata, spec: {}, status };
  objects.push(object);
  return object;
}

/** The series of a metric, without its name. */
async function series(name: string): Promise<string[]> {
  const lines = (await registry.metrics()).split("\n");
  return lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
}

const condition = (reason: string) => ({
  ...({ type: "Ready", status: "True", reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" } as const),
});

describe("objects", () => {
  it("are counted by kind and reason, also those that were never reconciled", async () => {
    add("IPPolicy", "a", { conditions: [condition("Available")] });
    add("IPPolicy", "b", { conditions: [condition("Available")] });
    add("TCPEdge", "c", {});
    expect(await series("tunnelgateway_resources")).toEqual([
      '{kind="IPPolicy",ready="True",reason="Available"} 2',
      '{kind="TCPEdge",ready="Unknown",reason="Pending"} 1',
    ]);
  });

  it("that wait for a person are counted by reason", async () => {
    const stalled = { ...condition("InvalidSpec"), type: "Stalled" };
    add("IPPolicy", "a", { conditions: [{ ...condition("InvalidSpec"), status: "False" }, stalled] });
    add("IPPolicy", "b", { conditions: [condition("Available"), stalled] });
    add("TCPEdge", "c", { conditions: [condition("Available")] });
    add("TCPEdge", "d", { conditions: [{ ...stalled, status: "False" }] });
    expect(await series("tunnelgateway_stalled_objects")).toEqual(['{kind="IPPolicy",reason="InvalidSpec"} 2']);
  });

  it("have no series after their deletion", async () => {
    add("IPPolicy", "a", { conditions: [condition("Available")] });
    await series("tunnelgateway_resources");
    objects = [];
    expect(await series("tunnelgateway_resources")).toEqual([]);
  });
});

describe("certificates", () => {
  const expiry = "tunnelgateway_certificate_expiry_timestamp_seconds";
  const start = "tunnelgateway_certificate_start_timestamp_seconds";

  it.each([
    ["TLSCertificate", { notBefore: "2026-01-01T00:00:00Z", notAfter: "2026-04-01T00:00:00Z" }],
    ["CertificateAuthority", { notBefore: "2026-01-01T00:00:00Z", notAfter: "2026-04-01T00:00:00Z" }],
    ["SSHHostCertificate", { validAfter: "2026-01-01T00:00:00Z", validUntil: "2026-04-01T00:00:00Z" }],
  ])("show from when until when they are valid: %s", async (kind, status) => {
    add(kind, "shop", status);
    const labels = `{kind="${kind}",object_namespace="team-a",object_name="shop"}`;
    expect(await series(start)).toEqual([`${labels} ${Date.UTC(2026, 0) / 1000}`]);
    expect(await series(expiry)).toEqual([`${labels} ${Date.UTC(2026, 3) / 1000}`]);
  });

  it("have no series before the end is known, and none after they are gone", async () => {
    const made = add("TLSCertificate", "shop", { id: "cert_1" });
    expect(await series(expiry)).toEqual([]);
    made.status = { notAfter: "2026-04-01T00:00:00Z" };
    expect(await series(expiry)).toHaveLength(1);
    objects = [];
    expect(await series(expiry)).toEqual([]);
  });
});

describe("certificates without an object", () => {
  const expiry = "tunnelgateway_certificate_expiry_timestamp_seconds";
  const days = (count: number) => new Date(clock.date().getTime() + count * 86_400_000).toISOString();
  const seconds = (count: number) => Date.parse(days(count)) / 1000;

  async function served(...certificates: { id: string; of: number; left: number }[]): Promise<void> {
    for (const { id, of, left } of certificates) {
      gateway.put(tlsCertificates, { id, not_before: days(left - of), not_after: days(left) });
      gateway.put(reservedDomains, { id: `rd_${id}`, certificate: { id, uri: "" } });
    }
    add("ReservedDomain", "shop", { id: "rd_1" });
    for (const resource of [tlsCertificates, reservedDomains])
      await own.collection(resource).listed(clock.now(), { lane: "sync" });
  }

  it("have one series for each account and kind, for the one that ends first", async () => {
    await served({ id: "cert_1", of: 90, left: 60 }, { id: "cert_2", of: 90, left: 50 });
    expect(await series(expiry)).toEqual([`{kind="TLSCertificate",account=""} ${seconds(50)}`]);
  });

  it("with a late renewal come before others, whatever ends first", async () => {
    await served({ id: "cert_1", of: 7, left: 5 }, { id: "cert_2", of: 90, left: 10 });
    expect(await series(expiry)).toEqual([`{kind="TLSCertificate",account=""} ${seconds(10)}`]);
  });

  it("count after they have expired, as long as they are served", async () => {
    await served({ id: "cert_1", of: 90, left: -1 });
    expect(await series(expiry)).toEqual([`{kind="TLSCertificate",account=""} ${seconds(-1)}`]);
  });

  it("do not count when nothing uses them, or when they have an object", async () => {
    gateway.put(tlsCertificates, { id: "cert_unused", not_before: days(-80), not_after: days(10) });
    await served({ id: "cert_1", of: 90, left: 10 });
    add("TLSCertificate", "shop", { id: "cert_1" });
    expect(await series(expiry)).toEqual([]);
  });

  it("of hosts count until they end, because the account does not show who uses them", async () => {
    gateway.put(sshHostCertificates, { id: "shcrt_1", valid_after: days(-80), valid_until: days(-1) });
    gateway.put(sshHostCertificates, { id: "shcrt_2", valid_after: days(-80), valid_until: days(10) });
    add("SSHHostCertificate", "mine", { id: "shcrt_3" });
    await own.collection(sshHostCertificates).listed(clock.now(), { lane: "sync" });
    expect(await series(expiry)).toEqual([`{kind="SSHHostCertificate",account=""} ${seconds(10)}`]);
  });
});

describe("the renewal of a managed certificate", () => {
  it("has the time that the service says", async () => {
    add("ReservedDomain", "shop", { certificateManagementStatus: { renewsAt: "2026-04-01T00:00:00Z" } });
    add("ReservedDomain", "plain", {});
    expect(await series("tunnelgateway_certificate_renewal_timestamp_seconds")).toEqual([
      `{kind="ReservedDomain",object_namespace="team-a",object_name="shop"} ${Date.UTC(2026, 3) / 1000}`,
    ]);
  });
});

describe("the age of the inventory", () => {
  const age = "tunnelgateway_inventory_age_seconds";

  it("counts from the beginning of the latest list", async () => {
    add("IPPolicy", "a", { id: "ipp_1" });
    expect(await series(age)).toEqual([]);
    await own.collection(ipPolicies).listed(clock.now(), { lane: "sync" });
    await clock.advance(90_000);
    expect(await series(age)).toEqual(['{account="",resource="ip_policies"} 90']);
    await own.collection(ipPolicies).listed(clock.now(), { lane: "sync" });
    expect(await series(age)).toEqual(['{account="",resource="ip_policies"} 0']);
  });

  it("is shown for each account", async () => {
    const other = accountOf();
    add("IPPolicy", "a", { id: "ipp_1" });
    add("IPPolicy", "b", { id: "ipp_2", account: "second" });
    setSources({
      accountOf: ({ status }) => (status?.account ? other : own),
      most: 2,
      labelOf: (account) => (account === other ? "team-a/second" : ""),
    });
    await own.collection(ipPolicies).listed(clock.now(), { lane: "sync" });
    await clock.advance(10_000);
    await other.collection(ipPolicies).listed(clock.now(), { lane: "sync" });
    expect(await series(age)).toEqual([
      '{account="",resource="ip_policies"} 10',
      '{account="team-a/second",resource="ip_policies"} 0',
    ]);
  });

  it("has no series after the last object with such a remote is gone", async () => {
    add("IPPolicy", "a", { id: "ipp_1" });
    await own.collection(ipPolicies).listed(clock.now(), { lane: "sync" });
    objects = [];
    expect(await series(age)).toEqual([]);
  });

  it("leaves out an object whose account does not exist", async () => {
    add("IPPolicy", "a", { id: "ipp_1" });
    setSources({
      accountOf() {
        throw new Waiting("AccountNotReady", "Create it");
      },
      most: 1,
      labelOf: () => "",
    });
    expect(await series(age)).toEqual([]);
  });
});

describe("watches", () => {
  it("are shown by kind, connected or not", async () => {
    const all = { namespaces: [""], isConnectedIn: () => false };
    const watches = new Map([
      ["IPPolicy", { ...all, isConnected: true }],
      ["TCPEdge", { ...all, isConnected: false }],
    ]);
    setSources(undefined, watches);
    expect(await series("tunnelgateway_watch_connected")).toEqual(['{kind="IPPolicy"} 1', '{kind="TCPEdge"} 0']);
    expect(await series("tunnelgateway_namespace_connected")).toEqual([]);
  });

  it("are shown by namespace, with all of their kinds connected or not", async () => {
    const watch = (namespaces: string[], broken: string[]) => ({
      namespaces,
      isConnected: broken.length === 0,
      isConnectedIn: (namespace: string) => !broken.includes(namespace),
    });
    const watches = new Map([
      ["IPPolicy", watch(["a", "b"], [])],
      ["TCPEdge", watch(["a", "b"], ["b"])],
      ["TunnelSession", watch(["a", "b", "home"], [])],
    ]);
    setSources(undefined, watches);
    expect(await series("tunnelgateway_namespace_connected")).toEqual([
      ...['{namespace="a"} 1', '{namespace="b"} 0', '{namespace="home"} 1'],
    ]);
  });
});

describe("requests", () => {
  it("are counted by resource, method and status code, or the reason why there was none", async () => {
    const route = "/ip_policies/{id}";
    const about = { method: "GET", route, path: "/ip_policies/ipp_1", resource: "ip_policies", seconds: 0.2 };
    telemetry.operator.onExchange({ ...about, status: 200, outcome: "ok" });
    telemetry.operator.onExchange({ ...about, outcome: "unknown" });
    expect(await series("tunnelgateway_remote_requests_total")).toEqual([
      '{resource="ip_policies",method="GET",code="200"} 1',
      '{resource="ip_policies",method="GET",code="unknown"} 1',
    ]);
    expect(await series("tunnelgateway_remote_request_duration_seconds_count")).toEqual(['{method="GET"} 2']);
  });

  it("are counted by lane with the time that they waited", async () => {
    telemetry.operator.onTurn("sync", 1.5);
    telemetry.operator.onTurn("sync", 2);
    telemetry.operator.onTurn("edit", 0);
    expect(await series("tunnelgateway_request_budget_used_total")).toEqual([
      '{lane="edit"} 1',
      '{lane="retry"} 0',
      '{lane="sync"} 2',
    ]);
    expect(await series("tunnelgateway_remote_throttled_seconds_total")).toContain('{lane="sync"} 3.5');
  });
});

it("shows the version of the operator and its settings", async () => {
  const text = await registry.metrics();
  expect(text).toContain('tunnelgateway_build_info{version="1.2.3"} 1');
  expect(text).toContain("tunnelgateway_resync_interval_seconds 300");
  expect(text).toContain("tunnelgateway_request_budget_per_minute 100");
});
