import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Manifests, parse, readManifests } from "./manifests.ts";

function parsed(...texts: string[]): Manifests {
  const result: Manifests = { manifests: [], problems: [] };
  for (const [index, text] of texts.entries()) parse(text, `${index}.yaml`, result);
  return result;
}

const policy = "apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\nmetadata: {name: office}\n";

const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";

test("a manifest has the line at which it begins", () => {
  const { manifests, problems } = parsed(`# a comment\n---\n${policy}---\n${policy.replace("office", "home")}`);
  expect(problems).toEqual([]);
  expect(manifests.map(({ where, object }) => [where, object.metadata.name])).toEqual([
    ["0.yaml:3", "office"],
    ["0.yaml:7", "home"],
  ]);
});

test("values are those that kubectl reads, which are those of YAML 1.1 without its times", () => {
  const spec = "spec:\n  yes: yes\n  octal: 0310\n  binary: 0b11\n  time: 12:30\n  date: 2026-01-01\n  text: '010'\n";
  const [first] = parsed(`${policy}x: &x {merged: 1}\n${spec}  <<: *x\n`).manifests;
  expect(first?.object["spec"]).toEqual({
    ...{ true: true, octal: 200, binary: 3, time: "12:30", date: "2026-01-01", text: "010", merged: 1 },
  });
});

test("files of a folder that are no manifests or cannot be read are left out or reported", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manifests-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "folder.yaml", "below"), { recursive: true });
  await writeFile(join(folder, "folder.yaml", "below", "b.yaml"), policy.replace("office", "below"));
  await writeFile(join(folder, "a.yaml"), policy);
  await symlink("nowhere", join(folder, "gone.yaml"));
  const { manifests, problems } = await readManifests({ filename: [folder] });
  expect(manifests.map(({ object }) => object.metadata.name)).toEqual(["office"]);
  expect(problems).toEqual([`${join(folder, "gone.yaml")}: It cannot be read`]);
  const all = await readManifests({ filename: [folder], recursive: true });
  expect(all.manifests.map(({ object }) => object.metadata.name)).toEqual(["office", "below"]);
});

test("lists are split into objects, and objects of other kinds are left out", () => {
  const list = `kind: List\napiVersion: v1\nitems:\n- ${policy.trimEnd().replaceAll("\n", "\n  ")}\n`;
  const { manifests, problems } = parsed(list, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", "");
  expect(problems).toEqual([]);
  expect(manifests.map(({ object }) => object.kind)).toEqual(["IPPolicy"]);
});

test.each([
  ["no YAML", "a: [", /^0\.yaml:1: Correct the YAML: /],
  ["no manifest", "hello: there", /^0\.yaml:1: This is no manifest/],
  ["a text", "hello", /^0\.yaml:1: This is no manifest/],
  ["an unknown kind", policy.replace("IPPolicy", "IPPolice"), /^0\.yaml:1: tunnelgateway.dev\/v1 has no kind IPPolice/],
  ["another version", policy.replace("/v1", "/v2"), /^0\.yaml:1: Use apiVersion tunnelgateway.dev\/v1/],
  ["an alias of nothing", "a: *b", /^0\.yaml:1: Correct the YAML: Unresolved alias/],
  ["no name", policy.replace("name: office", ""), /^0\.yaml:1: Give this IPPolicy a metadata.name/],
  ["a Secret without a name", "apiVersion: v1\nkind: Secret\n", /^0\.yaml:1: Give this Secret a metadata.name/],
  ["a Secret of numbers", `${secret}data: {a: 1}\n`, /^0\.yaml:1: Give data of Secret "s" texts alone/],
  ["a Secret of null", `${secret}stringData: {a: }\n`, /^0\.yaml:1: Give stringData of Secret "s" texts alone/],
  ["a Secret of a text", `${secret}stringData: a\n`, /^0\.yaml:1: Give stringData of Secret "s" texts alone/],
  ["the same object twice", `${policy}---\n${policy}`, /^0\.yaml:5: Remove one of two: 0\.yaml:1 has the same object/],
])("%s gets one line with file and line", (_, text, line) => {
  expect(parsed(text).problems).toEqual([expect.stringMatching(line)]);
});
