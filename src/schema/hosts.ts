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

const isASCII = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
