import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { connect, json, serve } from "../../test/support/gateway-service.ts";
import { operations } from "./operations.ts";
import { modules, resources } from "./resources/index.ts";

const page = new URL("../../../shared/gateway-api.md", import.meta.url);
const absent = "the API page is not beside this checkout";
const kinds = ["tunnel_group", "http_response", "weighted", "failover"];

interface Row {
  operation: string;
  request: string;
}

/** The endpoint tables of the page, one row for each operation. */
function rows(): Row[] {
  const table = /^\| (POST|GET|PUT|PATCH|DELETE) \| `([^`]+)` \| ([^|]*) \|/gm;
  return [...readFileSync(page, "utf8").matchAll(table)].flatMap(([, method, path = "", request = ""]) =>
    (path.includes("{kind}") ? kinds : [""]).map((kind) => ({
      operation: `${method} ${path.replace("{kind}", kind)}`,
      request,
    })),
  );
}

const operationsOf = (verb: string) => operations().flatMap((o) => (o.verb === verb ? [`${o.method} ${o.path}`] : []));

describe("the API page", () => {
  test("shows no operation that the client lacks, and the client claims none that it does not show", (context) => {
    context.skip(!existsSync(page), absent);
    const shown = rows().map(({ operation }) => operation);
    expect(shown.length).toBeGreaterThan(90);
    expect(operationsOf("shown").toSorted()).toEqual(shown.toSorted());
    expect(operationsOf("unshown").filter((operation) => shown.includes(operation))).toEqual([]);
  });

  test("lists the same members for each request", (context) => {
    context.skip(!existsSync(page), absent);
    const ours = new Map<string, readonly string[]>();
    for (const { path, create, update } of resources) {
      ours.set(`POST ${path}`, create).set(`PATCH ${path}/{id}`, update);
    }
    for (const { path, put } of modules) ours.set(`PUT ${path}`, put);
    const plain = /^(`\w+`( \([^)]*\))?(, |$))+$/;
    const compared = rows().filter(({ operation, request }) => plain.test(request) && ours.has(operation));
    expect(compared.length).toBeGreaterThan(20);
    for (const { operation, request } of compared) {
      const theirs = [...request.replace(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g)].map(([, name]) => name);
      expect(ours.get(operation)?.toSorted(), operation).toEqual(theirs.toSorted());
    }
  });

  test("shows no field that the client does not know", (context) => {
    context.skip(!existsSync(page), absent);
    const sections = readFileSync(page, "utf8").split(/^### /m);
    for (const { title, listKey, wire, create } of resources) {
      const heading = `${title} (list key \`${listKey}\``;
      const section = sections.find((text) => text.toLowerCase().startsWith(heading.toLowerCase()));
      expect(section, title).toBeDefined();
      const [table = ""] = section?.match(/^\| Field [\s\S]*?\n\n/m) ?? [];
      const fields = [...table.matchAll(/^\| ([a-z_, ]+) \|/gm)].flatMap(([, names = ""]) => names.split(", "));
      const known = [...Object.keys(wire.shape), ...create];
      expect(fields.filter((field) => !known.includes(field), title)).toEqual([]);
    }
  });
});

test("every operation has a call that sends it", async () => {
  const { url, seen } = await serve((response, { method }) =>
    method === "GET" ? json(response, 200, Object.fromEntries(answerOf)) : json(response, 200, { id: "1", type: "t" }),
  );
  const { client, events } = connect(url);
  for (const resource of resources) {
    const { create, update, delete: remove } = resource.verbs;
    await client.listAll(resource);
    await client.get(resource, "1");
    if (create !== "none") await client.create(resource, {});
    if (update !== "none") await client.update(resource, "1", {});
    if (remove !== "none") await client.delete(resource, "1");
  }
  for (const module of modules) {
    await client.putModule(module, { edge_id: "e", id: "1" }, {});
    await client.getModule(module, { edge_id: "e", id: "1" });
    await client.deleteModule(module, { edge_id: "e", id: "1" });
  }
  await client.createSource("1", "t");
  await client.listSources("1");
  await client.getSource("1", "t");
  await client.updateSource("1", "t");
  await client.deleteSource("1", "t");
  await client.restartSession("1");
  await client.stopSession("1");
  await client.updateSession("1");

  const sent = events.map(({ method, route }) => `${method} ${route}`);
  expect(sent.toSorted()).toEqual([...operationsOf("shown"), ...operationsOf("unshown")].toSorted());
  const filled = operations().map(
    ({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, (id) => idOf[id] ?? "1")}`,
  );
  expect(seen.map(({ method, url }) => `${method} ${url}`).toSorted()).toEqual(filled.toSorted());
});

const idOf: Record<string, string> = { "{edge_id}": "e", "{type}": "t" };

/** At once an answer to any GET: a thing with an id and a type, and an empty list of each kind. */
const answerOf: [string, unknown][] = [
  ["id", "1"],
  ["type", "t"],
  ...[...resources.map(({ listKey }) => listKey), "sources"].map((key): [string, unknown] => [key, null]),
];

test("names are unique among resources and modules", () => {
  const names = [...resources, ...modules].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
