import { beforeEach, describe, expect, it } from "vitest";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { Scene } from "../testing/scene.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

async function deleted(object: ManagedObject): Promise<ReturnType<Scene["reconcile"]>> {
  scene.cluster.delete(object);
  return scene.reconcile(object);
}

const restricted = (...names: string[]) => ({
  ipRestriction: { enabled: true, ipPolicyRefs: names.map((name) => ({ name })) },
});

describe("a disabled module", () => {
  it.each<[string, Kind, ManagedObject["spec"], Kind, ManagedObject["spec"]]>([
    ["IP policy", IPPolicy, {}, TCPEdge, restricted("one")],
    [
      "backend",
      TunnelGroupBackend,
      {},
      TCPEdge,
      { backend: { enabled: true, backendRef: { kind: "TunnelGroupBackend", name: "one" } } },
    ],
    [
      "certificate authority",
      CertificateAuthority,
      { caPem: "-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----" },
      TLSEdge,
      { mutualTls: { enabled: true, certificateAuthorityRefs: [{ name: "one" }] } },
    ],
  ])("does not use the %s whose id it keeps", async (_, kind, spec, userKind, userSpec) => {
    const used = await scene.given(kind, "one", spec);
    const user = await scene.given(userKind, "edge", userSpec);
    scene.cluster.apply(userKind, "edge", {});
    await scene.reconcile(user);
    expect(JSON.stringify(scene.gateway.remotesOf(userKind.resource))).toContain(`"${scene.idOf(used)}"`);
    await deleted(used);
    expect(scene.cluster.exists(used)).toBe(false);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
  });
});

describe("an address", () => {
  const addr = "1.TCP.example:1";

  it.each([
    ["has dropped it", {}],
    ["names it as an address of its own", { hostports: ["1.tcp.example:1"] }],
  ])("is used by an edge that listens on it, whose object %s", async (_, spec) => {
    const address = await scene.given(ReservedAddress, "db");
    scene.gateway.change(ReservedAddress.resource, scene.idOf(address), { addr });
    await scene.resync(ReservedAddress);
    await scene.reconcile(address);
    const edge = await scene.given(TCPEdge, "db", { addressRefs: [{ name: "db" }] });
    scene.gateway.change(TCPEdge.resource, scene.idOf(edge), { hostports: ["1.tcp.example:1"] });
    scene.cluster.apply(TCPEdge, "db", spec);
    await scene.resync(TCPEdge);
    await deleted(address);
    expect(scene.reason(address)).toMatch(/^InUse: .*TCPEdge "db"/);
    expect(scene.gateway.takeCalls()).not.toContain(`delete ${scene.idOf(address)}`);
    scene.cluster.apply(TCPEdge, "db", {});
    await scene.reconcile(edge);
    await scene.settle(address, 3);
    expect(scene.cluster.exists(address)).toBe(false);
  });
});
