import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubeconfigFor } from "../../shared/kubeconfig.ts";

/** The files that the components of a control plane read. */
export interface Files {
  readonly kubeconfig: string;
  readonly tokens: string;
  readonly serviceAccountKey: string;
  /** The directory in which the API server stores its own certificate. */
  readonly certificates: string;
  readonly certificate: string;
  /** The token of a user in `system:masters`. */
  readonly adminToken: string;
}

const PRIVATE = { mode: 0o600 };

export async function writeFiles(directory: string): Promise<Files> {
  const files: Files = {
    kubeconfig: join(directory, "kubeconfig"),
    tokens: join(directory, "tokens.csv"),
    serviceAccountKey: join(directory, "service-account.key"),
    certificates: join(directory, "certificates"),
    certificate: join(directory, "certificates", "apiserver.crt"),
    adminToken: randomBytes(24).toString("base64url"),
  };
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(files.serviceAccountKey, privateKey.export({ type: "sec1", format: "pem" }), PRIVATE);
  await writeFile(files.tokens, `${files.adminToken},admin,admin,system:masters\n`, PRIVATE);
  return files;
}

/** Requires the certificate of the API server. The kubeconfig refers to no other file, so it can be copied. */
export async function writeKubeconfig(files: Files, server: string): Promise<void> {
  const certificateAuthority = await readFile(files.certificate, "base64");
  const text = kubeconfigFor({ server, certificateAuthority, token: files.adminToken });
  await writeFile(files.kubeconfig, text, PRIVATE);
}
