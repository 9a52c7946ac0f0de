import { createPrivateKey, X509Certificate } from "node:crypto";
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

const decoded = (base64: string): string => Buffer.from(base64, "base64").toString();

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Every object inside a spec, with the name of its member. */
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
    const dataOf = new Map(all.flatMap(({ metadata, data }) => (data ? [[metadata.name, data]] : [])));
    const refs = all.flatMap(({ spec }) => [...within(spec)]).filter(({ member }) => /Refs?$/.test(member));
    expect(refs.length).toBeGreaterThan(0);
    for (const { value } of refs) {
      expect(names).toContain(value["name"]);
      if (value["key"] !== undefined) expect(dataOf.get(String(value["name"]))).toHaveProperty([String(value["key"])]);
    }
  });

  it("find the Secrets they name, and none that the operator is to write", () => {
    const named = all.flatMap(({ spec }) => [...within(spec)]).map(({ value }) => value);
    const secrets = all.filter(({ kind }) => kind === "Secret").map(({ metadata }) => metadata.name);
    expect(secrets).toEqual(expect.arrayContaining(named.flatMap(({ secretName }) => secretName ?? [])));
    const written = named.flatMap(({ tokenSecretName, certificateSecretName }) => [
      tokenSecretName ?? [],
      certificateSecretName ?? [],
    ]);
    expect(written.flat().filter((name) => secrets.includes(String(name)))).toEqual([]);
  });

  it("hold no secret that could be real", () => {
    const values = all.flatMap(({ kind, data }) => (kind === "Secret" ? Object.entries(data ?? {}) : []));
    const plain = values.filter(([key]) => !/^(tls|ca)\./.test(key));
    expect(plain.length).toBeGreaterThan(0);
    for (const [, value] of plain) expect(decoded(value)).toMatch(/^not-a-real-/);
  });

  it("have certificates that are valid, long, fit their keys, and say that nobody is behind them", () => {
    const pairs = all.flatMap(({ data }) => (data?.["tls.crt"] ? [[data["tls.crt"], data["tls.key"]]] : []));
    expect(pairs.length).toBeGreaterThan(0);
    for (const [certificate = "", key = ""] of pairs) {
      expect(new X509Certificate(decoded(certificate)).checkPrivateKey(createPrivateKey(decoded(key)))).toBe(true);
    }
    const texts = all.flatMap((object) => [JSON.stringify(object), ...Object.values(object.data ?? {}).map(decoded)]);
    const blocks = texts.flatMap((text) => text.replaceAll("\\n", "\n").match(pem) ?? []);
    expect(blocks.length).toBeGreaterThan(pairs.length);
    for (const certificate of blocks.map((block) => new X509Certificate(block))) {
      expect(certificate.subject).toContain("not a real organization");
      expect(certificate.verify(certificate.publicKey)).toBe(true);
      expect(new Date(certificate.validTo).getUTCFullYear()).toBeGreaterThan(2040);
    }
  });
});
