import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { examples } from "../../../tools/shared/examples.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { seeded } from "../../../tools/simulator/random.ts";
import { isOurs } from "../../support/kube.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld({ process: true });

const seed = Number(process.env["EVERYTHING_SEED"] ?? randomInt(2 ** 31));

/** In an order that the seed decides. */
function shuffled<T>(list: readonly T[]): T[] {
  const random = seeded(seed);
  return list
    .map((one) => ({ one, at: random.fraction() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

const row = ({ status }: KubeJSON) => world.simulator.control.get(status.id);
const objects = await examples();
let ready: KubeJSON[] = [];

const find = (kind: string, name: string): KubeJSON =>
  ready.find((object) => object.kind === kind && object.metadata.name === name);
const idOf = (kind: string, name: string): string => find(kind, name).status.id;
const refs = (kind: string, ...names: string[]) =>
  names.map((name) => expect.objectContaining({ id: idOf(kind, name) }));

test("has an object of every kind", () => {
  expect(new Set(objects.filter(isOurs).map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ kind }) => kind)));
});

test(`becomes Ready in any order; this one has EVERYTHING_SEED=${seed}`, async () => {
  for (const object of shuffled(objects)) await world.kube.apply(object);
  ready = await world.allReady(objects);
  // nothing was made twice, however long it had to wait
  const made = world.simulator.control.requests({ method: "POST", status: 201 });
  const elsewhere = ready.filter(({ kind }) => kind === "HTTPSEdgeRoute");
  expect(made).toHaveLength(ready.length - elsewhere.length);
});

test("is in the account as it is in the specs", () => {
  expect(row(find("ReservedDomain", "files"))).toMatchObject({ certificate: { id: idOf("TLSCertificate", "files") } });
  expect(row(find("WeightedBackend", "shop"))).toMatchObject({
    backends: { [idOf("TunnelGroupBackend", "shop")]: 95, [idOf("TunnelGroupBackend", "shop-canary")]: 5 },
  });
  expect(row(find("FailoverBackend", "shop"))).toMatchObject({
    backends: [idOf("WeightedBackend", "shop"), idOf("HTTPResponseBackend", "maintenance")],
  });
  expect(row(find("TCPEdge", "database"))).toMatchObject({
    hostports: [find("ReservedAddress", "database").status.addr],
    backend: { enabled: true, backend: { id: idOf("TunnelGroupBackend", "database") } },
    ip_restriction: { ip_policies: refs("IPPolicy", "office", "support-vpn") },
  });
  expect(row(find("TLSEdge", "shop"))).toMatchObject({
    backend: { enabled: true, backend: { id: idOf("FailoverBackend", "shop") } },
    tls_termination: { enabled: true, terminate_at: "edge", min_version: "1.3" },
    mutual_tls: { certificate_authorities: refs("CertificateAuthority", "partners", "operations") },
  });
  expect(row(find("EventSubscription", "audit"))).toMatchObject({
    sources: [
      expect.objectContaining({ type: "ip_policy_created.v0" }),
      expect.objectContaining({ type: "ip_policy_updated.v0" }),
    ],
    destinations: refs("EventDestination", "archive", "logs", "monitoring"),
  });
});

test("sends nothing once it is settled", async () => {
  await world.quiet();
  const sent = world.changesSent().length;
  await world.restartOperator();
  const { writes } = await world.quiet();
  expect({ writes, sent: world.changesSent().length - sent }).toEqual({ writes: 0, sent: 0 });
});

test("is deleted with its namespace, and leaves nothing", async () => {
  const before = world.changesSent().length;
  await world.cluster.kubectlRun(["delete", "namespace", world.namespace, "--wait=false"]);
  await world.until(
    "the namespace is gone",
    async () => (await world.kube.get("Namespace", world.namespace)) === undefined,
  );
  expect(world.simulator.control.accountIsEmpty()).toBe(true);
  const refused = world
    .changesSent()
    .slice(before)
    .filter(({ status }) => status !== 204);
  // each waits for those that refer to it, rather than try
  expect(refused.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([]);
});
