import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError, readAccountConfig, readConfig } from "./config.ts";
import { resolverFor } from "./operator/dns/resolver.ts";

const least = { GATEWAY_BASE_URL: "https://api.example.com", GATEWAY_API_KEY: "key" };

function problem(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error("the environment was accepted");
}

describe("readConfig", () => {
  it("needs an address and a key, and has a default for the rest", async () => {
    const { apiKey, ...rest } = readConfig(least);
    expect(await apiKey()).toBe("key");
    expect(rest).toMatchObject({
      baseURL: "https://api.example.com",
      undocumentedOperations: true,
      watchNamespaces: [],
      resyncSeconds: 300,
      requestsPerMinute: 100,
      requestSeconds: 30,
      metricsAddress: ":8080",
      leaderElection: false,
      watchSecrets: false,
      secretWriteNamespaces: undefined,
      logLevel: "info",
      podNamespace: undefined,
      kubeconfig: undefined,
    });
  });

  it("takes an empty variable for an unset one", () => {
    expect(readConfig({ ...least, RESYNC_INTERVAL: "", LOG_LEVEL: "", GATEWAY_API_KEY_FILE: "" })).toMatchObject({
      resyncSeconds: 300,
      logLevel: "info",
    });
  });

  it("takes the proxies as Go programs do: of both spellings, the lower case counts", () => {
    const { proxies } = readConfig({
      ...least,
      HTTPS_PROXY: "one:1",
      https_proxy: "two:2",
      http_proxy: "",
      NO_PROXY: "a",
    });
    expect(proxies).toEqual({ http: undefined, https: new URL("http://two:2"), noProxy: "a" });
  });

  it("refuses the address of a proxy without quoting its password", () => {
    const said = problem({ ...least, HTTPS_PROXY: "http://user:hunter2@:bad" });
    expect(said).toContain("HTTPS_PROXY must be the address of a proxy");
    expect(said).not.toContain("hunter2");
  });

  it("takes ids of former clusters, and refuses those that no mark can have", () => {
    expect(readConfig(least).formerClusterIDs).toEqual([]);
    expect(readConfig({ ...least, FORMER_CLUSTER_IDS: "blue, red" }).formerClusterIDs).toEqual(["blue", "red"]);
    expect(problem({ ...least, FORMER_CLUSTER_IDS: "blue,a/b" })).toContain("FORMER_CLUSTER_IDS each must be");
  });

  it("takes a label selector, and explains an invalid one in one line", () => {
    expect(readConfig({ ...least, WATCH_SELECTOR: "team in (a, b)" }).watchSelector.text).toBe("team in (a, b)");
    expect(problem({ ...least, WATCH_SELECTOR: "team in a" })).toBe(
      'The environment needs correction:\n  WATCH_SELECTOR must be a label selector such as team=a, team in (a,b), !team: "team in a" is no part of one',
    );
    expect(problem({ ...least, WATCH_SELECTOR: "team,!team" })).toContain("WATCH_SELECTOR selects nothing");
  });

  it("ignores unknown variables", () => {
    expect(readConfig({ ...least, PATH: "/bin", GATEWAY_COLOR: "blue" }).baseURL).toBe("https://api.example.com");
  });

  it.each([
    ["90s", 90],
    ["5m", 300],
    ["1h30m", 5400],
    ["1500ms", 1.5],
    ["1.5m", 90],
  ])("reads %s as %d seconds", (text, seconds) => {
    expect(readConfig({ ...least, RESYNC_INTERVAL: text }).resyncSeconds).toBe(seconds);
  });

  it.each([
    ["a, b ,c", ["a", "b", "c"]],
    [" , ", []],
    ["one", ["one"]],
  ])("reads the namespaces %o", (text, namespaces) => {
    expect(readConfig({ ...least, WATCH_NAMESPACES: text }).watchNamespaces).toEqual(namespaces);
  });

  it("reads resolvers, which Node accepts as they are", () => {
    const given = ["10.0.0.10", "10.0.0.10:5353", "fd00::1", "[fd00::2]", "[fd00::3]:5353"];
    const { dnsResolvers } = readConfig({ ...least, DNS_RESOLVERS: given.join(", ") });
    expect(dnsResolvers).toEqual(given);
    expect(resolverFor(dnsResolvers).getServers()).toHaveLength(given.length);
  });

  it("sends no traces without an endpoint", () => {
    expect(readConfig(least).traces).toBeUndefined();
    expect(readConfig({ ...least, OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }).traces).toEqual({
      files: {},
    });
  });

  it("sends traces through a proxy of HTTP, or without one", () => {
    const traced = { ...least, OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", HTTP_PROXY: "proxy.example:3128" };
    expect(readConfig(traced).traces?.proxy?.host).toBe("proxy.example:3128");
    expect(readConfig({ ...traced, NO_PROXY: "collector" }).traces?.proxy).toBeUndefined();
    const elsewhere = { ...traced, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://collector/v1/traces" };
    expect(readConfig(elsewhere).traces?.proxy).toBeUndefined();
    const socks = { ...traced, HTTP_PROXY: "socks5://proxy.example" };
    expect(problem(socks)).toContain("Add the host of the collector to NO_PROXY");
    expect(readConfig({ ...socks, NO_PROXY: "collector" }).traces).toEqual({ files: {} });
  });

  it("counts a namespace once", () => {
    expect(readConfig({ ...least, WATCH_NAMESPACES: "a,b, a" }).watchNamespaces).toEqual(["a", "b"]);
  });

  it.each(["http://127.0.0.1:8080", "http://localhost", "http://[::1]:1", "http://gateway.localhost/v1"])(
    "takes %s, because its requests stay on the machine",
    (url) => {
      expect(readConfig({ ...least, GATEWAY_BASE_URL: url }).baseURL).toBe(url);
    },
  );

  it.each(["http://api.example.com", "HTTP://api.example.com", "http://10.0.0.1", "http://localhost.example.com"])(
    "refuses %s, unless it is allowed",
    (GATEWAY_BASE_URL) => {
      expect(problem({ ...least, GATEWAY_BASE_URL })).toContain("GATEWAY_BASE_URL must begin with https://");
      expect(() => readAccountConfig({}, { ...least, GATEWAY_BASE_URL })).toThrow("GATEWAY_BASE_URL must begin with");
      const allowed = { ...least, GATEWAY_BASE_URL, GATEWAY_ALLOW_PLAINTEXT: "true" };
      expect(readConfig(allowed).baseURL).toBe(GATEWAY_BASE_URL);
      expect(readAccountConfig({}, allowed).baseURL).toBe(GATEWAY_BASE_URL);
    },
  );

  it.each(["https://api.example.com", "api.example.com/v1", "a b", "user@api.example.com"])(
    "refuses %j as a host",
    (ALLOWED_GATEWAY_HOSTS) => {
      expect(problem({ ...least, ALLOWED_GATEWAY_HOSTS })).toContain("ALLOWED_GATEWAY_HOSTS each must be a host");
    },
  );

  it("reads 0 requests as no limit", () => {
    expect(readConfig({ ...least, REQUESTS_PER_MINUTE: "0" }).requestsPerMinute).toBe(0);
  });

  it.each([
    ["RESYNC_INTERVAL", "5"],
    ["RESYNC_INTERVAL", "5 m"],
    ["RESYNC_INTERVAL", "m5"],
    ["RESYNC_INTERVAL", "999ms"],
    ["REQUESTS_PER_MINUTE", "-1"],
    ["REQUESTS_PER_MINUTE", "many"],
    ["METRICS_ADDRESS", "8080"],
    ["LEADER_ELECTION", "yes"],
    ["LOG_LEVEL", "verbose"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["DNS_RESOLVERS", "dns.example.com"],
    ["DNS_RESOLVERS", "10.0.0.10,10.0.0.300"],
    ["DNS_RESOLVERS", "10.0.0.10:0"],
    ["DNS_RESOLVERS", "[fd00::1]:70000"],
    ["GATEWAY_BASE_URL", "api.example.com"],
    ["GATEWAY_BASE_URL", "ftp://api.example.com"],
    ["GATEWAY_BASE_URL", "https://user@api.example.com"],
    ["GATEWAY_BASE_URL", "https://:secret@api.example.com"],
  ])("names %s when it is %s", (name, value) => {
    const message = problem({ ...least, [name]: value });
    expect(message).toMatch(new RegExp(`^  ${name} must `, "m"));
    expect(message.split("\n")).toHaveLength(2);
  });

  it("reports all errors at once", () => {
    const message = problem({ LOG_LEVEL: "loud", RESYNC_INTERVAL: "soon" });
    for (const name of ["GATEWAY_BASE_URL", "LOG_LEVEL", "RESYNC_INTERVAL"]) expect(message).toContain(name);
    expect(message).toMatch(/GATEWAY_BASE_URL must be set/);
  });

  it("quotes no secret", () => {
    const env = { GATEWAY_BASE_URL: "https://user:hush@api.example.com", GATEWAY_API_KEY: "hush", LOG_LEVEL: "hush" };
    expect(problem(env)).not.toContain("hush");
  });
});

describe("the API key", () => {
  it("must be given in one way", () => {
    expect(problem({ GATEWAY_BASE_URL: least.GATEWAY_BASE_URL })).toContain("GATEWAY_API_KEY or GATEWAY_API_KEY_FILE");
    expect(problem({ ...least, GATEWAY_API_KEY_FILE: "/key" })).toMatch(/GATEWAY_API_KEY_FILE must not be set beside/);
  });

  it("is trimmed", async () => {
    expect(await readConfig({ ...least, GATEWAY_API_KEY: " key\n" }).apiKey()).toBe("key");
  });

  it("is read from its file each time", async () => {
    const folder = await mkdtemp(join(tmpdir(), "config-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "key");
    const { apiKey } = readConfig({ GATEWAY_BASE_URL: least.GATEWAY_BASE_URL, GATEWAY_API_KEY_FILE: file });
    await expect(apiKey()).rejects.toMatchObject({ code: "ENOENT" });
    await writeFile(file, "first\n");
    expect(await apiKey()).toBe("first");
    await writeFile(file, "second\n");
    expect(await apiKey()).toBe("second");
    await writeFile(file, "\n");
    await expect(apiKey()).rejects.toThrow();
  });
});
