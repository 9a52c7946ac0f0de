import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubeconfigFor } from "../../shared/kubeconfig.ts";

/** What the components of a control plane read, in their directory. */
export interface Files {
  readonly kubeconfig: string;
  readonly tokens: string;
  readonly serviceAccountKey: string;
  /** Where the API server puts its own certificate. */
  readonly certificates: string;
  readonly certificate: string;
  /** Of a user in `system:masters`. */
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

/** Once the API server has made its certificate. The kubeconfig stands alone: it may be copied elsewhere. */
export async function writeKubeconfig(files: Files, server: string): Promise<void> {
  const certificateAuthority = await readFile(files.certificate, "base64");
  const text = kubeconfigFor({ server, certificateAuthority, token: files.adminToken });
  await writeFile(files.kubeconfig, text, PRIVATE);
}
