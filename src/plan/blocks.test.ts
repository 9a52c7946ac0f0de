import { expect, test } from "vitest";
import { keyPairs } from "../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { HTTPResponseBackend } from "../kinds/http-response-backend.ts";
import { kinds } from "../kinds/index.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedAddress } from "../kinds/reserved-address.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import { TLSCertificate } from "../kinds/tls-certificate.ts";
import type { ManagedObject } from "../objects/object.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { planChanges } from "./planner.ts";

async function planned(scene: Scene, ...objects: ManagedObject[]): Promise<Block[]> {
  const result = await planChanges({
    kinds,
    objects,
    isInAccount: () => true,
    clusterID: "c1",
    formerClusterIDs: [],
    isClusterIDSet: true,
    accountNameOf: () => "",
    undocumented: true,
    account: { list: async (resource) => scene.gateway.remotesOf(resource), module: async () => null },
    cluster: {
      secret: async (_, name) => scene.cluster.secretNow(name),
      configMap: (namespace, name) => scene.cluster.secrets.configMap(namespace, name),
    },
    mayAdopt: (namespace) => namespace !== "elsewhere",
  });
  return [...blocksOf(result).values()];
}

test("references of a new object are shown by name while id and address are unknown", async () => {
  const scene = new Scene();
  const blocks = await planned(
    scene,
    scene.cluster.apply(TCPEdge, "db", {
      addressRefs: [{ name: "db" }],
      ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] },
    }),
    scene.cluster.apply(ReservedAddress, "db", {}),
    scene.cluster.apply(IPPolicy, "office", { description: "Office" }),
  );
  expect(blocks.map(({ action, kind }) => [action, kind])).toEqual([
    ["create", "TCPEdge"],
    ["create", "ReservedAddress"],
    ["create", "IPPolicy"],
  ]);
  expect(blocks[0]?.fields).toEqual(
    expect.arrayContaining([
      { path: "hostports", new: ["addr of (ReservedAddress/db)"] },
      { path: "ip_restriction.ip_policy_ids", new: ["(IPPolicy/office)"] },
    ]),
  );
  expect(blocks[2]).toMatchObject({
    fields: [
      { path: "description", new: "Office" },
      { path: "metadata", new: "(owner mark)" },
    ],
    requests: ["POST /ip_policies"],
  });
});

test("an update shows only the fields that differ", async () => {
  const scene = new Scene();
  await scene.given(IPPolicy, "office", { description: "one" });
  const blocks = await planned(scene, scene.cluster.apply(IPPolicy, "office", { description: "two" }));
  expect(blocks).toEqual([
    {
      action: "update",
      kind: "IPPolicy",
      namespace: "team-a",
      name: "office",
      id: "ipp_1",
      fields: [{ path: "description", old: "one", new: "two" }],
      requests: ["PATCH /ip_policies/ipp_1"],
    },
  ]);
});

test("a settled object is not in the plan, and the account gets no call", async () => {
  const scene = new Scene();
  const object = await scene.given(IPPolicy, "office", { description: "one" });
  expect(await planned(scene, object)).toEqual([]);
  expect(scene.gateway.takeCalls()).toEqual([]);
});

test("a new value in a Secret replaces the remote, and is not shown", async () => {
  const scene = new Scene();
  const [one, other] = keyPairs;
  scene.cluster.setSecret("tls", { ...one });
  const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
  scene.cluster.setSecret("tls", { ...other });
  const blocks = await planned(scene, object);
  expect(blocks).toMatchObject([
    { action: "replace", requests: ["POST /tls_certificates", "DELETE /tls_certificates/cert_1"] },
  ]);
  expect(blocks[0]?.fields).toEqual(expect.arrayContaining([{ path: "private_key_pem", secret: true }]));
  expect(JSON.stringify(blocks)).not.toContain("BEGIN");
});

test("an object that adopts, one that may not, and one that waits", async () => {
  const scene = new Scene();
  const { id } = scene.gateway.seed(IPPolicy.resource, { description: "by hand" });
  const other = scene.gateway.seed(IPPolicy.resource, { description: "too" });
  const blocks = await planned(
    scene,
    scene.cluster.apply(IPPolicy, "mine", { adopt: { id }, description: "by hand" }),
    scene.cluster.apply(IPPolicy, "theirs", { adopt: { id: other.id } }, { namespace: "elsewhere" }),
    scene.cluster.apply(TCPEdge, "later", { ipRestriction: { ipPolicyRefs: [{ name: "none" }] } }),
  );
  expect(blocks.map(({ action, name, reason }) => [name, action, reason])).toEqual([
    ["mine", "adopt", undefined],
    ["theirs", "blocked", "AdoptionNotAllowed"],
    ["later", "waiting", "ReferenceNotReady"],
  ]);
  expect(blocks[0]?.fields).toEqual([{ path: "metadata", new: "(owner mark)" }]);
});

test("an owner mark that the service has refused is no change that will come", async () => {
  const scene = new Scene();
  scene.gateway.seed(ReservedDomain.resource, { domain: "shop.example.com" });
  scene.gateway.beforeCall = ({ verb }) => {
    if (verb === "update") scene.gateway.refuse("update", 405);
  };
  const spec = { domain: "shop.example.com", adopt: { existing: true as const } };
  const object = await scene.given(ReservedDomain, "shop", spec);
  expect(await planned(scene, scene.cluster.now(object))).toEqual([]);
});

test("a body of a megabyte is shown in the time of one reading", async () => {
  const scene = new Scene();
  const body = "x".repeat(1_000_000);
  const [block] = await planned(scene, scene.cluster.apply(HTTPResponseBackend, "large", { body }));
  expect(block?.fields).toContainEqual({ path: "body", new: body });
});
