import { describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const readyOf = (object: KubeJSON) => conditionOf(object, "Ready");

describe("a service that leaves members out, and refuses others", () => {
  const world = useWorld({
    simulator: {
      unanswered: ["region"],
      refusedOnUpdate: ["format"],
      refusedTogether: ["certificate_id", "certificate_management_policy"],
    },
  });

  test("what answers leave out does not block an object that was just created", async () => {
    await world.kube.apply(manifest("ReservedAddress", "ssh", { region: "eu" }));
    await world.ready("ReservedAddress", "ssh");
    const [looked] = await world.reconcileNow(manifest("ReservedAddress", "ssh", { region: "eu" }));
    expect(looked && readyOf(looked)).toMatchObject({ status: "True" });
  });

  test("members that exclude each other are sent one after another", async () => {
    const domain = (spec: object) => manifest("ReservedDomain", "shop", { domain: "shop.example.org", ...spec });
    await world.kube.apply(
      tlsSecret("shop", { commonName: "shop.example.org", dnsNames: ["shop.example.org"] }),
      manifest("TLSCertificate", "shop", { secretName: "shop" }),
    );
    await world.ready("TLSCertificate", "shop");
    await world.kube.apply(domain({ certificateManagementPolicy: { authority: "freeca" } }));
    await world.ready("ReservedDomain", "shop");
    await world.kube.apply(domain({ certificateRef: { name: "shop" } }));
    await world.ready("ReservedDomain", "shop");
    const certificate = await world.ready("TLSCertificate", "shop");
    expect((await world.ready("ReservedDomain", "shop")).status.certificate.id).toBe(certificate.status.id);
  });

  test("a quota is no mistake of the spec", async () => {
    const body = JSON.stringify({ error_code: "ERR_QUOTA", status_code: 422, msg: "3 of 3 policies are in use" });
    world.simulator.control.fault({ method: "POST", path: "/ip_policies", action: { status: 402, body } as never });
    await world.kube.apply(manifest("IPPolicy", "office", {}));
    const reported = await world.condition("IPPolicy", "office", { type: "Ready", reason: "QuotaExceeded" });
    expect(readyOf(reported)?.message).toMatch(
      /^Raise the limit of the account, or delete what you need no more in it: /,
    );
  });

  test("Ready says that the account differs, while it does", async () => {
    const policy = (spec: object) => manifest("IPPolicy", "seen", { description: "mine", ...spec });
    await world.kube.apply(policy({ driftPolicy: "Report" }));
    const { status } = await world.ready("IPPolicy", "seen");
    world.simulator.control.patch(status.id, { description: "theirs" });
    await world.kube.annotate("IPPolicy", "seen", { [annotations.reconcileRequestedAt]: "now" });
    const drifted = await world.condition("IPPolicy", "seen", { type: "Drifted", status: "True" });
    expect(readyOf(drifted)?.message).toBe("Exists in the account, and differs from the spec in spec.description");
  });

  test("one of two edges on one address says so, while both are there", async () => {
    const kinds = ["TCPEdge", "TLSEdge"];
    await world.kube.apply(
      ...kinds.map((kind) => manifest(kind, "listens", { hostports: ["listened.example.org:443"] })),
    );
    const saying = async (kind: string) => readyOf(await world.ready(kind, "listens"))?.message;
    // Which one is younger, their uids decide: both may be created in one second.
    const says = (kind: string, other: string) => async () =>
      (await saying(kind))?.startsWith(`Give this or ${other} ${world.namespace}/listens another address than `) ===
      true;
    const [younger, older] = await world.until("one of them says so", async () => {
      for (const [one = "", other = ""] of [kinds, kinds.toReversed()])
        if (await says(one, other)()) return [one, other];
      return undefined;
    });
    expect(await saying(older)).toBe("Exists in the account as specified");
    await world.kube.delete(older, "listens");
    const isWell = async () => (await saying(younger)) === "Exists in the account as specified";
    await world.until("it no longer says so", isWell);
  });

  test("Ready does not call an edit applied that waits for the end of a pause", async () => {
    await world.kube.apply(manifest("IPPolicy", "still", { description: "one" }));
    await world.ready("IPPolicy", "still");
    await world.kube.annotate("IPPolicy", "still", { [annotations.paused]: "true" });
    await world.condition("IPPolicy", "still", { type: "Paused", status: "True" });
    await world.kube.apply(manifest("IPPolicy", "still", { description: "two" }));
    const paused = await world.until("it is said", async () => {
      const object = await world.kube.get("IPPolicy", "still");
      return object && readyOf(object)?.message.includes("is not applied") && object;
    });
    expect(readyOf(paused)?.status).toBe("True");
  });
});
