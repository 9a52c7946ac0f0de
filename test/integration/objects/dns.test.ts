import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUILD_MS, externalDNSBinary } from "../../../tools/cluster/build/build.ts";
import { Bind } from "../../../tools/dns/bind.ts";
import { definition, ExternalDNS } from "../../../tools/dns/external-dns.ts";
import { bindPrograms, withoutBind } from "../../../tools/dns/programs.ts";
import { conditionOf, type KubeJSON } from "../../../tools/shared/objects.ts";
import { Page } from "../../e2e/support/page.ts";
import { pluginShell } from "../../e2e/support/plugin-shell.ts";
import { command } from "../../support/command.ts";
import { DNSServer } from "../../support/dns-server.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { manifestOf } from "../../support/samples.ts";
import { useWorld, World } from "../../support/world.ts";

/** A minute, the time between two questions for a name, takes six seconds. */
const RATE = 10;

const world = useWorld({ process: true, startOperator: false });
let dns: DNSServer;

beforeAll(async () => {
  dns = await DNSServer.start();
  const env = { DNS_RESOLVERS: dns.address, EXTERNAL_DNS_NAMESPACES: "*", REQUEST_TIMEOUT: "300s" };
  await world.startOperator(env, { clock: { rate: RATE } });
});
afterAll(async () => {
  await world.cluster.kubectlRun(["delete", "--ignore-not-found", "-f", definition]);
  await dns[Symbol.asyncDispose]();
});

const rowOf = (domain: string) =>
  world.simulator.control.objects("reserved_domains").find((row) => row["domain"] === domain) as Record<string, string>;

test("the status and the wide columns have the records that must exist, before there is a certificate", async () => {
  const wildcard = manifestOf({
    kind: "ReservedDomain",
    name: "wildcard",
    spec: { domain: "*.records.dns-error.example", certificateManagementPolicy: {} },
  });
  const ingress = manifestOf({ kind: "AgentIngress", name: "agents", spec: { domain: "agents.example.org" } });
  await world.kube.apply(wildcard, ingress);
  const { status } = await world.condition("ReservedDomain", "wildcard", { type: "CertificateReady", status: "False" });
  const { cname_target: target, acme_challenge_cname_target: challenge } = rowOf("*.records.dns-error.example");
  expect(status.dnsRecords).toEqual([
    { name: "*.records.dns-error.example", type: "CNAME", targets: [target] },
    { name: "_acme-challenge.records.dns-error.example", type: "CNAME", targets: [challenge] },
  ]);
  const { stdout } = await world.kubectl("get", "gwrd", "wildcard", "-o", "wide");
  expect(stdout).toContain(target);
  const agents = await world.ready("AgentIngress", "agents");
  const servers = ["ns-1.gateway-dns.example", "ns-2.gateway-dns.example"];
  expect(agents.status.dnsRecords).toEqual([{ name: "agents.example.org", type: "NS", targets: servers }]);
  expect((await world.kubectl("get", "gwagin", "agents", "-o", "wide")).stdout).toContain(servers[0]);
});

const domain = (name: string, spec: object): KubeJSON =>
  manifestOf({ kind: "ReservedDomain", name, spec: { domain: `${name}.example.org`, ...spec } });
const endpoint = (name: string) => world.kube.get("DNSEndpoint", `reserveddomain-${name}`);
const dnsReady = (name: string, reason: string) =>
  world.condition("ReservedDomain", name, { type: "DNSReady", reason });
const externalDNS = { ttl: 60, labels: { zone: "public" }, annotations: { note: "shop" } };

