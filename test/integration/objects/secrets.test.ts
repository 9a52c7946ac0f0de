import { afterAll, beforeAll, expect, test } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { selfSigned } from "../../../tools/simulator/certificates/self-signed.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import { Canaries, canary } from "../../support/canaries.ts";
import { ClusterGate, Gate, type ProxiedRequest, type Substitute } from "../../support/gate.ts";
import { secretFields, secretUses } from "../../support/secret-fields.ts";
import { useWorld } from "../../support/world.ts";

/** For 45 objects, whose requests may take a second each, on a busy machine. */
const PATIENCE_SECONDS = 150;

const operatorsKey = canary(true);
const world = useWorld({
  startOperator: false,
  simulator: { apiKey: operatorsKey, echo: true, quoteInErrors: (body) => `${body} ${base64(body)}` },
  env: { LOG_LEVEL: "debug", REQUEST_TIMEOUT: "4s", MAX_DELETES_PER_MINUTE: "0" },
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Every way in which a service may repeat what it was sent. */
const echoes: readonly ((echo: string, body: string) => Substitute)[] = [
  // refused
  (_, body) => ({ status: 400, body: errorOf(base64(body)) }),
  // failed
  (echo) => ({ status: 500, body: errorOf(echo) }),
  // plain
  (echo) => ({ status: 422, body: echo, headers: { "content-type": "text/plain" } }),
  // page
  (echo) => ({ status: 200, body: `<html>${echo}</html>`, headers: { "content-type": "text/html" } }),
  // forbidden
  (echo) => ({ status: 403, body: errorOf(echo.slice(echo.length / 2)) }),
  // unlike
  (echo) => ({ status: 201, body: JSON.stringify({ [echo]: echo, uri: { [echo]: echo } }) }),
  // limited
  (echo) => ({ status: 429, body: errorOf(echo), headers: { "retry-after": "1" } }),
  // raw
  (echo) => ({ raw: `${echo}\r\n\r\n` }),
  // redirected
  (echo) => ({ status: 302, body: errorOf(echo), headers: { location: `/${encodeURIComponent(echo)}` } }),
  // unavailable
  (echo) => ({ status: 503, body: JSON.stringify({ message: echo }) }),
];

const errorOf = (echo: string): string =>
  JSON.stringify({ error_code: echo, status_code: 400, msg: `cannot take ${echo}`, details: { operation_id: echo } });

interface Subject {
  readonly make: (name: string) => KubeJSON;
  /** What its Secret holds, where any text will not do: a new one each time. */
  readonly data?: () => Record<string, string>;
}

/**
 * With so many objects each, every field that stands for a secret meets each way in which a secret comes back. Half of
 * them meet its creates, and the others its updates, or the creates that renew it.
 */
const OBJECTS_EACH = 5;
const turns = { create: 0, update: 1, deletion: 2, renewal: 3, drift: 4 } as const;
type Turn = keyof typeof turns;
const methods = { create: "POST", update: "PATCH", deletion: "DELETE", drift: "PATCH", renewal: "POST" } as const;

/** What has a field that stands for a secret. The Secret of an object has its name. */
const subjects: readonly Subject[] = [
  {
    make: (name) =>
      destination(name, { delivery: { auth: creds(name), deliveryStreamArn: "arn:aws:firehose:eu-west-1:1:x" } }),
  },
  {
    make: (name) =>
      destination(name, { stream: { auth: creds(name), streamArn: "arn:aws:kinesis:eu-west-1:1:stream/x" } }),
  },
  {
    make: (name) =>
      destination(name, { logs: { auth: creds(name), logGroupArn: "arn:aws:logs:eu-west-1:1:log-group:x" } }),
  },
  { make: (name) => destination(name, { monitoring: { apiKeyRef: { name, key: "value" }, service: "gateway" } }) },
  { make: (name) => manifest("IPPolicy", name, { description: name, accountRef: { name: "other" } }) },
  { make: (name) => manifest("APIKey", name, { description: name, tokenSecretName: `${name}-token` }) },
  {
    make: (name) =>
      manifest("CertificateAuthority", name, {
        description: name,
        caPemFrom: { secretKeyRef: { name, key: "value" } },
      }),
    data: () => ({ value: selfSigned({ commonName: "authority", authority: true }).certificatePem }),
  },
  {
    make: (name) => manifest("TLSCertificate", name, { description: name, secretName: name }),
    data() {
      const { certificatePem, privateKeyPem } = selfSigned({ commonName: "example.org", dnsNames: ["example.org"] });
      return { "tls.crt": certificatePem, "tls.key": privateKeyPem };
    },
  },
  {
    make: (name) =>
      manifest("HTTPSEdgeRoute", name, {
        ...routeOf(name),
        oidc: { issuer: "https://issuer.example", clientId: "gateway", clientSecretRef: { name, key: "value" } },
        saml: { idpMetadata: '<EntityDescriptor entityID="idp"></EntityDescriptor>' },
        webhookVerification: { provider: "github", secretRef: { name, key: "hook" } },
      }),
  },
];

const destination = (name: string, target: object): KubeJSON =>
  manifest("EventDestination", name, { description: name, target });

const creds = (name: string) => ({
  creds: { cloudAccessKeyId: "AKIAEXAMPLE", cloudSecretAccessKeyRef: { name, key: "value" } },
});

const routeOf = (name: string) => ({ edgeId: "edghts_one", routeId: `edghtsrt_${name.replaceAll("-", "")}` });

const account: KubeJSON = manifest("GatewayAccount", "other", { apiKeySecretRef: { name: "other", key: "value" } });

interface Made {
  readonly object: KubeJSON;
  readonly subject: Subject;
}

const made = subjects.flatMap((subject, index) =>
  Array.from({ length: OBJECTS_EACH }, (_, place): Made => {
    const object = subject.make(`secret-${index}-${place}`);
    // a text that is no JSON leaves no room for the owner mark, so that the intent has to tell what was sent
    const isOpaque = place % 2 === 1 && !isRoute(object);
    return { object: isOpaque ? withSpec(object, { metadata: "a text" }) : object, subject };
  }),
);
const objects = made.map(({ object }) => object);
const certificates = made.filter(({ subject }) => subject.data);

function isRoute({ kind }: KubeJSON): boolean {
  return kind === "HTTPSEdgeRoute";
}

function withSpec(object: KubeJSON, more: object): KubeJSON {
  return { ...object, spec: { ...object.spec, ...more } };
}

const canaries = new Canaries();
/** All that the operator wrote to the API server. */
const writes: string[] = [];
const gates: Gate[] = [];
let asked = 0;
let turn: Turn = "create";
/** The requests that are still to fail, as `METHOD object`. */
let pending = new Set<string>();
/** Every request is answered 401. */
let refusing = false;

beforeAll(async () => {
  canaries.add("the operator's API key", operatorsKey);
  const kube = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
  const service = await Gate.before(world.simulator.url);
  gates.push(kube, service);
  kube.guard = ({ method, path, body }, side) => {
    if (side === "before" && method !== "GET" && !path.includes("/secrets")) writes.push(body);
    return undefined;
  };
  service.guard = (passage, side) => (side === "before" ? echoed(passage) : undefined);
  const gateway = { url: service.url, apiKey: operatorsKey };
  await world.startOperator({}, { kubeconfig: kube.kubeconfig, gateway });
});

afterAll(async () => {
  await Promise.all(gates.map((gate) => gate.close()));
});

function echoed(passage: ProxiedRequest): Substitute | undefined {
  const echo = `${passage.headers.authorization} ${passage.body}`;
  if (refusing) return { status: 401, body: errorOf(echo) };
  const name = nameOf(passage);
  if (!name || !pending.delete(`${passage.method} ${name}`)) return undefined;
  const [, index, place] = name.split("-").map(Number);
  const way = (Number(index) + Number(place) + turns[turn] * OBJECTS_EACH) % echoes.length;
  return echoes[way]?.(echo, passage.body);
}

function nameOf({ path, body }: ProxiedRequest): string | undefined {
  const route = objects.find(({ spec }) => spec.routeId && path.includes(spec.routeId));
  if (route) return route.metadata.name;
  if (body) return JSON.parse(body).description;
  const id = path.slice(path.lastIndexOf("/") + 1);
  return world.simulator.control.get(id)?.["description"] as string | undefined;
}

/** Lets the first such request of every object fail, and waits until all have. */
async function failing(next: Turn, begin: () => Promise<unknown>, of = objects): Promise<void> {
  turn = next;
  const method = methods[turn];
  const methodOf = (object: KubeJSON) => (isRoute(object) && method !== "DELETE" ? "PUT" : method);
  pending = new Set(of.map((object) => `${methodOf(object)} ${object.metadata.name}`));
  await begin();
  await world
    .until(`each ${method} of the turn ${turn} has failed`, async () => pending.size === 0, PATIENCE_SECONDS)
    .catch((error) => {
      throw new Error(`${[...pending].join(", ")}: ${error.message}`);
    });
}

/** Wakes also those that wait for a person, until all are well. */
async function settle(): Promise<void> {
  await annotateAll();
  await world.untilAll("all are Ready", objects, isReady, PATIENCE_SECONDS);
}

const annotateAll = () =>
  Promise.all(
    objects.map(({ kind, metadata }) =>
      world.kube.annotate(kind, metadata.name, { "tunnelgateway.dev/reconcile-requested-at": String(++asked) }),
    ),
  );

const edited = (object: KubeJSON): KubeJSON => {
  const { oidc } = object.spec;
  return withSpec(object, isRoute(object) ? { oidc: { ...oidc, clientId: "edited" } } : { metadata: "edited" });
};

/** The remotes of an object. */
function rowsOf({ kind, metadata }: KubeJSON): Members[] {
  const collection = kinds.find((one) => one.kind === kind)?.resource.path.slice(1) ?? "";
  return world.simulator.control.objects(collection).filter(({ description }) => description === metadata.name);
}

/** New texts for all Secrets that may hold any. */
async function rotate(): Promise<void> {
  const contents = new Map<string, Record<string, string>>();
  const used = [account, ...made.filter(({ subject }) => !subject.data).map(({ object }) => object)].flatMap(
    secretUses,
  );
  for (const { field, secret, key } of used) {
    const value = canary(secret === "other");
    contents.set(secret, { ...contents.get(secret), [key]: value });
    canaries.add(field, value);
  }
  world.simulator.control.apiKeys.accept(contents.get("other")?.["value"] ?? "");
  await applySecrets([...contents]);
}

/** New certificates for the Secrets that hold one. */
async function renew(): Promise<void> {
  const contents = certificates.map(({ object, subject }) => [object.metadata.name, subject.data?.() ?? {}] as const);
  for (const [name, data] of contents) {
    for (const [key, value] of Object.entries(data)) canaries.add(`${name} ${key}`, uniqueIn(value));
  }
  await applySecrets(contents);
}

/** The end of a PEM, which is random: all certificates of one kind begin alike. */
const uniqueIn = (pem: string): string =>
  pem
    .replace(/-----[A-Z ]+-----/g, "")
    .trim()
    .slice(-100);

const applySecrets = (contents: readonly (readonly [string, Record<string, string>])[]) =>
  world.kube.apply(
    ...contents.map(([name, stringData]) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData })),
  );

