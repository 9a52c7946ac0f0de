import { beforeEach, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { AccountWatch } from "../../support/account-watch.ts";
import { authorityPem, configMap, secret, tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const watch = new AccountWatch();
const world = useWorld({ simulator: { onHandled: watch.onHandled } });

const control = () => world.simulator.control;

const renewed = (name: string) => tlsSecret(name, { commonName: `${name}.example.org` });

const domain = (name: string, certificate: string, metadata: object = {}) =>
  manifest("ReservedDomain", name, { domain: `${name}.example.org`, certificateRef: { name: certificate } }, metadata);

const lookAt = (kind: string, name: string) => world.reconcileNow(manifest(kind, name, {}));

/** Resolves when another remote has replaced this one, and this one is deleted. */
const replaced = (kind: string, name: string, old: string): Promise<KubeJSON> =>
  world.until(`${old} is replaced`, async () => {
    const object = await world.get(kind, name);
    const isDone = object.status.id !== old && object.status.retiring === undefined && control().get(old) === null;
    return isDone && object;
  });

const certificateOf = ({ status }: KubeJSON): string =>
  (control().get(status.id) as { certificate: { id: string } }).certificate.id;

const sent = (from: number) =>
  world
    .changesSent()
    .filter(({ seq }) => seq > from)
    .map(({ method, path, status }) => `${method} ${path} ${status}`);

const lastRequest = () => control().requests().at(-1)?.seq ?? 0;

/** When an object became Ready; it has been Ready since then. */
const readySince = (object: KubeJSON) => conditionOf(object, "Ready")?.lastTransitionTime;

beforeEach(() => watch.begin(world.simulator));

describe("a certificate whose Secret is renewed", () => {
  test("is uploaded anew, domains move to it, and then the old one is deleted", async () => {
    await world.kube.apply(renewed("shop"), manifest("TLSCertificate", "shop", { secretName: "shop" }));
    const before = await world.ready("TLSCertificate", "shop");
    await world.kube.apply(domain("one", "shop"), domain("two", "shop"));
    const domains = await world.allReady([domain("one", "shop"), domain("two", "shop")]);
    watch.begin(world.simulator);
    const from = lastRequest();

    await world.kube.apply(renewed("shop"));
    await lookAt("TLSCertificate", "shop");
    const after = await replaced("TLSCertificate", "shop", before.status.id);

    const moves = domains.map(({ status }) => `PATCH /reserved_domains/${status.id} 200`);
    const requests = sent(from);
    expect(requests.slice(1, -1).sort()).toEqual(moves.sort());
    expect([requests[0], requests.at(-1)]).toEqual([
      "POST /tls_certificates 201",
      `DELETE /tls_certificates/${before.status.id} 204`,
    ]);
    expect(domains.map(certificateOf)).toEqual([after.status.id, after.status.id]);
    expect(watch.faults).toEqual([]);
    expect(watch.most("tls_certificates")).toBe(2);
    expect(after.status.serialNumber).not.toBe(before.status.serialNumber);
    const now = await world.allReady(domains);
    expect([after, ...now].map(readySince)).toEqual([before, ...domains].map(readySince));
  });

  test("says so in an event", async () => {
    const { status } = await world.ready("TLSCertificate", "shop");
    await world.until("the event", async () =>
      (await world.kube.list("Event")).some(
        ({ regarding, note }) => regarding.name === "shop" && note.startsWith(`Created ${status.id} in place of cert_`),
      ),
    );
  });

  test("is uploaded only when the certificate is another one", async () => {
    const before = await world.ready("TLSCertificate", "shop");
    const from = lastRequest();
    await world.kube.annotate("Secret", "shop", { "example.org/touched": "yes" });
    await lookAt("TLSCertificate", "shop");
    const { data } = await world.get("Secret", "shop");
    const spaced = Buffer.from(data["tls.crt"], "base64").toString().replaceAll("\n", "\r\n");
    await world.kube.patch("Secret", "shop", { data: { "tls.crt": Buffer.from(spaced).toString("base64") } });
    await lookAt("TLSCertificate", "shop");
    const after = await world.ready("TLSCertificate", "shop");
    expect(after.status.id).toBe(before.status.id);
    expect(after.status.appliedSecrets).not.toEqual(before.status.appliedSecrets);
    expect(sent(from)).toEqual([]);
  });

  test("is never there more than twice, however often it is renewed", async () => {
    const { status } = await world.ready("TLSCertificate", "shop");
    for (let count = 0; count < 3; count++) {
      await world.kube.apply(renewed("shop"));
      await world.kube.annotate("TLSCertificate", "shop", { [annotations.reconcileRequestedAt]: `again ${count}` });
    }
    await replaced("TLSCertificate", "shop", status.id);
    const last = Buffer.from((await world.get("Secret", "shop")).data["tls.crt"], "base64").toString();
    const { id } = await world.until("the last one is there", async () => {
      const rows = control().objects("tls_certificates");
      return rows.length === 1 && rows[0]?.["certificate_pem"] === last && rows[0];
    });
    const domains = await world.allReady([domain("one", "shop"), domain("two", "shop")]);
    expect(domains.map(certificateOf)).toEqual([id, id]);
    expect(watch.faults).toEqual([]);
    expect(watch.most("tls_certificates")).toBe(2);
  });

  test("is kept as long as a domain still has the old one", async () => {
    const paused = domain("paused", "shop", { annotations: { [annotations.paused]: "true" } });
    await world.kube.apply(domain("paused", "shop"));
    const kept = await world.ready("ReservedDomain", "paused");
    await world.kube.apply(paused);
    await world.condition("ReservedDomain", "paused", { type: "Paused", status: "True" });
    const before = await world.ready("TLSCertificate", "shop");

    await world.kube.apply(renewed("shop"));
    await lookAt("TLSCertificate", "shop");
    const moving = await world.until("a new one", async () => {
      const object = await world.get("TLSCertificate", "shop");
      return object.status.id !== before.status.id && object;
    });
    await world.kube.apply(renewed("shop"));
    await world.kube.annotate("TLSCertificate", "shop", { [annotations.reconcileRequestedAt]: "while one moves" });
    // a replaced remote that cannot be deleted does not stop the next renewal
    const last = await world.until("the next one", async () => {
      const { status } = await world.get("TLSCertificate", "shop");
      const isThrough = status.id !== moving.status.id && !control().get(moving.status.id);
      return isThrough && status.retiring?.length === 1 && status;
    });
    expect(last).toMatchObject({ retiring: [before.status.id] });
    expect(certificateOf(kept)).toBe(before.status.id);
    expect(control().summary()["tls_certificates"]).toBe(2);
    expect(readySince(await world.ready("TLSCertificate", "shop"))).toBe(readySince(before));

    await world.kube.annotate("ReservedDomain", "paused", { [annotations.paused]: null });
    await replaced("TLSCertificate", "shop", before.status.id);
    await world.until("the domain has moved", async () => certificateOf(kept) === last.id);
    expect(watch.faults).toEqual([]);
    expect(watch.most("tls_certificates")).toBe(3);
  });
});

describe("an authority whose certificates change", () => {
  const authorities = ["inline", "from-config", "from-secret"];
  const spec: Record<string, (name: string) => object> = {
    inline: (name) => ({ caPem: authorityPem(name) }),
    "from-config": () => ({ caPemFrom: { configMapKeyRef: { name: "authority", key: "ca.pem" } } }),
    "from-secret": () => ({ caPemFrom: { secretKeyRef: { name: "authority", key: "ca.pem" } } }),
  };
  const manifests = (version: string) => [
    secret("authority", { "ca.pem": authorityPem(`secret ${version}`) }),
    configMap("authority", { "ca.pem": authorityPem(`config ${version}`) }),
    ...authorities.map((name) => manifest("CertificateAuthority", name, spec[name]?.(`inline ${version}`) ?? {})),
  ];
  const edge = manifest("TLSEdge", "partners", {
    mutualTls: { certificateAuthorityRefs: authorities.map((name) => ({ name })) },
  });

  const accepted = ({ status }: KubeJSON) => {
    const { mutual_tls: module } = control().get(status.id) as { mutual_tls: { certificate_authorities: object[] } };
    return module.certificate_authorities.map((ref) => (ref as { id: string }).id);
  };

  test("is uploaded anew wherever they come from, the edge moves to it, and then the old one is deleted", async () => {
    await world.kube.apply(...manifests("one"), edge);
    const before = await world.allReady(manifests("one"));
    const partners = await world.ready("TLSEdge", "partners");
    watch.begin(world.simulator);

    await world.kube.apply(...manifests("two"));
    for (const name of authorities) await lookAt("CertificateAuthority", name);
    const after = await Promise.all(
      before.map(({ metadata, status }) => replaced("CertificateAuthority", metadata.name, status.id)),
    );
    expect(after.map(({ status }) => status.subjectCommonName).sort()).toEqual([
      "config two",
      "inline two",
      "secret two",
    ]);
    expect(accepted(partners).sort()).toEqual(after.map(({ status }) => status.id).sort());
    expect(watch.faults).toEqual([]);
    expect(watch.most("certificate_authorities")).toBeLessThanOrEqual(2 * authorities.length);
    expect(readySince(await world.ready("TLSEdge", "partners"))).toBe(readySince(partners));
  });

  test("follows a ConfigMap also where changes of others are only reported", async () => {
    await world.kube.apply(
      manifest("CertificateAuthority", "from-config", { ...spec["from-config"]?.(""), driftPolicy: "Report" }),
    );
    const before = await world.ready("CertificateAuthority", "from-config");
    await world.kube.apply(configMap("authority", { "ca.pem": authorityPem("config three") }));
    await lookAt("CertificateAuthority", "from-config");
    const after = await replaced("CertificateAuthority", "from-config", before.status.id);
    expect(after.status.subjectCommonName).toBe("config three");
    expect(conditionOf(after, "Drifted")).toBeUndefined();
  });
});
