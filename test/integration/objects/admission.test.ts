import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { customResources, kinds } from "../../../src/kinds/index.ts";
import { KubeError } from "../../../src/runtime/connection/errors.ts";
import { type Refusal, refusalsOf } from "../../../src/schema/admission.ts";
import { specOf } from "../../../src/schema/common.ts";
import { type ReferenceTrait, traitsOf, unwrap } from "../../../src/schema/traits.ts";
import { referencesIn } from "../../../src/schema/wire/needs.ts";
import { examples } from "../../../tools/shared/examples.ts";
import { conditionOf, type KubeJSON, nameOf } from "../../../tools/shared/objects.ts";
import { minimalSpecs } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";
import { immutables, leastSpecs, limits, type Rule, rules } from "./admission-rules.ts";

const world = useWorld({ startOperator: false });

type Spec = Record<string, unknown>;

/** Where a schema says more than its shape, by path: `spec.target.logs`. */
function visit(schema: z.ZodType, path: string, see: (schema: z.ZodType, path: string) => void): void {
  see(schema, path);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) visit(inner.element as z.ZodType, `${path}[]`, see);
  if (!(inner instanceof z.ZodObject)) return;
  for (const [field, member] of Object.entries(inner.shape)) visit(member as z.ZodType, `${path}.${field}`, see);
}

/** Paths of all fields of a kind that are marked so. */
function marked(kind: (typeof kinds)[number], isSo: (schema: z.ZodType) => boolean): string[] {
  const paths: string[] = [];
  visit(specOf(kind), "", (schema, path) => {
    if (isSo(schema)) paths.push(path.slice(1));
  });
  return paths;
}

const countsBytes = (schema: z.ZodType): boolean =>
  traitsOf(schema).rules?.some(({ rule }) => rule.includes("size(bytes(self))")) ?? false;

let made = 0;
const objectOf = (kind: string, more: Spec) => ({
  kind,
  metadata: { name: `object-${++made}` },
  spec: { ...leastSpecs[kind], ...more },
});

/** The fields that a refusal names, and none where there is no refusal. */
async function refused(attempt: Promise<unknown>): Promise<string[] | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 422) throw error;
    return error.causes.map(({ field = "" }) => field);
  }
}

const dryRun = (kind: string, more: Spec) => refused(world.kube.create(objectOf(kind, more), { dryRun: true }));

/** What `import` and `plan` say of it, which ask no API server. */
function withoutServer(name: string, more: Spec): Refusal[] {
  const kind = customResources.find((one) => one.kind === name);
  if (!kind) throw new TypeError(`no kind ${name}`);
  const spec = JSON.parse(JSON.stringify({ ...leastSpecs[name], ...more }));
  return refusalsOf(kind.spec, spec, kind.rules);
}

describe("the tables have all rules that the definitions check", () => {
  test.each(kinds.map((kind) => [kind.kind, kind] as const))("of %s", (name, kind) => {
    const limited = limits.filter((one) => one.kind === name).map(({ field }) => field);
    expect(limited).toEqual(expect.arrayContaining(marked(kind, countsBytes)));
    const frozen = immutables.filter((one) => one.kind === name).map(({ field }) => field);
    expect(frozen.sort()).toEqual(marked(kind, (schema) => traitsOf(schema).immutable === true).sort());
  });
});

// by this the operator tells an object that has changed from one that it can never write
test("a failed test in a patch is refused without the name of a field", async () => {
  const { kind, metadata } = await world.kube.create(objectOf("IPPolicy", {}));
  const failing = [{ op: "test", path: "/metadata/uid", value: "another" }] as const;
  expect(await refused(world.kube.patchJSON(kind, metadata.name, failing))).toEqual([]);
  await world.kube.delete(kind, metadata.name);
});

describe("a text that is too long is refused", () => {
  test.each(limits.map((limit) => [`${limit.kind} ${limit.field}`, limit] as const))("%s", async (_, limit) => {
    const { kind, field, most, counts } = limit;
    const wide = counts === "bytes" ? Math.floor(most / 2) : most;
    const attempt = (text: string) => dryRun(kind, { [field]: text });
    expect(await attempt("x".repeat(most))).toBeUndefined();
    expect(await attempt("x".repeat(most + 1))).toContain(`spec.${field}`);
    expect(await attempt("é".repeat(wide))).toBeUndefined();
    expect(await attempt("é".repeat(wide + 1))).toContain(`spec.${field}`);
  });
});

