import { randomBytes, timingSafeEqual } from "node:crypto";

/** What a request says of itself, before anything of it is believed. */
export interface Asked {
  method: string;
  /** As it was sent: a path with its query. */
  url: string;
  host: string | undefined;
  origin: string | undefined;
  cookie: string | undefined;
}

/** Where this server is, and the token of this start. */
export interface Place {
  port: number;
  token: string;
  /**
   * A token that gets the cookie once, for an address that other people of this machine may see. Unset: there is none,
   * or a request has used it.
   */
  oneTimeToken?: string | undefined;
}

/** What is answered in place of a page. */
export type Refusal = { status: number; line: string } | { status: 303; location: string; cookie: string };

/** A token that nobody guesses. It is another one at each start. */
export const newToken = (): string => randomBytes(32).toString("base64url");

export const addressOf = ({ port, token }: Pick<Place, "port" | "token">): string =>
  `http://127.0.0.1:${port}/?token=${token}`;

/** The path to which files may be sent. */
export const PLAN = "/plan";

/**
 * Why a request gets no page. Undefined: it comes from a page of this server, or from the person who has its address. A
 * page elsewhere has another Origin, a name that leads here has another Host, and neither has the token. The request that
 * gets the cookie for the one-time token takes this token out of the place.
 */
export function refusalOf(asked: Asked, place: Place): Refusal | undefined {
  const hosts = [`127.0.0.1:${place.port}`, `localhost:${place.port}`];
  if (!hosts.includes(asked.host ?? "")) return { status: 421, line: "Open the address that the command has printed" };
  if (asked.origin !== undefined && asked.origin !== `http://${asked.host}`)
    return { status: 403, line: "Open the address that the command has printed: another page has sent this" };
  const url = urlOf(asked);
  if (!url) return { status: 400, line: "Give a path of this page" };
  if (asked.method !== "GET" && !(asked.method === "POST" && url.pathname === PLAN))
    return { status: 405, line: "This page is read-only" };
  const given = url.searchParams.get("token");
  if (given !== null && asked.method === "GET" && isToken(given, place)) return withCookie(url, place);
  return isSame(cookieOf(asked.cookie, nameOf(place)), place.token)
    ? undefined
    : { status: 403, line: "Open the address that the command has printed: this one has not the token of this start" };
}

function isToken(given: string, place: Place): boolean {
  if (isSame(given, place.token)) return true;
  if (place.oneTimeToken === undefined || !isSame(given, place.oneTimeToken)) return false;
  place.oneTimeToken = undefined;
  return true;
}

/** Undefined: it is no path. A path that begins with two slashes would lead to another host. */
export function urlOf({ url }: Pick<Asked, "url">): URL | undefined {
  if (!url.startsWith("/") || url.startsWith("//") || url.includes("\\")) return undefined;
  const parsed = URL.parse(url, "http://127.0.0.1");
  return parsed?.host === "127.0.0.1" ? parsed : undefined;
}

/** The token does not stay in the address, which ends in histories and pictures. */
function withCookie(url: URL, place: Place): Refusal {
  url.searchParams.delete("token");
  const cookie = `${nameOf(place)}=${place.token}; Path=/; HttpOnly; SameSite=Strict`;
  return { status: 303, location: `${url.pathname}${url.search}`, cookie };
}

/** Cookies are the same for all ports of a host. */
const nameOf = ({ port }: Place): string => `tunnelgateway-${port}`;

const cookieOf = (header: string | undefined, name: string): string =>
  (header ?? "")
    .split(/; */)
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? "";

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
