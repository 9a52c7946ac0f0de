import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import * as z from "zod";

const BLOCKS = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g;

/** Normalizes PEM: line ends, blank lines, and text around the blocks are ignored. */
export const pem = (value: unknown): unknown =>
  typeof value === "string" ? (value.match(BLOCKS) ?? [value]).map(tidy).join("\n") : value;

const tidy = (block: string): string =>
  block
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean)
    .join("\n");

/**
 * Why a Secret of type kubernetes.io/tls cannot be used, for a message. Undefined: it can be used. Checked here because
 * the service's own answer gives no reason.
 */
export function keyPairProblem({ "tls.crt": chain = "", "tls.key": key = "" }: Readonly<Record<string, string>>) {
  const { blocks, certificates } = certificatesIn(chain);
  if (hasPrivateKey(chain)) return `key "tls.crt" has a private key, which whoever may read the account would read`;
  if (blocks.length === 0) return `key "tls.crt" has no certificate in PEM`;
  if (certificates.length < blocks.length) return `a certificate in key "tls.crt" cannot be read`;
  const privateKey: KeyObject | undefined = attempt(() => createPrivateKey(key));
  if (!privateKey) return `key "tls.key" has no private key in PEM, or one that needs a password`;
  const place = certificates.findIndex((certificate) => certificate.checkPrivateKey(privateKey));
  if (place === 0 && isTemporary(certificates[0]))
    return `it has a temporary certificate until cert-manager gets the real one`;
  if (place === 0) return undefined;
  return place > 0
    ? `the certificate of "tls.key" has to be the first in key "tls.crt", and is number ${place + 1}`
    : `"tls.key" is the key of no certificate in key "tls.crt"`;
}

/** Why this text is no list of CA certificates, for a message. Undefined: it is one. */
export function certificatesProblem(value: string): string | undefined {
  const { blocks, certificates } = certificatesIn(value);
  if (hasPrivateKey(value)) return "it has a private key, which whoever may read the account would read";
  if (blocks.length === 0) return "it has no certificate in PEM";
  return certificates.length < blocks.length ? "a certificate in it cannot be read" : undefined;
}

/** The service shows certificates in its answers, and `import` prints them. */
export const hasPrivateKey = (text: string): boolean => text.includes("PRIVATE KEY-----");

function certificatesIn(text: string) {
  const blocks = text.match(BLOCKS) ?? [];
  return { blocks, certificates: blocks.flatMap((block) => attempt(() => new X509Certificate(block)) ?? []) };
}

/**
 * With the annotation issue-temporary-certificate, cert-manager fills the Secret before the real certificate is issued.
 * The temporary certificate is signed by an unknown authority and has this serial number in its subject.
 */
const isTemporary = (certificate: X509Certificate | undefined): boolean =>
  certificate?.issuer.includes("CN=cert-manager.local") === true &&
  certificate.subject.split("\n").includes("serialNumber=1234567890");

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** Status fields that the service reads from a certificate. */
export const certificateFacts = {
  subjectCommonName: z.string().optional().describe("Common name of the subject."),
  notBefore: z.string().optional().describe("Start of the validity, in RFC 3339."),
  notAfter: z.string().optional().describe("End of the validity, in RFC 3339."),
  keyUsages: z.array(z.string()).optional().describe("Key usages."),
  extendedKeyUsages: z.array(z.string()).optional().describe("Extended key usages."),
};

/** The fields of `certificateFacts` with the validity. */
export const certificateValidity = { from: "notBefore", until: "notAfter" } as const;