describe("rules of the API page", () => {
  const titled = rules.map((rule): [string, Rule] => [`${rule.kind}: ${rule.rule}`, rule]);
  test.each(titled)("%s", async (_, { kind, field, good, bad }) => {
    for (const spec of good) {
      expect(await dryRun(kind, spec), JSON.stringify(spec)).toBeUndefined();
      expect(withoutServer(kind, spec), `plan: ${JSON.stringify(spec)}`).toEqual([]);
    }
    for (const spec of bad) {
      expect(withoutServer(kind, spec), `plan: ${JSON.stringify(spec)}`).not.toEqual([]);
      const fields = await dryRun(kind, spec);
      expect(fields, JSON.stringify(spec)).toContainEqual(expect.stringContaining(`spec${field ? `.${field}` : ""}`));
    }
  });
});

describe("a list of references names each object once", () => {
  const lists = kinds.flatMap((kind) =>
    marked(kind, (schema) => unwrap(schema) instanceof z.ZodArray && traitsOf(schema).reference !== undefined).map(
      (path) => [`${kind.kind} ${path}`, kind, path] as const,
    ),
  );
  test.each(lists)("%s", async (_, { kind, spec: schema }, path) => {
    const [{ kinds: targets }] = referencesIn(schema.shape[path.split(".")[0] ?? ""] as z.ZodType) as [ReferenceTrait];
    const named = (name: string) => ({ ...(targets.length > 1 && { kind: targets[0] }), name });
    const spec = (...list: object[]): Spec =>
      path.split(".").reduceRight<unknown>((value, part) => ({ [part]: value }), list) as Spec;
    const [good, bad] = [spec(named("one"), named("two")), spec(named("one"), named("two"), named("one"))];
    expect([await dryRun(kind, good), withoutServer(kind, good)]).toEqual([undefined, []]);
    expect(await dryRun(kind, bad)).toEqual([`spec.${path}`]);
    expect(withoutServer(kind, bad)).not.toEqual([]);
  });
});

describe("a field that the service takes on create only cannot be changed", () => {
  test.each(immutables.map((one) => [`${one.kind} ${one.field}`, one] as const))(
    "%s",
    async (_, { kind, field, value, other }) => {
      const change = async (object: { metadata: { name: string } }, to: unknown) =>
        refused(world.kube.patch(kind, object.metadata.name, { spec: { [field]: to } }, { dryRun: true }));
      const having = await world.kube.create(objectOf(kind, { [field]: value }));
      expect(await change(having, other), "changed").toEqual([`spec.${field}`]);
      expect(
        await refused(world.kube.patch(kind, having.metadata.name, { spec: { description: "new" } })),
      ).toBeUndefined();
      const required = field in (minimalSpecs[kind] ?? {});
      if (required) return;
      expect(await change(having, null), "removed").toEqual([`spec.${field}`]);
      const lacking = await world.kube.create(objectOf(kind, {}));
      expect(await change(lacking, other), "added").toEqual([`spec.${field}`]);
    },
  );
});

test.each([
  [
    "IPPolicy",
    { adopt: { id: "rd_1" } },
    "must be the id of a resource of this kind (IP policy), which begins with ipp_",
  ],
  ["ReservedDomain", { domain: "localhost" }, "must be a host name with a dot in it, such as shop.example.com"],
  ["TunnelGroupBackend", { labels: {} }, "must have a label"],
  ["TCPEdge", { backend: { backendRef: { id: "a/b" } } }, "must be an id that begins with bkdtg_"],
  ["TCPEdge", { hostports: ["a"] }, "must be host:port"],
  ["EventSource", { type: "created" }, "must be an event type, <thing>_<action>.v<N>"],
  ["SSHCredential", { acl: ["a"] }, "must be * or bind:<target>"],
  ["SSHHostCertificate", { validAfter: "soon" }, "must be a time in RFC 3339"],
  ["SSHHostCertificate", { renewBefore: "30d" }, "must be a duration in hours"],
  [
    "GatewayAccount",
    { apiKeySecretRef: { name: "a", key: "a" }, baseURL: "a" },
    "must be a URL that begins with https://",
  ],
])("the refusal of a wrong %s says what is expected, without a regular expression", async (kind, spec, words) => {
  const { message } = await world.kube.create(objectOf(kind, spec), { dryRun: true }).then(
    () => ({ message: "accepted" }),
    (error: Error) => error,
  );
  expect(message).toContain(words);
  expect(message).not.toMatch(/should match|\^/);
});

test("adopt.id can be corrected until the object has its remote, and removed at any time", async () => {
  const { name } = (await world.kube.create(objectOf("IPPolicy", { adopt: { id: "ipp_wrong" } }))).metadata;
  const change = (adopt: object | null) => refused(world.kube.patch("IPPolicy", name, { spec: { adopt } }));
  expect(await change({ id: "ipp_right" })).toBeUndefined();
  await world.kube.patchStatus("IPPolicy", name, { id: "ipp_right" });
  expect(await change({ id: "ipp_other" })).toEqual(["spec.adopt.id"]);
  expect(await change({ id: "ipp_right", from: "team-a/office" })).toBeUndefined();
  expect(await change(null)).toBeUndefined();
  // The account does not have this remote. An operator would take that for the key of another account.
  await world.kube.delete("IPPolicy", name);
});