/** What the service has made, and the operator has put into Secrets. */
async function addTokens(): Promise<void> {
  const secrets = (await world.kube.list("Secret")).filter(({ metadata }) => metadata.name.endsWith("-token"));
  expect(secrets.length).toBeGreaterThan(0);
  for (const { data } of secrets) canaries.add("token", Buffer.from(data.token, "base64").toString());
}

/** All that somebody without the right to read Secrets can see of the operator. */
async function expectNoneInSight(): Promise<void> {
  const kubectl = async (...args: string[]) => (await world.kubectl(...args)).stdout;
  const texts = {
    log: world.operator.lines.join("\n"),
    writes: writes.join("\n"),
    objects: await kubectl("get", "tunnelgateway", "-o", "yaml"),
    events: await kubectl("get", "events", "-o", "yaml"),
    metrics: await world.operator.read("/metrics"),
    health: (await world.operator.read("/readyz")) + (await world.operator.read("/healthz")),
  };
  // Each request was logged, at the level debug.
  expect(texts.log).toContain("Sent to the service");
  for (const [what, text] of Object.entries(texts)) expect(canaries.in(text).slice(0, 5), what).toEqual([]);
  // what the service repeated did come this far
  expect(texts.writes).toContain("[redacted]");
  expect(texts.writes).toContain("create-intent");
}

