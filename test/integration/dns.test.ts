import { expect, test } from "vitest";
import { manifestOf } from "../support/samples.ts";
import { useWorld } from "../support/world.ts";

const world = useWorld();

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
  expect(stdout).toContain(challenge);
  const agents = await world.ready("AgentIngress", "agents");
  const servers = ["ns-1.gateway-dns.example", "ns-2.gateway-dns.example"];
  expect(agents.status.dnsRecords).toEqual([{ name: "agents.example.org", type: "NS", targets: servers }]);
  expect((await world.kubectl("get", "gwagin", "agents", "-o", "wide")).stdout).toContain(servers[0]);
});
