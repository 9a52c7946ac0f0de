import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../../src/config.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { chart, objectsIn, useHelm } from "./support/helm.ts";

/** What the operator refuses at its start is refused by the chart, with the name of the value. */
const helm = useHelm();

interface Rendered {
  readonly refusal: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** The environment of the operator with these values, as JSON by their paths, or why there is none. */
async function rendered(values: Readonly<Record<string, unknown>>): Promise<Rendered> {
  const all = { "gateway.baseURL": "https://api.gateway.example", "crds.enabled": false, ...values };
  const flags = Object.entries(all).flatMap(([path, value]) => ["--set-json", `${path}=${JSON.stringify(value)}`]);
  const shown = ["--show-only", "templates/deployment.yaml"];
  const { code, stdout, stderr } = await helm("template", "gateway", chart, ...shown, ...flags);
  if (code !== 0) return { refusal: stderr, environment: {} };
  const { env } = objectsIn(stdout)[0].spec.template.spec.containers[0];
  const pairs = env.map(({ name, value, valueFrom }: KubeJSON) => [name, value ?? valueFrom.fieldRef.fieldPath]);
  return { refusal: undefined, environment: Object.fromEntries(pairs) };
}

/** Why the operator would not start, by its settings. */
function refusalOf(environment: Readonly<Record<string, string>>): string | undefined {
  try {
    readConfig(environment);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** The value, the variable that it becomes, and texts that the operator takes and refuses. */
const settings: readonly [value: string, variable: string, taken: readonly unknown[], refused: readonly unknown[]][] = [
  [
    "gateway.baseURL",
    "GATEWAY_BASE_URL",
    [
      ...["https://api.gateway.example:8443/v1?a=b", "https://10.0.0.1", "https://[2001:db8::1]:8443", "https://a_b"],
      ...["http://localhost:9000", "http://api.localhost", "http://127.0.0.2/v1", "http://[::1]:9000"],
    ],
    [
      ...["http://api.gateway.example", "http://api.gateway.example/localhost", "http://127.0.0.1.example"],
      ...["https://api.gateway.example:65536", "https://api.gateway.example:a", "https://10.0.0.256", "https://a.1"],
      ...[
        "https://[::1",
        "https://[1::2::3]",
        "https://[1:2:3:4:5:6:7:8:9]",
        "https://a%20b",
        "https://me@api.example",
      ],
    ],
  ],
  [
    "tracing.otlpEndpoint",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    ["http://collector.monitoring:4318", "https://[::1]:4318/path"],
    ["http://collector:99999", "http://collector.08", "http://[::g]"],
  ],
  [
    "gateway.allowedHosts",
    "ALLOWED_GATEWAY_HOSTS",
    [
      ["api.example.com", "api.example.com:8443"],
      ["10.0.0.1", "[::1]:80"],
    ],
    [["https://api.example.com"], ["api.example.com/v1"], ["api.example.com:65536"], ["a", "b c"], ["10.0.0.300"]],
  ],
  [
    "dns.resolvers",
    "DNS_RESOLVERS",
    [
      ["10.0.0.10", "10.0.0.10:5353"],
      ["::1", "[2001:db8::53]:53", "[10.0.0.1]:53", "::ffff:10.0.0.1", "1:2:3:4:5:6:7::"],
    ],
    [
      ["10.0.0"],
      ["10.0.0.256"],
      ["10.0.0.10:0"],
      ["10.0.0.10:65536"],
      ["[::1"],
      ["1:2:3"],
      ["1:2:3:4:5:6:7:8::"],
      [":"],
    ],
  ],
  [
    "proxy.https",
    "HTTPS_PROXY",
    ["http://proxy.example:3128", "https://me:a%20word@proxy.example", "socks5h://proxy.example:1080"],
    ["http://me:50%@proxy.example", "http://proxy.example:99999", "ftp://proxy"],
  ],
  ["proxy.http", "HTTP_PROXY", ["http://10.0.0.1:3128"], ["http://", "socks4://10.0.0.1"]],
  ["gateway.requestTimeout", "REQUEST_TIMEOUT", ["1s", "1500ms", "0.5s500ms", "1h"], ["0s", "999ms", "0.9s"]],
  ["gateway.resyncInterval", "RESYNC_INTERVAL", ["1h30m"], ["0s", "0.01m"]],
  ["gateway.sessionSyncInterval", "SESSION_SYNC_INTERVAL", ["0", "0s", "1s"], ["500ms"]],
  [
    "watchSelector",
    "WATCH_SELECTOR",
    [
      "team,team!=a",
      "team!=a,team!=b",
      "!team,team!=a",
      "team in (a, b),team=b",
      "in in (in)",
      "a.b/c notin (x),a.b/c=y",
    ],
    ["team,!team", "team=a,team=b", "team in (a,b),team notin (b, a)", "team==a,other,team!=a", "team=a,!team"],
  ],
];

describe.each(settings)("%s", (value, variable, taken, refused) => {
  test.each(taken.map((given) => [JSON.stringify(given), given]))("%s is taken by both", async (_, given) => {
    const { refusal, environment } = await rendered({ [value]: given });
    expect(refusal).toBeUndefined();
    expect(environment[variable]).toBe([given].flat().join(","));
    expect(refusalOf(environment)).toBeUndefined();
  });

  test.each(refused.map((given) => [JSON.stringify(given), given]))("%s is refused by both", async (_, given) => {
    const least = { GATEWAY_BASE_URL: "https://api.gateway.example", GATEWAY_API_KEY_FILE: "/api-key" };
    expect(refusalOf({ ...least, [variable]: [given].flat().join(",") })).toContain(variable);
    const { refusal } = await rendered({ [value]: given });
    expect(refusal?.replaceAll("/", ".")).toContain(value);
  });
});

test("a message about a proxy does not show its password", async () => {
  const { refusal } = await rendered({ "proxy.https": "http://me:pa%ss@proxy.example" });
  expect(refusal).toContain("proxy.https must be the address of a proxy");
  expect(refusal).not.toContain("pa%ss");
});

test.each([
  ["http://collector:4318", "", true],
  ["http://collector:4318", "other, .collector", true],
  ["http://collector:4318", "other, collector", false],
  ["http://Collector.traces:4318", "traces", false],
  ["http://collector.traces:4318", "*.traces", false],
  ["http://collector:4318", "*", false],
  ["http://127.0.0.1:4318", "", false],
  ["http://10.1.2.3:4318", "10.0.0.0/8", false],
  ["https://collector:4318", "", false],
])(
  "traces to %s past a SOCKS proxy for http, with noProxy %j: refused by both: %s",
  async (endpoint, noProxy, isRefused) => {
    const proxy = {
      "proxy.http": "socks5://proxy.example",
      "proxy.https": "http://proxy.example",
      "proxy.noProxy": noProxy,
    };
    const { refusal, environment } = await rendered({ "tracing.otlpEndpoint": endpoint, ...proxy });
    expect(refusal?.includes("tracing.otlpEndpoint: add ") ?? false).toBe(isRefused);
    const named = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, HTTP_PROXY: "socks5://proxy.example", NO_PROXY: noProxy };
    const least = { GATEWAY_BASE_URL: "https://api.gateway.example", GATEWAY_API_KEY_FILE: "/api-key" };
    expect(refusalOf({ ...least, ...environment, ...named })?.includes("Add the host of the collector") ?? false).toBe(
      isRefused,
    );
  },
);

test("plain HTTP is for those who say so", async () => {
  const values = { "gateway.baseURL": "http://api.gateway.example" };
  const { refusal } = await rendered(values);
  expect(refusal).toContain("gateway.baseURL must begin with https://");
  expect(refusal).toContain("gateway.allowPlaintext: true allows http://");
  const { environment } = await rendered({ ...values, "gateway.allowPlaintext": true });
  expect(refusalOf(environment)).toBeUndefined();
});

describe("extraEnv", () => {
  const own = async (): Promise<string[]> =>
    [
      ...(await readFile(join(import.meta.dirname, "../../src/config.ts"), "utf8")).matchAll(
        /^ {2,4}([A-Z_]+|[a-z]+_proxy): /gm,
      ),
    ]
      .map(([, name = ""]) => name)
      // these are no settings of the chart
      .filter((name) => name !== "KUBECONFIG" && !name.startsWith("KUBERNETES_"));

  test("cannot set what the operator reads, for which the chart has values", async () => {
    const checks = await readFile(join(chart, "templates/_checks.tpl"), "utf8");
    const listed = [...checks.matchAll(/"([A-Z]+_[A-Z_]+|[a-z]+_proxy)"/g)].map(([, name]) => name);
    const { environment } = await rendered({});
    const names = await own();
    expect(names.length).toBeGreaterThan(25);
    expect(names.filter((name) => !listed.includes(name) && !(name in environment))).toEqual([]);
  });

  test.each([
    ["GATEWAY_API_KEY", {}],
    ["METRICS_ADDRESS", {}],
    ["CLUSTER_ID", {}],
    ["https_proxy", {}],
    ["NODE_EXTRA_CA_CERTS", { "trustBundle.configMap": "a" }],
  ])("with %s is refused", async (name, values) => {
    const { refusal } = await rendered({ extraEnv: [{ name, value: "a" }], ...values });
    expect(refusal).toContain(`extraEnv: ${name} is set by a value of the chart`);
  });

  test("takes what is for others, once", async () => {
    const one = { name: "OTEL_EXPORTER_OTLP_HEADERS", value: "a=b" };
    expect((await rendered({ extraEnv: [one] })).environment).toHaveProperty(one.name, one.value);
    expect((await rendered({ extraEnv: [one, one] })).refusal).toContain("there twice");
  });
});
