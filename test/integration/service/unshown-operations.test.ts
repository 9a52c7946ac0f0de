import { describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { authorityPem, tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// the service has only the operations that its API page shows, and the operator knows it
const world = useWorld({
  simulator: { undocumented: false, routes: [] },
  env: { GATEWAY_UNDOCUMENTED_OPERATIONS: "false" },
});

const control = () => world.simulator.control;
const sent = (from: number) => world.changesSent().filter(({ seq }) => seq > from);
const lastRequest = () => control().requests().at(-1)?.seq ?? 0;
const message = (object: KubeJSON) => conditionOf(object, "Ready")?.message;

const blocked = (kind: string, name: string, reason: string) =>
  world.condition(kind, name, { type: "Stalled", status: "True", reason });

describe("a TLS edge, which cannot be updated", () => {
  const edge = (spec: object) => manifest("TLSEdge", "shop", { hostports: ["shop.example.org:443"], ...spec });

  test("says that it has to be replaced, and keeps serving", async () => {
    await world.kube.apply(edge({ description: "first" }));
    const { status } = await world.ready("TLSEdge", "shop");
    await world.kube.apply(edge({ description: "second" }));
    const reported = await blocked("TLSEdge", "shop", "ReplacementRequired");
    expect(message(reported)).toContain("spec.description");
    expect(reported.status.id).toBe(status.id);
    expect(control().get(status.id)).toMatchObject({ description: "first" });
  });

  test("is not tried again", async () => {
    const from = lastRequest();
    await world.kube.apply(edge({ description: "third" }));
    await world.until("the third is seen", async () => {
      const { status, metadata } = await world.get("TLSEdge", "shop");
      return status.observedGeneration === metadata.generation;
    });
    await world.quiet();
    expect(sent(from)).toEqual([]);
  });

  test("is Ready again when the spec is as it was", async () => {
    await world.kube.apply(edge({ description: "first" }));
    const { status } = await world.ready("TLSEdge", "shop");
    expect(conditionOf({ status }, "Stalled")).toBeUndefined();
  });

  test("keeps serving when it may be recreated and cannot be deleted, and says what to do", async () => {
    const { status } = await world.ready("TLSEdge", "shop");
    await world.kube.apply(edge({ description: "fourth", replacement: "Recreate" }));
    const reported = await blocked("TLSEdge", "shop", "DeleteUnsupported");
    expect(message(reported)).toContain(status.id);
    expect(control().get(status.id)).toMatchObject({ description: "first" });
    expect(control().summary()["edges/tls"]).toBe(1);
    // somebody does what the operator cannot do
    control().remove(status.id);
    await world.kube.annotate("TLSEdge", "shop", { [annotations.reconcileRequestedAt]: "it is gone" });
    await world.ready("TLSEdge", "shop");
    expect(control().objects("edges/tls")).toMatchObject([{ description: "fourth" }]);
  });

  test("stays when its object is deleted, until somebody says that it may", async () => {
    const { status } = await world.ready("TLSEdge", "shop");
    await world.kube.delete("TLSEdge", "shop");
    const reported = await blocked("TLSEdge", "shop", "DeleteUnsupported");
    expect(message(reported)).toContain(`${annotations.orphan}: "true"`);
    await world.kube.annotate("TLSEdge", "shop", { [annotations.orphan]: "true" });
    await world.gone("TLSEdge", "shop");
    expect(control().get(status.id)).not.toBeNull();
    control().remove(status.id);
  });

  test("lets its object go once somebody has deleted it", async () => {
    await world.kube.apply(edge({}));
    const { status } = await world.ready("TLSEdge", "shop");
    await world.kube.delete("TLSEdge", "shop");
    await blocked("TLSEdge", "shop", "DeleteUnsupported");
    control().remove(status.id);
    await world.kube.annotate("TLSEdge", "shop", { [annotations.reconcileRequestedAt]: "it is gone" });
    await world.gone("TLSEdge", "shop");
  });
});

describe("a reserved domain, which can be deleted and not updated", () => {
  const domain = (spec: object) => manifest("ReservedDomain", "docs", { domain: "docs.example.org", ...spec });

  test("says that it has to be replaced, and is where it may be", async () => {
    await world.kube.apply(domain({ description: "first" }));
    const before = await world.ready("ReservedDomain", "docs");
    await world.kube.apply(domain({ description: "second" }));
    await blocked("ReservedDomain", "docs", "ReplacementRequired");
    expect(control().get(before.status.id)).toMatchObject({ description: "first" });
    await world.kube.apply(domain({ description: "second", replacement: "Recreate" }));
    const after = await world.ready("ReservedDomain", "docs");
    expect(after.status.id).not.toBe(before.status.id);
    expect(control().objects("reserved_domains")).toMatchObject([{ id: after.status.id, description: "second" }]);
  });
});

describe("a certificate", () => {
  test("is made anew for other texts, and stays as long as a domain cannot leave it", async () => {
    await world.kube.apply(
      tlsSecret("files", { commonName: "files.example.org" }),
      manifest("TLSCertificate", "files", { secretName: "files", description: "first" }),
      manifest("ReservedDomain", "files", { domain: "files.example.org", certificateRef: { name: "files" } }),
    );
    const domain = await world.ready("ReservedDomain", "files");
    const before = await world.ready("TLSCertificate", "files");
    await world.kube.apply(manifest("TLSCertificate", "files", { secretName: "files", description: "second" }));
    const after = await world.ready("TLSCertificate", "files");
    expect(after.status).toMatchObject({ retiring: [before.status.id] });
    expect(control().get(after.status.id)).toMatchObject({ description: "second" });

    const reported = await blocked("ReservedDomain", "files", "ReplacementRequired");
    expect(message(reported)).toContain("spec.certificateRef");
    await world.quiet(2500);
    expect(control().get(domain.status.id)).toMatchObject({ certificate: { id: before.status.id } });
    expect(sent(0).filter(({ method, status }) => method === "DELETE" && status === 400)).toEqual([]);

    await world.kube.patch("ReservedDomain", "files", { spec: { replacement: "Recreate" } });
    await world.ready("ReservedDomain", "files");
    await world.until("the old one is gone", async () => control().get(before.status.id) === null);
    expect(
      control()
        .objects("tls_certificates")
        .map(({ id }) => id),
    ).toEqual([after.status.id]);
  });

  test("is taken over without being made anew", async () => {
    const caPem = authorityPem("Adopted");
    const { id } = control().insert("certificate_authorities", { ca_pem: caPem });
    await world.kube.apply(manifest("CertificateAuthority", "adopted", { caPem, adopt: { id } }));
    const { status } = await world.ready("CertificateAuthority", "adopted");
    expect(status.id).toBe(id);
    expect(
      control()
        .objects("certificate_authorities")
        .map((row) => row["id"]),
    ).toEqual([id]);
  });
});

describe("a namespace with a TLS edge in it", () => {
  test("goes, and leaves the edge with all that it uses, and says so", async () => {
    await world.kube.apply(
      manifest("CertificateAuthority", "partners", { caPem: authorityPem("Partners") }),
      manifest("TunnelGroupBackend", "orders", {}),
      manifest("TunnelGroupBackend", "unused", {}),
      manifest("FailoverBackend", "orders", { backendRefs: [{ kind: "TunnelGroupBackend", name: "orders" }] }),
      manifest("TLSEdge", "orders", {
        backend: { backendRef: { kind: "FailoverBackend", name: "orders" } },
        mutualTls: { certificateAuthorityRefs: [{ name: "partners" }] },
      }),
    );
    await world.ready("TLSEdge", "orders");
    await world.cluster.kubectlRun(["delete", "namespace", world.namespace, "--wait=false"]);
    await world.until(
      "the namespace is gone",
      async () => (await world.kube.get("Namespace", world.namespace)) === undefined,
      25,
    );
    const left = Object.entries(control().summary()).filter(([, rows]) => rows > 0);
    expect(Object.fromEntries(left)).toEqual({
      "edges/tls": 1,
      "backends/failover": 1,
      "backends/tunnel_group": 1,
      // the adopted remote stays as well
      certificate_authorities: 2,
    });
    const reported = world.operator.lines.filter(
      (line) => line.includes("DeleteUnsupported") && line.includes("Left edgtls_"),
    );
    expect(reported).toHaveLength(1);
  });
});
