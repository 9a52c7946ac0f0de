// Every family of the API page, in one file each or with its like.
export * from "./agent-ingresses.ts";
export * from "./api-keys.ts";
export * from "./backends.ts";
export * from "./certificates.ts";
export * from "./edges.ts";
export * from "./events.ts";
export * from "./ip-policies.ts";
export * from "./reserved-addresses.ts";
export * from "./reserved-domains.ts";
export * from "./route-modules.ts";
export * from "./ssh.ts";
export * from "./tunnel-sessions.ts";
