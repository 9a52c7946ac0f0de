import { beforeEach, describe, expect, it } from "vitest";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
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

async function deleted(object: ManagedObject): Promise<ReturnType<Scene["look"]>> {
  scene.cluster.delete(object);
  return scene.look(object);
}

const restricted = (...names: string[]) => ({
  ipRestriction: { enabled: true, ipPolicyRefs: names.map((name) => ({ name })) },
});

describe("a module that is switched off", () => {
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
    await scene.look(user);
    expect(JSON.stringify(scene.gateway.rowsOf(userKind.remote))).toContain(`"${scene.idOf(used)}"`);
    await deleted(used);
    expect(scene.cluster.exists(used)).toBe(false);
    expect(scene.gateway.rowsOf(kind.remote)).toEqual([]);
  });
});
