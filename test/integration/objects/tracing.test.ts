import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type KeyedCertificate, selfSigned } from "../../../tools/simulator/certificates/self-signed.ts";
import { Collector } from "../../support/collector.ts";
import { TestProxy, tlsFront } from "../../support/proxy.ts";
import { manifestOf, tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

type Pair = [KeyedCertificate, KeyedCertificate];

interface Way {
  credentials?: string;
  isByTls?: boolean;
}

/** Spans leave in batches, every five seconds. */
const PATIENCE_SECONDS = 60;

// the service quotes what it was sent, so that a message would leak it
const world = useWorld({ process: true, startOperator: false, simulator: { quoteInErrors: (body) => body } });
let collector: Collector;

beforeAll(async () => {
  collector = await Collector.start();
  await world.startOperator({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
});
afterAll(() => collector[Symbol.asyncDispose]());

const secret = tlsSecret("canary", { commonName: "canary.example.com" });
const reconciles = (name: string) =>
  collector.spans.filter(
    (span) => span.name === "reconcile TLSCertificate" && span.attributes["tunnelgateway.object"] === name,
  );

test("a reconcile is a span with object, id, reason and attempt, and its requests are spans in it", async () => {
  await world.kube.apply(secret, manifestOf({ kind: "TLSCertificate", name: "shop", spec: { secretName: "canary" } }));
  const { status } = await world.ready("TLSCertificate", "shop");
  const reconcile = await world.until(
    "the span of the create",
    async () => {
      const created = reconciles("shop").filter(({ attributes }) => attributes["tunnelgateway.id"] === status.id);
      return created.find(({ id }) =>
        collector.spans.some(({ name, parent }) => parent === id && name.startsWith("POST ")),
      );
    },
    PATIENCE_SECONDS,
  );
  expect(reconcile.attributes).toMatchObject({
    "tunnelgateway.kind": "TLSCertificate",
    "k8s.namespace.name": world.namespace,
    "tunnelgateway.reason": "Available",
    "tunnelgateway.attempt": expect.stringMatching(/^\d+$/),
  });
  const request = collector.spans.find(({ parent, name }) => parent === reconcile.id && name.startsWith("POST "));
  expect(request).toMatchObject({
    name: "POST /tls_certificates",
    attributes: {
      "tunnelgateway.kind": "TLSCertificate",
      "tunnelgateway.object": "shop",
      "tunnelgateway.resource": "tls_certificates",
      "tunnelgateway.reason": "ok",
      "http.response.status_code": "201",
    },
  });
});

test("no span has a secret, also when the service quotes one", async () => {
  world.simulator.control.fault({ method: "POST", path: "/tls_certificates", times: 1, action: { status: 400 } });
  await world.kube.apply(manifestOf({ kind: "TLSCertificate", name: "refused", spec: { secretName: "canary" } }));
  await world.until("the span of a refusal", async () => reconciles("refused").length > 0, PATIENCE_SECONDS);
  const [, line = ""] = String(secret["stringData"]["tls.key"]).split("\n");
  expect(line.length).toBeGreaterThan(40);
  for (const canary of [line, Buffer.from(line).toString("base64").slice(4, 60), world.simulator.apiKey])
    expect(collector.bodies.filter((body) => body.includes(canary))).toEqual([]);
});

test.each([
  ["an HTTP proxy", {}, "http"],
  ["an HTTP proxy with a password", { credentials: "ann:hunter2%40%3A" }, "https"],
  ["an HTTPS proxy with a password", { credentials: "ann:hunter2", isByTls: true }, "https"],
])("a collector is reached through %s", async (_, { credentials, isByTls }: Way, scheme) => {
  const folder = await mkdtemp(join(tmpdir(), "tracing-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const names = ["localhost", "collector.test"] as const;
  const [ofProxy, ofCollector] = names.map((name) => selfSigned({ commonName: name, dnsNames: [name] })) as Pair;
  await writeFile(join(folder, "authorities.pem"), ofProxy.certificatePem + ofCollector.certificatePem);
  await using own = await Collector.start();
  await using front = await tlsFront(Number(new URL(own.url).port), ofCollector);
  const port = scheme === "https" ? front.port : Number(new URL(own.url).port);
  const hosts = { "collector.test:4318": port };
  await using proxy = await TestProxy.start({
    hosts,
    ...(credentials && { credentials }),
    ...(isByTls && { certificate: ofProxy }),
  });
  await world.restartOperator({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${scheme}://collector.test:4318`,
    NODE_EXTRA_CA_CERTS: join(folder, "authorities.pem"),
    [`${scheme}_proxy`]: proxy.url(),
    NO_PROXY: "127.0.0.1",
  });
  await world.until("spans at the collector", async () => own.spans.length > 0, PATIENCE_SECONDS);
  const asked = scheme === "https" ? "CONNECT collector.test:4318" : "POST http://collector.test:4318/v1/traces";
  expect(new Set(proxy.asked)).toEqual(new Set([asked]));
  expect(world.operator.lines.join("\n")).not.toContain("hunter2");
});
