import { expect, test } from "vitest";
import { customResources } from "../../../src/kinds/index.ts";
import { annotations } from "../../../src/schema/contract.ts";
import { examples } from "../../../tools/shared/examples.ts";
import { managedKinds } from "../../support/kube.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

const WIDTH = 160;

/** What `kubectl get tunnelgateway -A` prints, without the lines of other tests. */
async function table(...args: string[]): Promise<string> {
  const own = ["-A", `--field-selector=metadata.namespace=${world.namespace}`];
  return (await world.cluster.kubectlRun(["get", "tunnelgateway", ...own, ...args])).stdout;
}

/** Whether a value stands in two cells. */
function hasTwice(line: string): boolean {
  const cells = line.split(/ {2,}/).filter((cell) => cell.length > 5);
  return new Set(cells).size < cells.length;
}

const lineOf = (text: string, name: string): string =>
  text.split("\n").find((line) => line.includes(`/${name} `)) ?? `no line of ${name}`;

test("no line of kubectl get is wider than 160 characters, and none has JSON", async () => {
  const objects = await examples();
  for (const object of objects) await world.kube.apply(object);
  const labels = Object.fromEntries(["app", "role", "stage", "team", "zone"].map((key) => [key, `${key}-of-the-shop`]));
  const description = "Offices in Lisbon, Porto and Faro, with both of their uplinks and the tunnel between them";
  const domain = "checkout-of-the-shop.staging.lisbon.example.com";
  await world.apply(
    own("TunnelGroupBackend", "long-labels", { labels }),
    own("IPPolicy", "long-text", { description }),
    own("ReservedDomain", "long-domain", { domain }),
    own("SSHCredential", "long-list", {
      publicKey: objects.find(({ kind }) => kind === "SSHCredential")?.spec.publicKey,
      acl: Array.from({ length: 20 }, (_, index) => `bind:branch-${index}.branches.example.com`),
    }),
  );
  await world.allReady([
    ...objects,
    own("TunnelGroupBackend", "long-labels", {}),
    own("SSHCredential", "long-list", {}),
  ]);
  world.simulator.control.addSession({ ip: "2001:db8:1234:5678:9abc:def0:1234:5678" } as never);
  const shown = await table();
  // The namespace of a test has a long name, which is its own affair.
  const spare = Math.max(world.namespace.length - "NAMESPACE".length, 0);
  expect(shown.split("\n").filter((line) => line.length - spare > WIDTH)).toEqual([]);
  expect(shown).not.toMatch(/[[{]"/);
  expect(lineOf(shown, "long-labels")).toContain("app=app-of-the-shop +4");
  expect(lineOf(shown, "long-text")).toContain("Offices in Lisbon, Porto and Faro, with…");
  const { status } = await world.ready("ReservedDomain", "shop");
  expect(status.cnameTarget).toMatch(/gateway-cname/);
  expect(shown).toContain(status.cnameTarget);
  expect(await table("-o", "wide")).not.toMatch(/[[{]"/);
});

test("no line of kubectl get -o wide is wider than 200 characters, and none says a value twice", async () => {
  const backend = { backendRef: { kind: "TunnelGroupBackend", name: "checkout-of-the-shop-blue" } };
  await world.apply(
    own("TLSEdge", "checkout-of-the-shop", { hostports: ["checkout.staging.example.com:443"], backend }),
    own("TCPEdge", "checkout-of-the-shop", { addressRefs: [{ name: "checkout-of-the-shop" }], backend }),
    own("ReservedDomain", "branches-of-the-shop", {
      domain: "*.branches-of-the-shop.staging.lisbon.example.com",
      certificateManagementPolicy: { authority: "freeca" },
    }),
    own("GatewayAccount", "checkout", { apiKeySecretRef: { name: "api-key-of-the-checkout", key: "api-key" } }),
  );
  await world.condition("TCPEdge", "checkout-of-the-shop", { type: "Ready", status: "False" });
  await world.ready("ReservedDomain", "branches-of-the-shop");
  const shown = customResources.map(async ({ plural }) => {
    const { stdout } = await world.kubectl("get", plural, "-o", "wide");
    return stdout.split("\n").filter((line) => line.length > 200 || hasTwice(line));
  });
  expect((await Promise.all(shown)).flat()).toEqual([]);
  const waits = await world.kubectl("get", "tcpedge", "checkout-of-the-shop", "-o", "wide");
  expect(waits.stdout).toMatch(/ Create ReservedAddress "checkout-of-the-shop" in .*…\s*$/);
});

test("the reason of a failure is shown beside a Ready object, without an extra write", async () => {
  await world.quiet();
  const { writes } = await world.quiet();
  await world.kube.annotate("IPPolicy", "long-text", { [annotations.paused]: "true" });
  await world.condition("IPPolicy", "long-text", { type: "Paused" });
  expect(lineOf(await table(), "long-text")).toMatch(/ True +Paused /);
  const after = await world.quiet();
  expect(after.writes - writes).toBe(1);
});

test("the metrics of some sixty objects of all kinds have fewer than 1,500 series", async () => {
  const more = Array.from({ length: 20 }, (_, index) => own("IPPolicy", `more-${index}`, {}));
  await world.apply(...more);
  await world.allReady(more);
  const objects = await world.kube.list(...managedKinds);
  expect(objects.length).toBeGreaterThanOrEqual(60);
  expect(new Set(objects.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(15);
  const series = (await world.operator.read("/metrics")).split("\n").filter((line) => line && !line.startsWith("#"));
  expect(series.length).toBeGreaterThan(300);
  expect(series.length).toBeLessThan(1500);
});

const own = (kind: string, name: string, spec: object) => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind,
  metadata: { name },
  spec,
});