/** The short names of released kinds. People know them, so they stay. */
const shortNames: Readonly<Record<string, string>> = {
  GatewayAccount: "gwacct",
  APIKey: "gwkey",
  IPPolicy: "gwipp",
  AgentIngress: "gwagin",
  ReservedAddress: "gwra",
  ReservedDomain: "gwrd",
  TunnelGroupBackend: "gwtg",
  HTTPResponseBackend: "gwhr",
  WeightedBackend: "gwwd",
  FailoverBackend: "gwfo",
  TCPEdge: "gwtcp",
  TLSEdge: "gwtls",
  HTTPSEdgeRoute: "gwroute",
  SSHCredential: "gwssh",
  SSHHostCertificate: "gwshc",
  CertificateAuthority: "gwca",
  TLSCertificate: "gwcert",
  EventDestination: "gwed",
  EventSubscription: "gwes",
  EventSource: "gwesrc",
  TunnelSession: "gwts",
  AgentCommand: "gwcmd",
};

describe("what kubectl shows", () => {
  test("short names and the category are the contract's", async () => {
    const { stdout } = await world.kubectl("get", "crd", "-o", "json");
    const crds: KubeJSON[] = JSON.parse(stdout).items.filter(
      ({ spec }: KubeJSON) => spec.group === "tunnelgateway.dev",
    );
    const served = Object.fromEntries(crds.map(({ spec }) => [spec.names.kind, spec.names.shortNames]));
    expect(Object.keys(served)).toEqual(expect.arrayContaining(kinds.map(({ kind }) => kind)));
    expect(served).toMatchObject(Object.fromEntries(Object.entries(shortNames).map(([kind, name]) => [kind, [name]])));
    for (const { spec } of crds) expect(spec.names.categories, spec.names.kind).toContain("tunnelgateway");
  });

  test("kubectl explains fields", async () => {
    const { stdout } = await world.kubectl("explain", "gwtcp.spec.backend.backendRef.name");
    expect(stdout).toContain("Name of a TunnelGroupBackend");
  });

  test("an object that was never reconciled does not count as healthy", async () => {
    const created = await Promise.all(kinds.map(({ kind }) => world.kube.create(objectOf(kind, {}))));
    for (const { kind, status } of created) {
      expect(status.observedGeneration, kind).toBe(-1);
      expect(status.conditions, kind).toEqual([
        expect.objectContaining({ type: "Ready", status: "Unknown", reason: "Pending" }),
      ]);
    }
  });

  test("objects are found by the id of their remote", async () => {
    const id = "ipp_selected";
    const { metadata } = await world.kube.create(objectOf("IPPolicy", {}));
    await world.kube.patchStatus("IPPolicy", metadata.name, { id });
    const { stdout } = await world.kubectl("get", "gwipp", "--field-selector", `status.id=${id}`, "-o", "name");
    expect(stdout.trim()).toBe(`ippolicy.tunnelgateway.dev/${metadata.name}`);
    await world.kube.delete("IPPolicy", metadata.name);
  });

  test("examples applied again are unchanged, also once they are Ready", async () => {
    const apply = async () => {
      const { stdout } = await world.kubectl("apply", "-f", join(import.meta.dirname, "../../../examples"));
      return stdout.trim().split("\n");
    };
    const documents = await examples();
    const isLeft = (line: string) => !line.endsWith(" unchanged");
    expect((await apply()).filter((line) => line.endsWith(" created"))).toHaveLength(documents.length);
    expect((await apply()).filter(isLeft)).toEqual([]);
    await world.startOperator();
    const ready = await world.allReady(documents);
    expect((await apply()).filter(isLeft)).toEqual([]);
    const now = await world.allReady(documents);
    expect(now.map((object) => conditionOf(object, "Ready")?.lastTransitionTime)).toEqual(
      ready.map((object) => conditionOf(object, "Ready")?.lastTransitionTime),
    );
  });

  test("deleted examples leave nothing in the account", async () => {
    const documents = (await examples()).map(nameOf);
    const others = (await world.kube.all()).filter((object) => !documents.includes(nameOf(object)));
    for (const { kind, metadata } of others) await world.kube.delete(kind, metadata.name);
    await world.kubectl("delete", "-f", join(import.meta.dirname, "../../../examples"));
    await world.until("all are gone", async () => (await world.kube.all()).length === 0);
    expect(world.simulator.control.accountIsEmpty()).toBe(true);
  });
});
