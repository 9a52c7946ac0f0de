import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { variables } from "../src/config.ts";
import { run } from "../tools/shared/run.ts";

const root = resolve(import.meta.dirname, "..");

/**
 * The test that uses a variable from outside: it starts the operator or a command as a process with it, or as Helm does.
 * A variable without such a test goes, or gets one.
 */
const tests: Readonly<Record<string, string>> = {
  ADOPTION_NAMESPACES: "test/integration/accounts/identity.test.ts",
  ALLOWED_GATEWAY_HOSTS: "test/integration/accounts/accounts.test.ts",
  CLUSTER_ID: "test/integration/accounts/forged-intents.test.ts",
  HTTPS_PROXY: "test/proxies.test.ts",
  HTTP_PROXY: "test/proxies.test.ts",
  NO_PROXY: "test/proxies.test.ts",
  KEEP_RIGHTS_BINDING: "test/e2e/chart.test.ts",
  RIGHTS_BINDING: "test/e2e/chart.test.ts",
  SECRET_WRITE_NAMESPACES: "test/e2e/chart.test.ts",
  DNS_RESOLVERS: "test/integration/objects/dns.test.ts",
  EXTERNAL_DNS: "test/integration/objects/dns.test.ts",
  EXTERNAL_DNS_NAMESPACES: "test/integration/objects/dns.test.ts",
  FORMER_CLUSTER_IDS: "test/integration/installations/disaster.test.ts",
  GATEWAY_ACCOUNT_CONFIRMED: "test/integration/accounts/key-at-start.test.ts",
  GATEWAY_ALLOW_PLAINTEXT: "test/settings.test.ts",
  GATEWAY_API_KEY: "test/integration/commands/import.test.ts",
  GATEWAY_API_KEY_FILE: "test/integration/service/service.test.ts",
  GATEWAY_BASE_URL: "test/integration/commands/import.test.ts",
  GATEWAY_UNDOCUMENTED_OPERATIONS: "test/integration/service/unshown-operations.test.ts",
  INSTALLATION: "test/integration/installations/installations.test.ts",
  KUBECONFIG: "test/integration/installations/unread-namespace.test.ts",
  LEADER_ELECTION: "test/integration/installations/installations.test.ts",
  LOG_LEVEL: "test/integration/objects/secrets.test.ts",
  MAX_DELETES_PER_MINUTE: "test/integration/costs/delete-limit.test.ts",
  METRICS_ADDRESS: "test/e2e/pages/pages.test.ts",
  OTEL_EXPORTER_OTLP_ENDPOINT: "test/integration/objects/tracing.test.ts",
  POD_NAMESPACE: "test/integration/commands/uninstall-leases.test.ts",
  REQUESTS_PER_MINUTE: "test/integration/costs/fair.test.ts",
  REQUEST_TIMEOUT: "test/integration/costs/fair.test.ts",
  RESYNC_INTERVAL: "test/integration/costs/quiet.test.ts",
  SESSION_SYNC_INTERVAL: "test/integration/kinds/sessions.test.ts",
  WATCH_NAMESPACES: "test/integration/accounts/accounts.test.ts",
  WATCH_SECRETS: "test/integration/objects/secret-watch.test.ts",
  WATCH_SELECTOR: "test/integration/installations/installations.test.ts",
};

/** Kubernetes sets these in every pod, and no person does. */
const ofKubernetes = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];

describe("a variable of the environment", () => {
  // Both spellings of a proxy are one setting.
  const all = [...new Set(variables.map((name) => name.toUpperCase()))].filter((name) => !ofKubernetes.includes(name));

  it("has a test that uses it from outside, and no test is named for one that is gone", () => {
    expect(all.length).toBeGreaterThan(25);
    expect(Object.keys(tests).sort()).toEqual(all.sort());
  });

  it.each(Object.entries(tests))("%s is used in %s", (name, file) => {
    expect(readFileSync(join(root, file), "utf8")).toMatch(new RegExp(`\\b${name}\\b`, "i"));
  });

  it("GATEWAY_ALLOW_PLAINTEXT lets the operator start with an address that anybody can read along", async () => {
    const start = async (env: Record<string, string>) => {
      const given = { GATEWAY_BASE_URL: "http://api.gateway.example", GATEWAY_API_KEY: "k", KUBECONFIG: "/nowhere" };
      const { PATH = "" } = process.env;
      const options = { cwd: root, env: { PATH, ...given, ...env } };
      return run(process.execPath, ["src/main.ts", "run"], options);
    };
    expect((await start({})).stderr).toContain("GATEWAY_BASE_URL must begin with https://");
    const allowed = await start({ GATEWAY_ALLOW_PLAINTEXT: "true" });
    expect(allowed.stderr).not.toContain("GATEWAY_BASE_URL");
    expect(allowed.stderr).toContain("/nowhere");
  });
});
