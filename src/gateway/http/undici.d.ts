// A part of undici that is imported on its own, because the whole package takes 4 MiB more of memory for fetch,
// WebSocket, caches and mocks, which are not used here. Its own types describe only the whole package.
declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}
