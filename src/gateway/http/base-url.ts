/** Where the service is: `origin` without a slash at its end, `prefix` either `""` or `/some/path`. */
export interface BaseURL {
  readonly origin: string;
  readonly prefix: string;
}

/**
 * Reads the base address of the service. Throws TypeError, with a message that does not repeat the text, when it is
 * not an http or https address, or holds credentials, a query or a fragment.
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
 * The path and query of the page that `next` names: an absolute address, a path with or without the prefix of the base,
 * a path relative to the base, or just a query of `collection`. Undefined when it leads to another origin or nowhere,
 * for the API key must not go there.
 */
export function resolvePage(base: BaseURL, collection: string, next: string): string | undefined {
  const url = URL.parse(next.startsWith("?") ? `${collection}${next}` : next, `${base.origin}${base.prefix}/`);
  if (url?.origin !== base.origin) return undefined;
  const prefixed = url.pathname === base.prefix || url.pathname.startsWith(`${base.prefix}/`);
  return `${prefixed ? "" : base.prefix}${url.pathname}${url.search}`;
}
