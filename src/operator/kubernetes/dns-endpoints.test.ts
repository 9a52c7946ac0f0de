import { beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { deleteDNSEndpoint, keepDNSEndpoint, writeDNSEndpoint } from "./dns-endpoints.ts";

const ENDPOINTS = "externaldns.k8s.io/v1alpha1/dnsendpoints";

let server: FakeApiServer;
let client: KubeClient;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
});

const objectNamed = (name: string): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "ReservedDomain",
  spec: {},
  metadata: { name, namespace: "n", uid: "uid-1", generation: 1 },
});
const content = { labels: {}, annotations: {}, endpoints: [], owned: true };

/** Without a body, the API server answers as for a kind that it does not know: in plain text. */
const refuse = (status: number, body?: object) =>
  server.faults.push({ status, body: body ? JSON.stringify({ kind: "Status", ...body }) : "page not found" });

describe("a DNSEndpoint that cannot be written", () => {
  it.each<[string, number, object | undefined, string, string]>([
    [
      "no definition",
      404,
      undefined,
      "Waiting",
      "Install the CustomResourceDefinition dnsendpoints.externaldns.k8s.io",
    ],
    ["no right", 403, { message: "it is forbidden" }, "Retry", "Grant the right with externalDNS.enabled"],
    [
      "a label that is none",
      422,
      {
        message: "quoted value",
        details: { causes: [{ field: "metadata.labels", message: 'Invalid value: "quoted value": no label' }] },
      },
      "Retry",
      "Correct spec.dns.externalDNS: the Kubernetes API refuses metadata.labels: no label",
    ],
    ["a write by somebody else", 409, { reason: "Conflict" }, "Retry", "Waiting to write the DNSEndpoint again"],
    ["an API server that fails", 500, { message: "no" }, "Retry", "Waiting for the Kubernetes API: no"],
  ])("because of %s says so", async (_, status, body, name, words) => {
    refuse(status, body);
    const error = await writeDNSEndpoint(client, objectNamed("shop"), content).catch((one: unknown) => one);
    expect(error).toMatchObject({ name, reason: "DNSEndpointNotWritten", message: expect.stringContaining(words) });
    expect(error).not.toMatchObject({ message: expect.stringContaining("quoted value") });
  });
});

describe("a DNSEndpoint of an object that goes", () => {
  const put = (labels: Record<string, string>) =>
    server.storage.create(ENDPOINTS, {
      apiVersion: "externaldns.k8s.io/v1alpha1",
      kind: "DNSEndpoint",
      spec: {},
      metadata: {
        namespace: "n",
        name: "reserveddomain-shop",
        labels,
        annotations: { "tunnelgateway.dev/object": "ReservedDomain/shop" },
        ownerReferences: [{ apiVersion: "tunnelgateway.dev/v1", kind: "ReservedDomain", name: "shop", uid: "uid-1" }],
      },
    });
  const ours = { "app.kubernetes.io/managed-by": "tunnel-gateway-operator" };
  const now = () => server.storage.get(ENDPOINTS, "n/reserveddomain-shop");

  it("is deleted only if it was written for the object", async () => {
    put({});
    await deleteDNSEndpoint(client, objectNamed("shop"));
    expect(now()).toBeDefined();
  });

  it("is deleted", async () => {
    put(ours);
    await deleteDNSEndpoint(client, objectNamed("shop"));
    expect(now()).toBeUndefined();
  });

  it.each([
    ["the right", 403],
    ["the definition", 404],
  ])("does not hold the object without %s", async (_, status) => {
    refuse(status);
    await expect(deleteDNSEndpoint(client, objectNamed("shop"))).resolves.toBeUndefined();
  });

  it("is kept without its owner, once", async () => {
    put(ours);
    await keepDNSEndpoint(client, objectNamed("shop"));
    expect(now()?.metadata.ownerReferences).toEqual([]);
    const { resourceVersion } = now()?.metadata ?? {};
    await keepDNSEndpoint(client, objectNamed("shop"));
    expect(now()?.metadata.resourceVersion).toBe(resourceVersion);
  });
});

it("has a name of at most 253 characters, whatever the name of the object", async () => {
  refuse(403);
  await writeDNSEndpoint(client, objectNamed("a".repeat(253)), content).catch(() => {});
  const name = server.received.at(-1)?.path.split("/").at(-1) ?? "";
  expect(name).toMatch(/^reserveddomain-a+-[0-9a-f]{16}$/);
  expect(name).toHaveLength(253);
});