test("every field that takes a value from a Secret has an object here", () => {
  expect([...new Set([account, ...objects].flatMap(secretUses).map(({ field }) => field))].sort()).toEqual(
    secretFields().sort(),
  );
});

test("a service that repeats what it was sent makes no secret public", async () => {
  await rotate();
  await renew();
  await world.kube.apply(account);
  for (const { metadata } of objects.filter(isRoute)) world.simulator.control.addRoute(routeOf(metadata.name));
  await failing("create", () => world.kube.apply(...objects));
  await settle();
  await addTokens();

  await failing("update", async () => {
    await rotate();
    await world.kube.apply(...objects.map(edited));
  });
  await settle();

  const listed = objects.filter((object) => !isRoute(object));
  const drift = async () => {
    for (const { id } of listed.flatMap(rowsOf)) world.simulator.control.patch(String(id), { metadata: "drifted" });
    await annotateAll();
  };
  await failing("drift", drift, listed);
  await settle();

  await failing(
    "renewal",
    async () => {
      await renew();
      await annotateAll();
    },
    certificates.map(({ object }) => object),
  );
  await settle();
  // the service derives these from what it was sent, and they are no secret
  expect((await world.kube.get("TLSCertificate", "secret-7-0"))?.status).toMatchObject({
    subjectCommonName: "example.org",
    notAfter: expect.any(String),
  });

  await failing("deletion", () =>
    Promise.all(objects.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name))),
  );
  await expectNoneInSight();
});

test("a refused key, which the service repeats as well, is not made public", async () => {
  refusing = true;
  await world.kube.apply(manifest("IPPolicy", "refused", {}));
  await world.condition("IPPolicy", "refused", { type: "Ready", reason: "Unauthorized" });
  refusing = false;
  await expectNoneInSight();
});

test("a key that cannot be sent is not made public", async () => {
  const key = `${canary(true)}\n${canary(true)}`;
  canaries.add("a key that cannot be sent", key);
  await world.operator.stop();
  await world.startOperator({ GATEWAY_API_KEY: key });
  await world.kube.apply(manifest("IPPolicy", "unsent", {}));
  await world.condition("IPPolicy", "unsent", { type: "Ready", reason: "AccountNotReady" });
  await expectNoneInSight();
});
