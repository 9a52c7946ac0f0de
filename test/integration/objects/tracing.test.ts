import { afterAll, beforeAll, expect, test } from "vitest";
import { Collector } from "../../support/collector.ts";
import { manifestOf, tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

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
