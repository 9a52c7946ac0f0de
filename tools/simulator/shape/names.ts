import { isIP } from "node:net";
import { invalid } from "../http/refusal.ts";
import type { Check } from "./check.ts";
import { string } from "./scalars.ts";
import { stamp } from "./time.ts";

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

const isHostname = (name: string): boolean => {
  const labels = name.split(".");
  return name.length <= 253 && labels.length >= 2 && labels.every((part) => label.test(part));
};

/** The service stores it in lower case. */
export const hostname: Check = (value, at, store) => {
  const name = (string(value, at, store) as string).toLowerCase();
  if (!isHostname(name)) throw invalid(`${at}: is not a valid domain`);
  return name;
};

/** A hostname whose first label may be `*`. */
export const domain: Check = (value, at, store) => {
  const name = (string(value, at, store) as string).toLowerCase();
  if (!isHostname(name.replace(/^\*\./, ""))) throw invalid(`${at}: is not a valid domain`);
  return name;
};

export const hostport: Check = (value, at, store) => {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(string(value, at, store) as string) ?? [];
  const known = isHostname(host.toLowerCase().replace(/^\*\./, "")) || isIP(host) !== 0;
  if (!known || Number(port) < 1 || Number(port) > 65_535) throw invalid(`${at}: must be hostname:port`);
  return `${host.toLowerCase()}:${Number(port)}`;
};

export const webUrl: Check = (value, at, store) => {
  const url = URL.parse(string(value, at, store) as string);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw invalid(`${at}: must be a URL`);
  return value;
};

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The service stores it in UTC and whole seconds. */
export const timestamp: Check = (value, at, store) => {
  const text = (string(value, at, store) as string).toUpperCase();
  const time = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(`${at}: must be an RFC 3339 timestamp`);
  return stamp(time);
};

const sshKeyTypes: Readonly<Record<string, string>> = {
  "ssh-rsa": "rsa",
  "ssh-ed25519": "ed25519",
  "ecdsa-sha2-nistp256": "ecdsa",
  "ecdsa-sha2-nistp384": "ecdsa",
  "ecdsa-sha2-nistp521": "ecdsa",
};

/** `rsa`, `ecdsa` or `ed25519`; undefined when it is no public key in authorized-keys format. */
export function sshKeyType(key: string): string | undefined {
  const [algorithm = "", blob = ""] = key.trim().split(/\s+/);
  const data = Buffer.from(blob, "base64");
  if (data.length < 4 || data.length < 4 + data.readUInt32BE(0)) return undefined;
  return data.toString("latin1", 4, 4 + data.readUInt32BE(0)) === algorithm ? sshKeyTypes[algorithm] : undefined;
}

export const sshPublicKey: Check = (value, at, store) => {
  const key = (string(value, at, store) as string).trim();
  if (!sshKeyType(key)) throw invalid(`${at}: must be a public key in authorized-keys format`);
  return key;
};
