import { readFile } from "node:fs/promises";
import type { Credentials } from "./connection.ts";
import type { FileOrData, RestConfig } from "./rest-config.ts";

/** The credentials that a RestConfig holds, or whose files it names. */
export async function credentialsOf(config: RestConfig): Promise<Credentials> {
  const [ca, cert, key] = await Promise.all([config.ca, config.cert, config.key].map(read));
  const { servername, skipVerification } = config;
  return {
    headers: await authorization(config),
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(skipVerification && { rejectUnauthorized: false }),
    },
  };
}

async function read({ data, file }: FileOrData): Promise<Buffer | undefined> {
  if (data !== undefined) return Buffer.from(data, "base64");
  return file === undefined ? undefined : contentOf(file);
}

/** Rejects when the file is empty: whoever replaces it is not done yet, and a request without a token is anonymous. */
async function contentOf(file: string): Promise<Buffer> {
  const content = await readFile(file);
  if (content.toString("latin1").trim() === "") throw new Error(`${file} is empty`);
  return content;
}

async function authorization({ token, tokenFile, username, password }: RestConfig): Promise<Record<string, string>> {
  // the file comes first, as in kubectl: it may be renewed
  const bearer = tokenFile ? (await contentOf(tokenFile)).toString() : token;
  if (bearer) return { Authorization: `Bearer ${bearer.trim()}` };
  if (!username) return {};
  return { Authorization: `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` };
}
