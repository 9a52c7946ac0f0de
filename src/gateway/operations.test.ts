import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { connect, json, serve } from "../../test/support/gateway-service.ts";
import type { Module, Resource, Verb } from "./resource.ts";
import * as families from "./resources/index.ts";

const { eventSources, sessionCommands } = families;
const exported: readonly object[] = Object.values(families);
const resources = exported.filter((family): family is Resource => "idPrefix" in family);
const modules = exported.filter((family): family is Module => "put" in family);

interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Template, with `{id}` and the like. */
  readonly path: string;
  readonly verb: Exclude<Verb, "none">;
}

const methodOf = {
  create: "POST",
  list: "GET",
  get: "GET",
  update: "PATCH",
  put: "PUT",
  delete: "DELETE",
} as const;

type Verbs = Readonly<Partial<Record<keyof typeof methodOf, Verb>>>;

/** Every operation that the client has a method for, in the terms of the API page. */
function operations(): Operation[] {
  return [
    ...resources.flatMap(({ verbs, path }) => ofVerbs(verbs, path, `${path}/{id}`)),
    ...modules.flatMap(({ verbs, path }) => ofVerbs(verbs, path, path)),
    ...ofVerbs(eventSources.verbs, eventSources.path, `${eventSources.path}/{type}`),
    ...Object.values(sessionCommands).map((path) => ({ method: "POST", path, verb: "documented" }) as const),
  ];
}

function ofVerbs(verbs: Verbs, collection: string, item: string): Operation[] {
  return Object.entries(verbs).flatMap(([name, verb]) => {
    if (verb === "none") return [];
    const path = name === "create" || name === "list" ? collection : item;
    return [{ method: methodOf[name as keyof typeof methodOf], path, verb }];
  });
}

const page = readFileSync(new URL("../../docs/gateway-api.md", import.meta.url), "utf8");

const namesIn = (cell = ""): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);

/** The rows of the operation tables: `POST /api_keys`, with the members of its request. */
const documented = [...page.matchAll(/^\| (POST|GET|PUT|PATCH|DELETE) \| `([^`]+)` \| ([^|]+) \|/gm)].map(
  ([, method, path, request]) => ({ operation: `${method} ${path}`, members: namesIn(request) }),
);

interface Field {
  name: string;
  /** Which requests take it: `create, update`, `put`, `no`, … */
  requests: string;
}

/** The fields in the section of the page that has this heading. */
function fieldsOf(heading: string): Field[] {
  const sections = page.split(/^#+ /m);
  const section = sections.find((text) => text.toLowerCase().startsWith(`${heading.toLowerCase()}\n`));
  const [table = ""] = section?.match(/^\| Field [\s\S]*?\n\n/m) ?? [];
  const rows = [...table.matchAll(/^\| (`[^|]+) \| [^|]+ \| ([^|]+) \|/gm)];
  return rows.flatMap(([, names, requests = ""]) => namesIn(names).map((name) => ({ name, requests })));
}

/** Names of the fields that a request takes, in alphabetical order. */
const takenBy = (request: RegExp, fields: Field[]): string[] =>
  fields
    .filter(({ requests }) => request.test(requests))
    .map(({ name }) => name)
    .toSorted();

const operationsOf = (verb: string) => operations().flatMap((o) => (o.verb === verb ? [`${o.method} ${o.path}`] : []));

describe("docs/gateway-api.md", () => {
  test("has exactly the operations that the client calls documented", () => {
    const operations = documented.map(({ operation }) => operation);
    expect(operations.length).toBeGreaterThan(100);
    expect(operations.toSorted()).toEqual(operationsOf("documented").toSorted());
    expect(operationsOf("undocumented").filter((operation) => operations.includes(operation))).toEqual([]);
  });

  const requests = [
    ...resources.flatMap(({ path, create, update }) => [
      { operation: `POST ${path}`, members: create },
      { operation: `PATCH ${path}/{id}`, members: update },
    ]),
    ...modules.map(({ path, put }) => ({ operation: `PUT ${path}`, members: put })),
    { operation: `POST ${eventSources.path}`, members: ["type"] },
    { operation: `PATCH ${eventSources.path}/{type}`, members: ["type"] },
  ].filter(({ members }) => members.length > 0);

  test.each(requests)("lists the members that $operation sends", ({ operation, members }) => {
    const row = documented.find((row) => row.operation === operation);
    expect(row?.members.toSorted()).toEqual(members.toSorted());
  });

  test.each(resources)("has the path, list key and id prefix of the $title", ({ title, path, listKey, idPrefix }) => {
    const row = page.split("\n").find((line) => line.startsWith(`| [${title}](`));
    expect(row?.split(" | ").slice(1).join(" | ")).toBe(`\`${path}\` | \`${listKey}\` | \`${idPrefix}\` |`);
    expect(page).toContain(`| GET | \`${path}\` | none | 200, \`{${listKey}, uri, next_page_uri}\` |`);
  });

  test.each(resources)("has the fields that the client knows of the $title", ({ title, wire, create, update }) => {
    const fields = fieldsOf(title);
    const known = new Set([...Object.keys(wire.shape), ...create, ...update]);
    expect(fields.map(({ name }) => name).toSorted()).toEqual([...known].toSorted());
    expect(takenBy(/create/, fields)).toEqual(create.toSorted());
    expect(takenBy(/update/, fields)).toEqual(update.toSorted());
  });

  test.each(modules)("has the fields that the client knows of the $title", ({ title, wire, put }) => {
    const fields = fieldsOf(title);
    const known = new Set([...Object.keys(wire.shape), ...put]);
    expect(fields.map(({ name }) => name).toSorted()).toEqual([...known].toSorted());
    expect(takenBy(/put/, fields)).toEqual(put.toSorted());
  });

  test("has the path, list key and fields of the event source", () => {
    const { path, listKey, wire } = eventSources;
    expect(page).toContain(`| [event source](#event-source) | \`${path}\` | \`${listKey}\` | none |`);
    expect(page).toContain(`| GET | \`${path}\` | none | 200, \`{${listKey}, uri}\` |`);
    expect(fieldsOf("event source").map(({ name }) => name)).toEqual(Object.keys(wire.shape));
  });
});

/** What lists and creates show of an event source is all that it has. */
const unused = ["GET", "PATCH"].map((method) => `${method} ${eventSources.path}/{type}`);

test("every operation that the operator needs has a method of the client", async () => {
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
  await client.deleteSource("1", "t");
  for (const command of ["restart", "stop", "update"] as const) await client.command(command, "1");

  const sent = events.map(({ method, route }) => `${method} ${route}`);
  const all = [...operationsOf("documented"), ...operationsOf("undocumented")];
  expect(all).toEqual(expect.arrayContaining(unused));
  expect([...sent, ...unused].toSorted()).toEqual(all.toSorted());
  const used = operations().filter(({ method, path }) => !unused.includes(`${method} ${path}`));
  const filled = used.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, (id) => idOf[id] ?? "1")}`);
  expect(seen.map(({ method, url }) => `${method} ${url}`).toSorted()).toEqual(filled.toSorted());
});

const idOf: Record<string, string> = { "{edge_id}": "e", "{type}": "t" };

/** Answers any GET: it has an id and a type, and an empty list for each family. */
const answerOf: [string, unknown][] = [
  ["id", "1"],
  ["type", "t"],
  ...[...resources.map(({ listKey }) => listKey), "sources"].map((key): [string, unknown] => [key, null]),
];

test("names are unique among resources and modules", () => {
  const names = [...resources, ...modules].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
