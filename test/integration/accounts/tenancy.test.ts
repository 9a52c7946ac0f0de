import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { kinds } from "../../../src/kinds/index.ts";
import { KubeError } from "../../../src/runtime/connection/errors.ts";
import { specOf } from "../../../src/schema/common.ts";
import { regions } from "../../../src/schema/fields.ts";
import { traitsOf, unwrap } from "../../../src/schema/traits.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { Page } from "../../e2e/support/page.ts";
import { pluginShell } from "../../e2e/support/plugin-shell.ts";
import { minimalSpecs } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const directory = join(import.meta.dirname, "../../../examples/tenancy");
const policies = join(directory, "policies.yaml");

const world = useWorld({ startOperator: false });

type Spec = Record<string, unknown>;

/** What the API server says when an object is created, and undefined where it is accepted. Nothing is stored. */
async function refusal(kind: string, spec: Spec): Promise<string | undefined> {
  try {
    await world.kube.create(manifest(kind, "one", spec), { dryRun: true });
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return error.message;
    throw error;
  }
}

const annotate = (...annotations: string[]) =>
  world.kubectl("annotate", "--overwrite", "namespace", world.namespace, ...annotations);

const prefix = "tenancy.tunnelgateway.dev";
const allKinds = `${prefix}/kinds=${kinds.map(({ kind }) => kind).join(",")}`;

beforeAll(async () => {
  const { metadata } = parse(await readFile(join(directory, "namespace.yaml"), "utf8"));
  const pairs = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => `${name}=${value}`);
  await world.kubectl("label", "namespace", world.namespace, ...pairs(metadata.labels));
  await annotate(...pairs(metadata.annotations));
  await world.kubectl("apply", "-f", policies);
  // The API server takes up policies after a while.
  for (const spec of [{ domain: "other.example.com" }, { domain: "shop.example.com", adopt: { id: "rd_1" } }])
    await world.until("the policies hold", async () => (await refusal("ReservedDomain", spec)) !== undefined);
  await world.until("regions hold", async () => (await refusal("ReservedAddress", { region: "us" })) !== undefined);
  await world.until("kinds hold", async () => (await refusal("APIKey", minimalSpecs["APIKey"] ?? {})) !== undefined);
});

afterAll(() => world.kubectl("delete", "-f", policies));

describe("a namespace that shares an account", () => {
  test.each<[string, string, Spec]>([
    ["a domain that it has", "ReservedDomain", { domain: "shop.example.com" }],
    ["a name below it", "ReservedDomain", { domain: "*.eu.Shop.example.com" }],
    ["a region that it has", "ReservedAddress", { region: "eu" }],
    ["a reference by name", "TCPEdge", { addressRefs: [{ name: "database" }] }],
    ["a policy", "IPPolicy", {}],
  ])("may have %s", async (_, kind, spec) => {
    expect(await refusal(kind, spec)).toBeUndefined();
  });

  test.each<[string, string, Spec, string]>([
    ["a domain of others", "ReservedDomain", { domain: "example.com" }, "lists no name for example.com"],
    ["a name that only ends alike", "ReservedDomain", { domain: "myshop.example.com" }, "lists no name for myshop"],
    ["another region", "ReservedAddress", { region: "us" }, "regions of this namespace does not list us"],
    ["the region that the service chooses", "ReservedAddress", {}, "regions of this namespace does not list us"],
    ["another kind", "APIKey", minimalSpecs["APIKey"] ?? {}, "kinds of this namespace does not list APIKey"],
    ["an address of the account", "TCPEdge", { hostports: ["1.tcp.eu.gateway.example:20117"] }, "use addressRefs"],
  ])("may not have %s", async (_, kind, spec, message) => {
    expect(await refusal(kind, spec)).toContain(message);
  });
});

test("the page applies these policies, and shows this namespace and what is refused in it", async () => {
  await using shell = await pluginShell(world);
  await symlink(join(directory, ".."), join(shell.directory, "examples"));
  const page = await Page.read("docs/tenancy.md", shell);
  const heading = "Multi-tenancy: several teams, one account";
  expect(await page.run(heading)).toContain("tunnelgateway-domains");
  expect(parse(page.take(heading, "yaml"))).toEqual(parse(await readFile(join(directory, "namespace.yaml"), "utf8")));
  expect(await refusal("ReservedDomain", { domain: "example.com" })).toContain(page.take(heading, "text").trim());
  expect(page.unused).toEqual([]);
});

const idOf = ([first]: readonly string[]): string => `${kinds.find(({ kind }) => kind === first)?.resource.idPrefix}1`;

/** Each place in a spec that takes an id of the account, with a spec that has one there. */
function idsIn(schema: z.ZodType, path: string): [string, unknown][] {
  const inner = unwrap(schema);
  const { reference } = traitsOf(schema);
  if (reference && reference.statusField !== "id") return [];
  if (inner instanceof z.ZodArray) {
    if (reference) return [[`${path}[].id`, [{ id: idOf(reference.kinds) }]]];
    return idsIn(inner.element as z.ZodType, `${path}[]`).map(([at, value]) => [at, [value]]);
  }
  if (reference) return [[`${path}.id`, { id: idOf(reference.kinds) }]];
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([field, member]) =>
    idsIn(member as z.ZodType, path ? `${path}.${field}` : field).map(([at, value]): [string, unknown] => [
      at,
      { ...(field === "backendRef" && { weight: 1 }), [field]: value },
    ]),
  );
}

const places = kinds.flatMap((kind) => idsIn(specOf(kind), "").map(([at, spec]) => [kind.kind, at, spec] as const));

describe("an id of the account is refused", () => {
  beforeAll(async () => {
    // the samples end in com7
    await annotate(allKinds, `${prefix}/domains=com7`, `${prefix}/regions=${regions.join(",")}`);
    for (const kind of ["APIKey", "ReservedDomain", "AgentIngress", "ReservedAddress"])
      await world.until(
        `${kind} is allowed`,
        async () => (await refusal(kind, minimalSpecs[kind] ?? {})) === undefined,
      );
  });

  test("in more than ten places", () => expect(places.length).toBeGreaterThan(10));

  test.each(places)("%s: spec.%s", async (kind, _, spec) => {
    expect(await refusal(kind, { ...minimalSpecs[kind], ...(spec as Spec) })).toContain("by name only");
  });

  test.each(
    kinds.filter(({ location }) => location.type === "collection").map(({ kind, resource }) => [kind, resource]),
  )("%s: spec.adopt.id", async (kind, { idPrefix }) => {
    expect(await refusal(kind, { ...minimalSpecs[kind], adopt: { id: `${idPrefix}1` } })).toContain("by name only");
  });
});

test("an object that the policies no longer allow can be paused, and deleted", async () => {
  const spec = { domain: "kept.example.com7" };
  await world.apply(manifest("ReservedDomain", "kept", spec));
  await annotate(`${prefix}/domains=`);
  await world.until("the domain is refused", async () => (await refusal("ReservedDomain", spec)) !== undefined);
  await world.kube.annotate("ReservedDomain", "kept", { "tunnelgateway.dev/paused": "true" });
  await world.kube.patch("ReservedDomain", "kept", { metadata: { finalizers: ["tunnelgateway.dev/remote"] } });
  await world.kube.patch("ReservedDomain", "kept", { metadata: { finalizers: null } });
  await world.kube.delete("ReservedDomain", "kept");
});
