import { describe, expect, test } from "vitest";
import * as z from "zod";
import { defineModule, defineResource } from "../gateway/resource.ts";
import { customResources, kinds } from "../kinds/index.ts";
import { customResourceOf } from "../schema/common.ts";
import { defineCustomResource, defineKind, type Kind } from "../schema/define.ts";
import { enabled, immutable, module, refsTo, secretKey, secretName, texts } from "../schema/fields.ts";
import { firstExamples } from "./reference/examples.ts";
import { fieldRemovals } from "./reference/field-removal.ts";
import { fieldsOf } from "./reference/fields.ts";
import { cell, kebab } from "./reference/markdown.ts";
import { referencePages } from "./reference.ts";

const filter = defineModule({
  name: "pond_filter",
  title: "filter of a pond",
  path: "/ponds/{id}/filter",
  wire: z.object({}),
  put: ["enabled"],
});

const Pond: Kind = defineKind({
  kind: "Pond",
  summary: "Water.",
  resource: defineResource({
    name: "ponds",
    title: "pond",
    path: "/ponds",
    listKey: "ponds",
    idPrefix: "pd_",
    wire: z.object({}),
    create: [],
    update: [],
  }),
  spec: z.object({
    ...texts,
    depth: z.int().min(1).max(9).default(2).describe("Metres."),
    shape: immutable(z.string()).optional().describe("Any <shape> | form."),
    fishRefs: refsTo(["Pond", "Fish"], { sends: "fish_ids" }).optional().describe("Who lives here."),
    keyRef: secretKey("the key", { sends: "key" }).optional(),
    tlsSecretName: secretName("Its certificate.", { members: { pem: { key: "tls.crt" } } }).optional(),
    pump: module(z.object({ enabled }), { onRemove: "disable" }).describe("Moves the water."),
    filter: module(z.object({ enabled }), { onRemove: "delete" }).describe("Cleans the water."),
  }),
  modules: { filter },
  status: z.object({}),
});

const Weather = defineCustomResource({
  kind: "Weather",
  summary: "Comes and goes.",
  spec: z.object({}),
  status: z.object({ wind: z.string().describe("Where it blows.") }),
  columns: [{ name: "Wind", jsonPath: ".status.wind" }],
  conditions: ["Sunny"],
});

describe("fields", () => {
  const rows = new Map(fieldsOf(Pond.spec, ["Pond"]).map((field) => [field.path, field]));

  test.each([
    ["description", "string", "at most 255 bytes (UTF-8)"],
    ["depth", "integer", "default `2`; 1 to 9"],
    ["shape", "string", "immutable"],
    [
      "tlsSecretName",
      "name of a Secret",
      "a change replaces the resource; 1 to 253 characters; a name in Kubernetes: lower-case letters, digits, - and ., " +
        "with a letter or digit at both ends and beside each .; key `tls.crt` is sent as `pem`",
    ],
    ["keyRef", "key of a Secret", "sent as `key`; read when it is sent, never shown or compared"],
    ["pump.enabled", "boolean", "default `true`"],
  ])("%s", (path, type, rules) => {
    expect(rows.get(path)).toMatchObject({ type, rules: rules.split("; ") });
  });

  test("a reference names its kinds, and says which of them this version does not have", () => {
    expect(rows.get("fishRefs[]")).toMatchObject({ type: "list of references", refersTo: ["Pond", "Fish"] });
    expect(rows.get("fishRefs[]")?.rules.at(-1)).toBe("by `id` only for `Fish`: this version has no such kind");
    expect(rows.has("fishRefs[].name")).toBe(true);
  });
});

test("the effect of a removed field is what the comparison would send", () => {
  expect(fieldRemovals(Pond, ["depth"])).toEqual([
    ["`description`", 'Cleared: `description: ""` is sent.'],
    ["`metadata`", 'Cleared: `metadata: ""` is sent.'],
    ["`shape`", "Refused at admission: immutable."],
    ["`fishRefs`", "Cleared: `fish_ids: []` is sent."],
    ["`keyRef`", "Left as it is."],
    ["`tlsSecretName`", "Replaced by a resource without it."],
    ["`pump`", "Switched off: sent with `enabled: false`, its other settings stay."],
    ["`filter`", "Removed by `DELETE /ponds/{id}/filter`."],
  ]);
});

test("the first document of a kind is its example, with its comments", () => {
  const files = new Map([["a.yaml", "# none\n---\n# one\nkind: Pond\n---\nkind: Pond\nspec: {}\n"]]);
  expect(firstExamples(files)).toEqual(new Map([["Pond", { file: "a.yaml", text: "# one\nkind: Pond" }]]));
});

describe("pages", () => {
  const catalogue = { kinds: [...kinds, Pond], customResources: [...customResources, customResourceOf(Pond), Weather] };
  const pages = referencePages(catalogue, new Map([["Pond", { file: "pond.yaml", text: "kind: Pond" }]]));

  test("there is one for each kind and an index that links to all of them", () => {
    const names = catalogue.customResources.map(({ kind }) => `${kebab(kind)}.md`);
    expect(new Set(pages.keys())).toEqual(new Set(["README.md", ...names]));
    for (const name of names) expect(pages.get("README.md")).toContain(`(${name})`);
  });

  test("a page has the example, and the kinds that refer to it", () => {
    const page = pages.get("pond.md") ?? "";
    expect(page).toContain("```yaml\nkind: Pond\n```");
    expect(page).toContain("while an object refers to it: [Pond](pond.md) (`fishRefs[]`).");
    expect(page).toContain("Any &lt;shape> | form.");
  });

  test("the page of a kind that is not reconciled has its own fields only", () => {
    const page = pages.get("weather.md") ?? "";
    expect(page).toContain("### `status.wind`\n");
    expect(page).toContain("Conditions: `Sunny`");
    expect(page).not.toContain("deletionPolicy");
  });

  test("every row of a table has as many cells as its head", () => {
    for (const [name, text] of pages) {
      for (const rows of text.match(/(^\|.*\|\n?)+/gm) ?? []) {
        const widths = rows
          .trim()
          .split("\n")
          .map((row) => row.match(/(?<!\\)\|/g)?.length);
        expect(new Set(widths).size, `${name}: ${rows.slice(0, 80)}`).toBe(1);
      }
    }
  });
});

test.each([
  ["IPPolicy", "ip-policy"],
  ["TCPEdge", "tcp-edge"],
  ["ReservedDomain", "reserved-domain"],
  ["HTTPSEdgeRoute", "https-edge-route"],
])("%s is %s", (kind, name) => expect(kebab(kind)).toBe(name));

test("code keeps its angle brackets", () => {
  expect(cell("see `a<b>` and <c>")).toBe("see `a<b>` and &lt;c>");
});