test("without the definition of DNSEndpoint a condition says so, nothing else fails, and the definition is noticed later", async () => {
  const shop = domain("shop", { certificateManagementPolicy: {}, dns: { externalDNS } });
  await world.kube.apply(shop);
  await world.ready("ReservedDomain", "shop");
  const before = await dnsReady("shop", "DNSEndpointNotWritten");
  expect(conditionOf(before, "DNSReady").message).toMatch(
    /^Install the CustomResourceDefinition dnsendpoints.externaldns.k8s.io/,
  );
  await world.cluster.kubectlRun(["apply", "-f", definition]);
  const { metadata, spec } = await world.until("the DNSEndpoint of shop", () =>
    endpoint("shop").catch(() => undefined),
  );
  const targets = [rowOf("shop.example.org")["cname_target"]];
  expect(spec).toEqual({ endpoints: [{ dnsName: "shop.example.org", recordType: "CNAME", targets, recordTTL: 60 }] });
  expect(metadata).toMatchObject({ labels: externalDNS.labels, annotations: externalDNS.annotations });
  expect(metadata.ownerReferences).toMatchObject([{ kind: "ReservedDomain", name: "shop", uid: before.metadata.uid }]);
  expect(metadata.managedFields).toMatchObject([{ manager: "tunnel-gateway-operator", operation: "Apply" }]);
});

test("the record is checked, and a settled object costs no write", async () => {
  await dnsReady("shop", "DNSRecordMissing");
  const [target = ""] = (await endpoint("shop"))?.["spec"].endpoints[0].targets ?? [];
  dns.zone.set("CNAME shop.example.org", [target]);
  await world.condition("ReservedDomain", "shop", { type: "DNSReady", status: "True" });
  await world.quiet();
  const [asked, before] = [dns.asked.length, (await world.operator.clusterRequests()).writes];
  await world.until("another look at the record", async () => dns.asked.length > asked);
  await world.quiet();
  expect((await world.operator.clusterRequests()).writes).toBe(before);
});

test("a change of the DNSEndpoint by another client is corrected", async () => {
  const shop = domain("shop", {});
  await world.kube.patch("DNSEndpoint", "reserveddomain-shop", { spec: { endpoints: [] } });
  await world.reconcileNow(shop);
  expect((await endpoint("shop"))?.["spec"].endpoints).toHaveLength(1);
});

