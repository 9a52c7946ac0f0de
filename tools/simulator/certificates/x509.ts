import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { invalid } from "../http/refusal.ts";
import type { Check } from "../shape/check.ts";
import { string } from "../shape/scalars.ts";
import { stamp } from "../shape/time.ts";

const block = (label: string): RegExp => new RegExp(`-----BEGIN ${label}-----[\\s\\S]+?-----END ${label}-----`, "g");

export const certificatePem: Check = (value, at, store) => {
  if (!block("CERTIFICATE").test(string(value, at, store) as string))
    throw invalid(`${at}: holds no CERTIFICATE block`);
  return value;
};

export const privateKeyPem: Check = (value, at, store) => {
  if (!block("(?:[A-Z]+ )*PRIVATE KEY").test(string(value, at, store) as string)) {
    throw invalid(`${at}: holds no PRIVATE KEY block`);
  }
  return value;
};

/** The first certificate of a PEM chain; undefined when Node cannot parse it. */
export function leafOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block("CERTIFICATE").exec(pem)?.[0] ?? "");
  } catch {
    return undefined;
  }
}

export function keyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** The parts of a distinguished name. Node prints each on a line of its own. */
export function nameParts(name: string | undefined): Readonly<Record<string, string>> {
  const parts = (name ?? "").split("\n").map((line) => line.split("="));
  return Object.fromEntries(parts.map(([key = "", ...value]) => [key, value.join("=")]));
}

export function alternativeNames({ subjectAltName = "" }: X509Certificate): { dns_names: string[]; ips: string[] } {
  const names = subjectAltName.split(", ");
  const after = (mark: string) => names.filter((name) => name.startsWith(mark)).map((name) => name.slice(mark.length));
  return { dns_names: after("DNS:"), ips: after("IP Address:") };
}

export const validity = ({ validFrom, validTo }: X509Certificate) => ({
  not_before: stamp(Date.parse(validFrom)),
  not_after: stamp(Date.parse(validTo)),
});

const usages = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
];

const keyUsageExtension = Buffer.from("0603551d0f", "hex");

/** Read from the DER bytes: Node has no property for the key usages. */
export function keyUsages({ raw }: X509Certificate): string[] {
  const found = raw.indexOf(keyUsageExtension);
  if (found === -1) return [];
  const bitString = raw.indexOf(0x03, raw.indexOf(0x04, found + keyUsageExtension.length));
  const flags = raw[bitString + 3] ?? 0;
  return usages.filter((_, index) => flags & (0x80 >> index));
}

const purposes: Readonly<Record<string, string>> = {
  "1.3.6.1.5.5.7.3.1": "serverAuth",
  "1.3.6.1.5.5.7.3.2": "clientAuth",
  "1.3.6.1.5.5.7.3.3": "codeSigning",
  "1.3.6.1.5.5.7.3.4": "emailProtection",
};

/** What Node calls `keyUsage` is the extended key usage. */
export const extendedKeyUsages = ({ keyUsage }: X509Certificate): string[] =>
  ((keyUsage as string[] | undefined) ?? []).map((oid) => purposes[oid] ?? oid);

const keyTypes: Readonly<Record<string, string>> = { rsa: "rsa", ec: "ecdsa", ed25519: "ed25519" };

export const keyTypeOf = (key: KeyObject | undefined): string | undefined => keyTypes[key?.asymmetricKeyType ?? ""];
