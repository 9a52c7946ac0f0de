import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { selfSigned } from "./self-signed.ts";
import { alternativeNames, extendedKeyUsages, keyTypeOf, keyUsages, leafOf, nameParts, validity } from "./x509.ts";

describe.each(["rsa", "ecdsa", "ed25519"] as const)("a self-signed %s certificate", (keyType) => {
  const made = selfSigned({ commonName: "www.example.org", keyType });
  const certificate = new X509Certificate(made.certificatePem);

  it("is signed by its own key, which comes with it", () => {
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(made.privateKeyPem))).toBe(true);
    expect(keyTypeOf(certificate.publicKey)).toBe(keyType);
  });
});

describe("what is read from a certificate", () => {
  const { certificatePem } = selfSigned({
    commonName: "www.example.org",
    organization: "Example = Sons",
    dnsNames: ["www.example.org", "*.example.org"],
    ips: ["192.0.2.1"],
    notBefore: new Date("2026-01-02T03:04:05Z"),
    notAfter: new Date("2051-01-02T03:04:05Z"),
  });
  const leaf = new X509Certificate(certificatePem);

  it("is what it was made of", () => {
    expect(nameParts(leaf.subject)).toEqual({ CN: "www.example.org", O: "Example = Sons" });
    expect(alternativeNames(leaf)).toEqual({ dns_names: ["www.example.org", "*.example.org"], ips: ["192.0.2.1"] });
    expect(validity(leaf)).toEqual({ not_before: "2026-01-02T03:04:05Z", not_after: "2051-01-02T03:04:05Z" });
    expect(keyUsages(leaf)).toEqual(["digitalSignature", "keyEncipherment"]);
    expect(extendedKeyUsages(leaf)).toEqual(["serverAuth", "clientAuth"]);
  });

  it("tells an authority from a leaf", () => {
    const authority = new X509Certificate(selfSigned({ commonName: "CA", authority: true }).certificatePem);
    expect([authority.ca, leaf.ca]).toEqual([true, false]);
    expect(keyUsages(authority)).toEqual(["keyCertSign", "cRLSign"]);
    expect(extendedKeyUsages(authority)).toEqual([]);
  });

  it("is the first certificate of a chain", () => {
    const authority = selfSigned({ commonName: "CA", authority: true });
    expect(leafOf(`${certificatePem}${authority.certificatePem}`)?.subject).toContain("www.example.org");
    expect(leafOf("-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----")).toBeUndefined();
  });
});
