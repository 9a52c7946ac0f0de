// Parts of undici that are imported on their own, because the whole package takes 4 MiB more of memory for fetch,
// WebSocket, caches and mocks, which are not used here. Its own types describe only the whole package.

declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  export { ProxyAgent as default } from "undici";
}

declare module "undici/lib/dispatcher/socks5-proxy-agent.js" {
  export { Socks5ProxyAgent as default } from "undici";
}

declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  /** The method `request` of dispatchers, which only the whole package adds to them. */
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}
