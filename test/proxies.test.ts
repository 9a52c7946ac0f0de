import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../tools/shared/operator.ts";
import { type KeyedCertificate, selfSigned } from "../tools/simulator/certificates/self-signed.ts";
import { FakeApiServer } from "./fakes/runtime/fake-api-server.ts";
import { json, serve } from "./support/gateway-service.ts";
import { type ProxySettings, TestProxy, type TlsFront, tlsFront } from "./support/proxy.ts";

// The program in a process of its own, with an API server and a service that only the proxy finds, each by TLS with an
// authority of its own. The API server wants a client certificate.

let folder: string;
let api: FakeApiServer;
let [apiFront, serviceFront]: TlsFront[] = [];
let servicePort: number;
const certificates: Record<string, KeyedCertificate> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "proxies-"));
  for (const name of ["cluster.test", "service.test", "localhost"])
    certificates[name] = selfSigned({ commonName: name, dnsNames: [name] });
  certificates["ann"] = selfSigned({ commonName: "ann" });
  api = await FakeApiServer.start();
  apiFront = await tlsFront(Number(new URL(api.url).port), of("cluster.test"), of("ann").certificatePem);
  const authorities = [of("service.test"), of("localhost")].map(({ certificatePem }) => certificatePem);
  writeFileSync(join(folder, "authorities.pem"), authorities.join(""));
});

afterAll(async () => {
  await apiFront?.[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function of(name: string): KeyedCertificate {
  const found = certificates[name];
  if (!found) throw new Error(`no certificate of ${name}`);
  return found;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** `proxyURL`: the proxy that the kubeconfig names. */
function kubeconfig(proxyURL?: string): string {
  const file = join(folder, "kubeconfig");
  const cluster = {
    server: "https://cluster.test:6443",
    "certificate-authority-data": base64(of("cluster.test").certificatePem),
    ...(proxyURL && { "proxy-url": proxyURL }),
  };
  const user = {
    "client-certificate-data": base64(of("ann").certificatePem),
    "client-key-data": base64(of("ann").privateKeyPem),
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "main", context: { cluster: "c", user: "u" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** What `doctor` says about the API server and the service. */
async function doctor(env: Record<string, string>): Promise<Record<string, { ok: boolean; message: string }>> {
  const { stdout, stderr } = await runCommand(["doctor", "-o", "json"], {
    GATEWAY_BASE_URL: "https://service.test",
    GATEWAY_API_KEY: "key-of-the-test-account",
    NODE_EXTRA_CA_CERTS: join(folder, "authorities.pem"),
    ...env,
  });
  if (!stdout) throw new Error(stderr);
  expect(stdout).not.toContain("hunter2");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; message: string }[] };
  return Object.fromEntries(checks.map(({ name, ...rest }) => [name, rest]));
}

const hosts = () => ({
  "cluster.test:6443": apiFront?.port ?? 0,
  "service.test:443": serviceFront?.port ?? 0,
  "service.test": servicePort,
});

async function start(settings: Omit<ProxySettings, "hosts"> = {}): Promise<TestProxy> {
  const { url, seen } = await serve((response) => json(response, 200, { ip_policies: [], uri: "/ip_policies" }));
  servicePort = Number(new URL(url).port);
  serviceFront = await tlsFront(servicePort, of("service.test"));
  expect(seen).toEqual([]);
  return TestProxy.start({ hosts: hosts(), ...settings });
}

describe.each([
  ["an HTTP proxy", {}],
  ["an HTTP proxy with a password", { credentials: "ann:hunter2%40%3A" }],
  ["an HTTPS proxy", { https: true }],
  ["an HTTPS proxy with a password", { https: true, credentials: "ann:hunter2" }],
])("through %s", (_, { https, credentials }: { https?: boolean; credentials?: string }) => {
  const settings = () => ({ ...(credentials && { credentials }), ...(https && { certificate: of("localhost") }) });

  it("the service and the API server are reached, which the environment names", async () => {
    await using proxy = await start(settings());
    const { "Kubernetes API": cluster, service } = await doctor({ HTTPS_PROXY: proxy.url(), KUBECONFIG: kubeconfig() });
    expect([cluster, service]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(proxy.asked).toContain("CONNECT cluster.test:6443");
    expect(proxy.asked).toContain("CONNECT service.test:443");
    expect(apiFront?.clients.at(-1)).toBe("ann");
  });

  it("the API server is reached, if the kubeconfig names it, and a service without TLS", async () => {
    await using proxy = await start(settings());
    const { "Kubernetes API": cluster, service } = await doctor({
      GATEWAY_BASE_URL: "http://service.test",
      GATEWAY_ALLOW_PLAINTEXT: "true",
      KUBECONFIG: kubeconfig(proxy.url()),
      NO_PROXY: "cluster.test",
      http_proxy: proxy.url(),
    });
    expect([cluster, service]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(new Set(proxy.asked)).toEqual(new Set(["CONNECT cluster.test:6443", "GET http://service.test/ip_policies"]));
  });
});

describe("a proxy that refuses", () => {
  it.each([
    ["https://service.test", "ann:hunter3", "correct the user and the password of the proxy, which answered 407"],
    ["http://service.test", "ann:hunter3", "correct the user and the password of the proxy, which answered 407"],
    ["https://elsewhere.test", "ann:hunter2", "let the proxy connect to this host, or use another proxy"],
  ])("%s for %s is named with the way out", async (url, credentials, said) => {
    await using proxy = await start({ credentials: "ann:hunter2" });
    const { service } = await doctor({
      HTTPS_PROXY: proxy.url(credentials),
      HTTP_PROXY: proxy.url(credentials),
      GATEWAY_BASE_URL: url,
      GATEWAY_ALLOW_PLAINTEXT: "true",
      KUBECONFIG: kubeconfig(proxy.url()),
    });
    expect(service).toMatchObject({ ok: false, message: expect.stringContaining(said) });
    expect(service?.message).toMatch(/^check the proxy to the service/);
  });
});
