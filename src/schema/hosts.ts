// Names of hosts as the service compares them. What a user writes is sent and shown as it is.

/** In lower case, without the final dot, and in ASCII: `xn--` for what has other letters. */
export function hostname(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const name = value.trim().toLowerCase().replace(/\.$/, "");
  if (isASCII(name) || /[\s/\\?#@:]/.test(name)) return name;
  return URL.parse(`http://${name}`)?.hostname || name;
}

/** A host, with a port or without one. */
export function hostport(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const [, host, port] = /^(.*):(\d+)$/.exec(value.trim()) ?? [];
  return port === undefined ? hostname(value) : `${hostname(host)}:${Number(port)}`;
}

/** The target of a rule may be a host, with a port or without one. A label has a "=" in it, and keeps its case. */
export function bindRule(value: unknown): unknown {
  if (typeof value !== "string" || value.includes("=")) return value;
  const [, target] = /^bind:(.*)$/.exec(value) ?? [];
  return target === undefined ? value : `bind:${hostport(target)}`;
}

/** A part of a host name, for a pattern with the flag `u`: dots are between the parts. */
const PART = "[_\\p{L}\\p{N}]([-_\\p{L}\\p{M}\\p{N}]{0,61}[_\\p{L}\\p{M}\\p{N}])?";

/** A number from 1 to 65535, for a pattern. */
const PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

/** A host name, which may begin with a wildcard and end with a dot, and a port. */
export const hostportPattern = new RegExp(`^(\\*\\.)?${PART}(\\.${PART})*\\.?:${PORT}$`, "u");

/** The host of a URL, with a port or without one, for a pattern. Only what ends a host is not in one. */
export const URL_HOST = `([^\\s/\\\\?#@:[\\]%<>|^"\`]+|\\[[0-9A-Fa-f:.]+\\])(:${PORT})?`;

export const isASCII = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
