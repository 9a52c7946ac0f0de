import { expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type SelfSignedOptions, selfSigned } from "../../../tools/simulator/certificates/self-signed.ts";
import { useWorld } from "../../support/world.ts";

/** Does to a Secret what cert-manager does to the Secret of a Certificate, step by step. */
const world = useWorld({ env: { WATCH_SECRETS: "true" } });

const domain = "shop.example.org";
const authority = selfSigned({ commonName: "Example CA", authority: true }).certificatePem;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Issued {
  chain: string;
  key: string;
  /** Keys of the Secret beside those of its type. */
  more?: Record<string, string>;
}

function issue(options: Partial<SelfSignedOptions> = {}): Issued {
  const { certificatePem, privateKeyPem } = selfSigned({ commonName: domain, dnsNames: [domain], ...options });
  return { chain: certificatePem + authority, key: privateKeyPem };
}

/** cert-manager writes all keys in one server-side apply. */
async function written({ chain, key, more = {} }: Issued): Promise<void> {
  const data = { "tls.crt": chain, "tls.key": key, "ca.crt": authority, ...more };
  await world.kube.apply({
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: {
      name: "shop-tls",
      labels: { "controller.cert-manager.io/fao": "true" },
      annotations: { "cert-manager.io/certificate-name": "shop", "cert-manager.io/issuer-kind": "ClusterIssuer" },
    },
    data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, base64(value)])),
  });
}

const uploads = () =>
  world.simulator.control.requests({ method: "POST" }).filter(({ path }) => path === "/tls_certificates");
const rows = () => world.simulator.control.objects("tls_certificates");

/** The certificate of the account is this one alone, and it is what the object says. */
async function serves({ chain }: Issued): Promise<KubeJSON> {
  await world.until("the certificate is served", async () => {
    const [row, ...others] = rows();
    return others.length === 0 && String(row?.["certificate_pem"]).trim() === chain.trim();
  });
  return world.ready("TLSCertificate", "shop");
}

async function refused(words: string): Promise<void> {
  const count = uploads().length;
  await world.until(`the message "${words}"`, async () => {
    const object = await world.get("TLSCertificate", "shop");
    return ["Ready", "Synced"].some((type) => conditionOf(object, type)?.message === words);
  });
  expect(uploads()).toHaveLength(count);
}

const first = issue({ keyType: "rsa" });
const renewed = issue({ keyType: "rsa" });
const another = issue({ keyType: "ecdsa" });

test("a certificate that is being issued is waited for, and a temporary one is not uploaded", async () => {
  await world.kube.apply(manifest("TLSCertificate", "shop", { secretName: "shop-tls" }));
  await refused('Create Secret "shop-tls" in this namespace: spec.secretName refers to it');
  await written(issue({ issuerName: "cert-manager.local", subjectSerialNumber: "1234567890" }));
  await refused('Correct Secret "shop-tls": it has a temporary certificate until cert-manager gets the real one');
  const object = await world.get("TLSCertificate", "shop");
  expect(conditionOf(object, "Stalled")).toBeUndefined();
  expect(uploads()).toEqual([]);
});

test("the certificate that is issued is uploaded with its chain and key, and nothing else of the Secret", async () => {
  const combined = { "tls-combined.pem": first.key + first.chain, "key.der": "binary", "truststore.jks": "binary" };
  await written({ ...first, more: combined });
  await serves(first);
  const [{ body } = {}] = uploads();
  const { certificate_pem, private_key_pem, ...others } = body as Record<string, string>;
  expect([certificate_pem, private_key_pem]).toEqual([first.chain, first.key]);
  expect(Object.keys(others).filter((member) => !["description", "metadata"].includes(member))).toEqual([]);
});

test("a Secret that changes beside the certificate costs no upload", async () => {
  const count = uploads().length;
  await world.kube.annotate("Secret", "shop-tls", { "cert-manager.io/alt-names": domain });
  await written({ ...first, more: { "tls-combined.pem": first.chain + first.key } });
  await world.quiet();
  expect(uploads()).toHaveLength(count);
});

test.each([
  ["a renewal", renewed],
  ["a certificate with a key of another type", another],
])("%s takes the place of the certificate before it", async (_, next) => {
  await written(next);
  await serves(next);
});

test.each<[string, Issued, string]>([
  [
    "a chain without the certificate of the key",
    { ...renewed, chain: authority + selfSigned({ commonName: "x" }).certificatePem },
    '"tls.key" is the key of no certificate in key "tls.crt"',
  ],
  [
    "a chain in the wrong order, the authority first",
    { ...renewed, chain: authority + renewed.chain.replace(authority, "") },
    'the certificate of "tls.key" has to be the first in key "tls.crt", and is number 2',
  ],
  [
    "the key of the certificate before",
    { chain: renewed.chain, key: another.key },
    '"tls.key" is the key of no certificate in key "tls.crt"',
  ],
  ["half a certificate", { ...renewed, chain: renewed.chain.slice(0, 200) }, 'key "tls.crt" has no certificate in PEM'],
  [
    "no key",
    { ...renewed, key: "-----BEGIN" },
    'key "tls.key" has no private key in PEM, or one that needs a password',
  ],
])(
  "%s is not uploaded, the message says what is wrong, and the certificate before goes on",
  async (_, broken, words) => {
    await written(broken);
    await refused(`Correct Secret "shop-tls": ${words}`);
    expect(rows()).toMatchObject([{ certificate_pem: another.chain }]);
    expect(conditionOf(await world.get("TLSCertificate", "shop"), "Ready")?.status).toBe("True");
    await written(another);
    await world.condition("TLSCertificate", "shop", { type: "Synced", status: "True" });
  },
);
