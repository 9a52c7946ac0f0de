import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { kinds } from "../../src/kinds/index.ts";

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: unknown;
  data?: Record<string, string>;
}

const FOLDER = resolve(import.meta.dirname, "../../examples");
const files = (await readdir(FOLDER)).filter((name) => name.endsWith(".yaml"));
const read = async (file: string) =>
  parseAllDocuments(await readFile(join(FOLDER, file), "utf8")).map((document) => document.toJS() as Manifest);
const byFile = new Map(await Promise.all(files.map(async (file) => [file, await read(file)] as const)));
const all = [...byFile.values()].flat();

const kebab = (kind: string) =>
  kind
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1-$2")
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase();

/** Every object in a spec that is of such a form. */
function* within(value: unknown, member = ""): Generator<{ member: string; value: Record<string, unknown> }> {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) yield { member, value: value as Record<string, unknown> };
  for (const [name, inner] of Object.entries(value)) yield* within(inner, Array.isArray(value) ? member : name);
}

describe("examples", () => {
  it.each(kinds.map(({ kind }) => kind))("of %s are a minimal and a full one, in a file of its own", (kind) => {
    const objects = byFile.get(`${kebab(kind)}.yaml`) ?? [];
    expect(objects.length).toBeGreaterThanOrEqual(2);
    expect(new Set(objects.map((object) => object.kind))).toEqual(new Set([kind]));
  });

  it("are applied to the namespace of choice, each under a name of its own", () => {
    expect(all.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([]);
    const keys = all.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(keys).toEqual([...new Set(keys)]);
  });

  it("refer to nothing but one another", () => {
    const names = new Set(all.map(({ metadata }) => metadata.name));
    const secrets = new Map(
      all.flatMap(({ kind, metadata, data }) => (kind === "Secret" ? [[metadata.name, data]] : [])),
    );
    const refs = all.flatMap(({ spec }) => [...within(spec)]).filter(({ member }) => /Refs?$/.test(member));
    expect(refs.length).toBeGreaterThan(0);
    for (const { value } of refs) {
      expect(names).toContain(value["name"]);
      if (value["key"] !== undefined) expect(secrets.get(String(value["name"]))).toHaveProperty([String(value["key"])]);
    }
  });

  it("hold no secret that could be real", () => {
    const values = all.flatMap(({ data }) => Object.values(data ?? {}));
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) expect(Buffer.from(value, "base64").toString()).toMatch(/^not-a-real-/);
  });
});
