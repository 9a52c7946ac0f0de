import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";

/** The proxies of the environment. Their addresses may hold passwords. */
export interface Proxies {
  /** For hosts that are reached by http://. */
  readonly http?: URL | undefined;
  /** For hosts that are reached by https://. */
  readonly https?: URL | undefined;
  /** Hosts that are reached without a proxy, separated by commas. */
  readonly noProxy?: string | undefined;
}

const schemes: readonly string[] = ["http:", "https:", "socks5:"];

/**
 * The address of a proxy, which is reached by http:// if it does not say how. Undefined: it is no such address. The name
 * of a SOCKS proxy's target is always resolved by the proxy, so socks5h:// means the same as socks5://.
 */
export function parseProxy(text: string): URL | undefined {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (!url?.hostname || !hasReadableCredentials(url)) return undefined;
  const plain = URL.parse(url.href.replace(/^socks5h:/, "socks5:"));
  return plain && schemes.includes(plain.protocol) ? plain : undefined;
}

function hasReadableCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}:${password}`);
    return true;
  } catch {
    return false;
  }
}

/**
 * The proxy to a host; undefined: there is none between. It is the one that Go programs such as kubectl choose, so that a
 * cluster needs these settings in one form only. This computer itself is always reached without a proxy.
 */
export function proxyFor({ http, https, noProxy = "" }: Proxies, to: URL): URL | undefined {
  const proxy = to.protocol === "https:" ? https : http;
  if (!proxy) return undefined;
  const host = to.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = to.port || (to.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || isIn(loopback, host)) return undefined;
  const entries = noProxy.split(",").map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === "*" || matches(entry, host, port)) ? undefined : proxy;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** IPv4 addresses, also in the notation of IPv6. */
const ipv4 = new BlockList();
ipv4.addSubnet("0.0.0.0", 0, "ipv4");

const familyOf = (host: string): "ipv4" | "ipv6" => (isIP(host) === 6 ? "ipv6" : "ipv4");

const isIn = (list: BlockList, host: string): boolean => isIP(host) !== 0 && list.check(host, familyOf(host));

/** Whether an entry of NO_PROXY means a host. An entry that cannot be read means none. */
function matches(entry: string, host: string, port: string): boolean {
  const [, net = "", bits] = /^([^/%]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isIP(net) !== 0) return isInSubnet(net, Number(bits), host);
  const [, name = entry, only = ""] = /^\[?([^[\]]+)\]?:([^:\]]*)$/.exec(isIP(entry) === 6 ? "" : entry) ?? [];
  if (only !== "" && only !== port) return false;
  return isIP(name) === 0 ? isIP(host) === 0 && isNamedBy(name, host) : isAddress(name, host);
}

/** `example.com` is that host and all below it; `.example.com` and `*.example.com` are only those below it. */
function isNamedBy(name: string, host: string): boolean {
  if (name === "") return false;
  const below = name.replace(/^\*(?=\.)/, "");
  const parent = inASCII(below.replace(/^\./, ""));
  return host.endsWith(`.${parent}`) || (!below.startsWith(".") && host === parent);
}

const inASCII = (name: string): string => (/^[ -~]*$/.test(name) ? name : domainToASCII(name));

function isInSubnet(net: string, bits: number, host: string): boolean {
  const family = familyOf(net);
  if (bits > (family === "ipv6" ? 128 : 32) || (family === "ipv6" && isIn(ipv4, host))) return false;
  const list = new BlockList();
  list.addSubnet(net, bits, family);
  return isIn(list, host);
}

function isAddress(ip: string, host: string): boolean {
  if (ip.includes("%")) return false;
  const list = new BlockList();
  list.addAddress(ip, familyOf(ip));
  return isIn(list, host);
}
