import { readFile } from "node:fs/promises";
import type { Access, Held } from "./access.ts";
import type { Credentials } from "./connection.ts";

/** Reads what an Access points to. */
export async function credentialsOf(access: Access): Promise<Credentials> {
  const [ca, cert, key] = await Promise.all([access.ca, access.cert, access.key].map(read));
  const { servername, skipVerification } = access;
  return {
    headers: await authorization(access),
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(skipVerification && { rejectUnauthorized: false }),
    },
  };
}

async function read({ data, file }: Held): Promise<Buffer | undefined> {
  if (data !== undefined) return Buffer.from(data, "base64");
  return file === undefined ? undefined : readFile(file);
}

async function authorization({ token, tokenFile, username, password }: Access): Promise<Record<string, string>> {
  // kubectl lets the file win, since it may be renewed
  const bearer = tokenFile ? await readFile(tokenFile, "utf8") : token;
  if (bearer) return { Authorization: `Bearer ${bearer.trim()}` };
  if (!username) return {};
  return { Authorization: `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` };
}