test("a DNSEndpoint of somebody else is left alone", async () => {
  const foreign = { endpoints: [{ dnsName: "a.example.org", recordType: "A", targets: ["192.0.2.1"] }] };
  await world.kube.create({
    apiVersion: "externaldns.k8s.io/v1alpha1",
    kind: "DNSEndpoint",
    spec: foreign,
    metadata: { name: "reserveddomain-taken" },
  });
  await world.kube.apply(domain("taken", { dns: { externalDNS } }));
  await world.ready("ReservedDomain", "taken");
  const { status } = await dnsReady("taken", "DNSEndpointNotWritten");
  expect(conditionOf({ status }, "DNSReady").message).toMatch(/exists and is not this object's$/);
  await world.delete("ReservedDomain", "taken");
  expect((await endpoint("taken"))?.["spec"]).toEqual(foreign);
});

test("a deleted domain is released only when its record has gone", async () => {
  await world.delete("ReservedDomain", "shop", "--wait=false");
  const waiting = await world.condition("ReservedDomain", "shop", { type: "Ready", reason: "DNSRecordRemains" });
  expect(conditionOf(waiting, "Ready").message).toMatch(/^Waiting for external-dns to delete the DNS record shop/);
  expect(await endpoint("shop")).toBeUndefined();
  expect(rowOf("shop.example.org")).toBeDefined();
  dns.zone.clear();
  await world.gone("ReservedDomain", "shop");
  expect(rowOf("shop.example.org")).toBeUndefined();
});

test("the DNSEndpoint of a domain that stays in the account outlives the object", async () => {
  await world.kube.apply(domain("kept", { dns: { externalDNS } }));
  await dnsReady("kept", "DNSRecordMissing");
  expect((await endpoint("kept"))?.metadata.ownerReferences).toHaveLength(1);
  await world.kube.annotate("ReservedDomain", "kept", { "tunnelgateway.dev/orphan": "true" });
  await world.delete("ReservedDomain", "kept");
  expect((await endpoint("kept"))?.metadata.ownerReferences).toBeUndefined();
  expect(rowOf("kept.example.org")).toBeDefined();
});

const programs = await bindPrograms();

test("uninstalling with policy retain keeps the records of the domains, whatever is deleted later", async () => {
  const kept = domain("uninstalled", { dns: { externalDNS: {} } });
  await world.kube.apply(kept);
  await dnsReady("uninstalled", "DNSRecordMissing");
  const ownersOf = async () => (await endpoint("uninstalled"))?.metadata.ownerReferences ?? [];
  expect(await ownersOf()).toHaveLength(1);
  await world.operator.stop();
  const env = { WATCH_NAMESPACES: world.namespace };
  const { code, stderr } = await command(world, ["uninstall", "--policy", "retain"], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(await endpoint("uninstalled")).toBeDefined();
  expect(await ownersOf()).toEqual([]);
});

describe.skipIf(!programs)(`external-dns and BIND ${programs ? "" : withoutBind}`, () => {
  const name = "shop.example.org";
  /** The record, as it was when the service got each DELETE. */
  const atDelete: Promise<string[]>[] = [];
  let bind: Bind;
  let externalDNS: ExternalDNS | undefined;
  let story: World<OperatorProcess>;

  beforeAll(async () => {
    if (!programs) return;
    await world.cluster.kubectlRun(["apply", "-f", definition]);
    bind = await Bind.start(programs, "example.org");
    story = new World(
      world.cluster,
      {
        startOperator: false,
        simulator: {
          certificates: { provisionMs: 200, resolver: bind.address },
          onHandled: ({ method }) => method === "DELETE" && atDelete.push(bind.cname(name)),
        },
      },
      OperatorProcess,
    );
    await story.open();
    const env = {
      DNS_RESOLVERS: bind.address,
      EXTERNAL_DNS: "true",
      EXTERNAL_DNS_NAMESPACES: "*",
      REQUEST_TIMEOUT: "300s",
    };
    await story.startOperator(env, { clock: { rate: RATE } });
    await externalDNSBinary();
    // external-dns may have to be built
  }, BUILD_MS);

  afterAll(async () => {
    if (!programs) return;
    await story?.close();
    await externalDNS?.stop();
    await bind?.stop();
  });

  const dnsLog = async (error: Error) => {
    throw new Error(`${error.message}\nexternal-dns:\n${await externalDNS?.lastLines()}`);
  };

  /** Resolves with the object when each of these conditions has this status or reason. */
  const until = (what: string, wanted: Readonly<Record<string, string>>) =>
    story.until(
      what,
      async () => {
        const object = await story.get("ReservedDomain", "shop");
        const isSo = ([type, text]: [string, string]) => {
          const { status, reason } = conditionOf(object, type) ?? {};
          return text === status || text === reason;
        };
        return Object.entries(wanted).every(isSo) && object;
      },
      90,
    );

  test("make a domain Ready without a person, as the page shows it", async () => {
    await story.kube.apply(domain("shop", { certificateManagementPolicy: {} }));
    const missing = { DNSReady: "DNSRecordMissing", CertificateReady: "CertificateDNSError" };
    const { status: before } = await until("the record is missed", missing);
    const substitutions = new Map([
      ["shop.example.com", name],
      ["2xk4.cname.gateway.example", before.cnameTarget],
    ]);
    await using shell = await pluginShell(story, { substitutions });
    const page = await Page.read("docs/how-to/external-dns.md", shell);
    await page.run("From apply to Ready");

    const { kubeconfig } = world.cluster;
    externalDNS = await ExternalDNS.start({ kubeconfig, namespace: story.namespace, bind });
    const good = { Ready: "True", DNSReady: "True", CertificateReady: "True" };
    const { status } = await until("the record is made, and the certificate is issued", good).catch(dnsLog);
    expect(await bind.cname(name)).toEqual([status.cnameTarget]);
    expect(status.certificate.id).toBe(story.simulator.control.objects("tls_certificates")[0]?.["id"]);
    await page.run("From apply to Ready");
    // the others run in test/e2e/pages/daily.test.ts
    expect(page.unused.filter((block) => block.startsWith("From apply to Ready"))).toEqual([]);
  });

  test("have the record removed before the service gets the DELETE", async () => {
    expect(await bind.cname(name)).toHaveLength(1);
    await story.delete("ReservedDomain", "shop", "--wait=false");
    await story.until("the object is gone", async () => !(await story.get("ReservedDomain", "shop")), 90).catch(dnsLog);
    expect(atDelete).toHaveLength(1);
    expect(await Promise.all(atDelete)).toEqual([[]]);
    expect(story.simulator.control.objects("reserved_domains")).toEqual([]);
  });
});
