import * as z from "zod";

/** Normalizes PEM: line ends, blank lines and text around the blocks do not count. */
export const pem = (value: unknown): unknown =>
  typeof value === "string"
    ? (value.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [value]).map(tidy).join("\n")
    : value;

const tidy = (block: string): string =>
  block
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean)
    .join("\n");

/** What the service reads out of a certificate. */
export const certificateFacts = {
  subjectCommonName: z.string().optional().describe("Common name of the subject."),
  notBefore: z.string().optional().describe("Start of the validity, in RFC 3339."),
  notAfter: z.string().optional().describe("End of the validity, in RFC 3339."),
  keyUsages: z.array(z.string()).optional().describe("Key usages."),
  extendedKeyUsages: z.array(z.string()).optional().describe("Extended key usages."),
};

/** Those of them that say how long a certificate is valid. */
export const certificateValidity = { from: "notBefore", until: "notAfter" } as const;
