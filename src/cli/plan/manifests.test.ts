import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Manifests, noManifests, parse, readManifests } from "./manifests.ts";

function parsed(...texts: string[]): Manifests {
  const result = noManifests();
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
    true: true,
    octal: 200,
    binary: 3,
    time: "12:30",
    date: "2026-01-01",
    text: "010",
    merged: 1,
  });
});

test.each([
  ...[
    ["0o777", 511],
    ["0700", 448],
    ["0X1F", 31],
    ["0b11", 3],
    ["5e2", 500],
    ["5_00", 500],
    ["1__0", 10],
    ["-017", -15],
  ],
  ...[
    ["08", 8],
    [".5", 0.5],
    ["+5", 5],
    ["-_5_", -5],
    ["0x1p3", "0x1p3"],
    ["1e400", "1e400"],
    ["12:30", "12:30"],
  ],
  ...[
    ["10.0.0.1", "10.0.0.1"],
    ["2026-01-01", "2026-01-01"],
    ["12ab", "12ab"],
    ["!!int '5'", 5],
  ],
])("kubectl reads %s as %j", (source, value) => {
  const { manifests, problems } = parsed(`${policy}spec: {x: ${source}}\n`);
  expect([manifests[0]?.object["spec"], problems]).toEqual([{ x: value }, []]);
});

const json = (name: string) =>
  JSON.stringify({ apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata: { name } });

test.each([
  ["one after the other", `${json("a")}${json("b")}`, ["0.yaml:1", "0.yaml:1"]],
  [
    "on lines of their own, with braces and quotes in texts",
    `\n${json('a"}{')}\r\n\n${json("b")}\n`,
    ["0.yaml:2", "0.yaml:4"],
  ],
])("several JSON objects in one file are read: %s", (_, text, where) => {
  const { manifests, problems } = parsed(text);
  expect([manifests.map((one) => one.where), problems]).toEqual([where, []]);
});

test("a file that begins with a brace and is no JSON is read as YAML", () => {
  const flow = "{apiVersion: tunnelgateway.dev/v1, kind: IPPolicy, metadata: {name: a}}\n---\n";
  expect(parsed(`${flow}${policy}`).manifests.map(({ where }) => where)).toEqual(["0.yaml:1", "0.yaml:3"]);
});

test("a file is read whatever its line ends, and refused if it is no UTF-8", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manifests-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const given = async (name: string, bytes: Uint8Array) => {
    await writeFile(join(folder, name), bytes);
    const { manifests, problems } = await readManifests({ filename: [join(folder, name)] });
    return [
      ...manifests.map(({ object }) => object.metadata.name),
      ...problems.map((line) => line.replace(folder, "")),
    ];
  };
  expect(
    await given(
      "crlf.yaml",
      Buffer.from(`\ufeff${policy}---\n${policy.replace("office", "b")}`.replaceAll("\n", "\r\n")),
    ),
  ).toEqual(["office", "b"]);
  const refused = (name: string) => [`/${name}: Save it as UTF-8: it has another encoding`];
  expect(await given("utf-16.yaml", Buffer.from(`\ufeff${policy}`, "utf16le"))).toEqual(refused("utf-16.yaml"));
  expect(await given("bare.yaml", Buffer.from(policy, "utf16le"))).toEqual(refused("bare.yaml"));
  expect(await given("latin.yaml", Buffer.from(policy.replace("office", "b\u00fcro"), "latin1"))).toEqual(
    refused("latin.yaml"),
  );
});

test("an address is no file, and the message says what to do", async () => {
  await expect(readManifests({ filename: ["https://example.com/a.yaml"] })).rejects.toThrow(/^Download https:.* first/);
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
  ["no YAML", "a: [", /^0\.yaml:1: Correct the YAML: .* and end with a \] at line 1, column 5$/],
  [
    "a number that JSON has not",
    `${policy}spec: {x: -.inf}`,
    /^0\.yaml:4: Correct the YAML: Write a number that JSON has/,
  ],
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
