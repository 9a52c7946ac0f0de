/** The address of the service. `origin` has no slash at its end; `prefix` is `""` or, for example, `/some/path`. */
export interface BaseURL {
  readonly origin: string;
  readonly prefix: string;
}

/**
 * Parses the base URL of the service. Throws TypeError when it is not http or https, or has credentials, a query or a
 * fragment. The message does not quote the URL.
 */
export function parseBaseURL(text: string): BaseURL {
  const url = URL.parse(text.trim());
  if (!url) throw new TypeError("The base URL is not an absolute URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new TypeError("The base URL is not http or https");
  if (url.username || url.password) throw new TypeError("The base URL must not hold credentials");
  if (url.search || url.hash) throw new TypeError("The base URL must not hold a query or a fragment");
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, "") };
}

/**
 * The path and query of the page that `next` names: an absolute URL, a path with or without the prefix of the base, a
 * path relative to the base, or only a query for `collection`. Undefined when it is invalid. A service behind a proxy
 * may name itself by another origin, which must not receive the API key: the page is then read from the base, under its
 * path of `collection` if that is where the other path ends.
 */
export function resolvePage(base: BaseURL, collection: string, next: string): string | undefined {
  const url = URL.parse(next.startsWith("?") ? `${collection}${next}` : next, `${base.origin}${base.prefix}/`);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return undefined;
  const own = collection.slice(base.prefix.length);
  if (url.origin !== base.origin && url.pathname.endsWith(own)) return `${collection}${url.search}`;
  const prefixed = url.pathname === base.prefix || url.pathname.startsWith(`${base.prefix}/`);
  return `${prefixed ? "" : base.prefix}${url.pathname}${url.search}`;
}
