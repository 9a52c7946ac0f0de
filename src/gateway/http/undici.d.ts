// A part of undici that is imported on its own, because the whole package takes 4 MiB more of memory for what is not used
// here: fetch, WebSocket, caches and mocks. Its own types only describe the whole.
declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}
