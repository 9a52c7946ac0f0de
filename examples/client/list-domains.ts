// The reserved domains of an account: GATEWAY_BASE_URL=… GATEWAY_API_KEY=… node examples/client/list-domains.ts
import { GatewayClient } from "../../src/gateway/client.ts";
import { reservedDomains } from "../../src/gateway/resources/index.ts";

const { GATEWAY_BASE_URL: baseURL = "", GATEWAY_API_KEY: apiKey = "" } = process.env;
// without a proxy in between
const client = new GatewayClient({ baseURL, apiKey, proxies: {} });
for (const { id, domain, cname_target } of await client.listAll(reservedDomains)) {
  console.log(id, domain, cname_target ?? "");
}
await client.close();
