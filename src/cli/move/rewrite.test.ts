import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { rewriteManifests, rewritten } from "./rewrite.ts";

const place = (namespace: string, name: string) => ({ namespace, name });

const rewriting = (namespace: string, name: string) => ({
  move: { kind: IPPolicy, from: place("team-a", "office"), to: place(namespace, name) },
  next: { spec: { description: "Office" }, status: { id: "ipp_1" } } as unknown as ManagedObject,
  namespace: "team-a",
});

const text = `# Who may come in.
apiVersion: tunnelgateway.dev/v1
kind: IPPolicy
metadata:
  name: office # of the company
spec:
  description: 'Office'
---
apiVersion: v1
kind: ConfigMap
metadata: {name:   office}
---
# The edge.
apiVersion: tunnelgateway.dev/v1
kind: TCPEdge
metadata:
  name: ssh
spec:
  ipRestriction:
    # all of these
    ipPolicyRefs: [{name: home}, {name: office}]
---
apiVersion: tunnelgateway.dev/v1
kind: TCPEdge
metadata: {name: elsewhere, namespace: team-c}
spec:   {ipRestriction: {ipPolicyRefs: [{name: office}]}}
`;

test("in another namespace, references by name become references by id", () => {
  expect(rewritten(text, rewriting("team-b", "office"))).toMatchInlineSnapshot(`
    "# Who may come in.
    apiVersion: tunnelgateway.dev/v1
    kind: IPPolicy
    metadata:
      name: office # of the company
      namespace: team-b
    spec:
      description: 'Office'
      adopt: {id: ipp_1, from: team-a/office}
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name:   office}
    ---
    # The edge.
    apiVersion: tunnelgateway.dev/v1
    kind: TCPEdge
    metadata:
      name: ssh
    spec:
      ipRestriction:
        # all of these
        ipPolicyRefs: [{name: home}, {id: ipp_1}]
    ---
    apiVersion: tunnelgateway.dev/v1
    kind: TCPEdge
    metadata: {name: elsewhere, namespace: team-c}
    spec:   {ipRestriction: {ipPolicyRefs: [{name: office}]}}
    "
  `);
});

test("in the same namespace, references get the new name", () => {
  const after = rewritten(text, rewriting("team-a", "headquarters"));
  expect(after).toContain("ipPolicyRefs: [{name: home}, {name: headquarters}]");
  expect(after).not.toContain("namespace: team-a");
});

test("a second run rewrites nothing", () => {
  const once = rewritten(text, rewriting("team-b", "office"));
  expect(rewritten(once, rewriting("team-b", "office"))).toBe(once);
});

test("only changed files are written, as a whole", async () => {
  const folder = await mkdtemp(join(tmpdir(), "move-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "a.yaml"), text);
  await writeFile(join(folder, "b.yaml"), "a:   1\n");
  expect(await rewriteManifests([folder], false, rewriting("team-b", "office"))).toEqual([join(folder, "a.yaml")]);
  expect(await readFile(join(folder, "a.yaml"), "utf8")).toBe(rewritten(text, rewriting("team-b", "office")));
  expect(await readFile(join(folder, "b.yaml"), "utf8")).toBe("a:   1\n");
});

test("invalid YAML is reported, with the file", () => {
  expect(() => rewritten("a: [", rewriting("team-b", "office"), "a.yaml")).toThrow(
    /^Correct the YAML in a\.yaml: .* and end with a \] at line 1, column 5$/,
  );
});

const near = rewriting("team-a", "home");
const manifest =
  "apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\nmetadata:\n  name: office\nspec: {description: yes}\n";

test("a name that kubectl would read as another value gets quotes, and nothing else does", () => {
  const expected = [/\n {2}name: "yes"\n/, /description: yes,/];
  for (const line of expected) expect(rewritten(manifest, rewriting("team-a", "yes"))).toMatch(line);
  const far = rewritten(text, rewriting("on", "office"));
  expect(far).toContain('namespace: "on"');
});

test("JSON stays JSON", () => {
  const json = { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata: { name: "office" }, spec: {} };
  const adopt = { id: "ipp_1", from: "team-a/office" };
  const expected = { ...json, metadata: { name: "home" }, spec: { adopt } };
  for (const space of [0, 2]) expect(JSON.parse(rewritten(JSON.stringify(json, null, space), near))).toEqual(expected);
});

/** The lines of the second text that the first one lacks, and the other way round. */
const differing = (before: string, after: string) => {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return { gone: old.filter((line) => !now.includes(line)), come: now.filter((line) => !old.includes(line)) };
};

test.each(["\n", "\r\n"])("in a List, all other lines stay as they are (%j)", (end) => {
  const list = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name:   web,   labels: {"a":  'b'}}   # of the shop
  spec:
    volumes:
    - secret: { defaultMode: 0644, other: 0o17 }
    numbers: [1e3,  1.0, 9007199254740993, 0x1F, +12]
    none: ~
    empty:
    answers: [yes, "yes", 'no',True , "\\u0041"]
    text: one
      two
    script: |+
      echo  1

- apiVersion: tunnelgateway.dev/v1
  kind: TCPEdge
  metadata:
      name: ssh
  spec:
      metadata: {mode: "0644"}
      ipRestriction:
        ipPolicyRefs:
        # the first
        - name: office # here
        - name: 'home'
- apiVersion: tunnelgateway.dev/v1
  kind: IPPolicy
  metadata:
    name: 'office' # here too
  spec:
    description: |
      Office

# the end
`.replaceAll("\n", end);
  const more = end.slice(0, -1);
  const lines = (all: string[]) => all.map((line) => line + more);
  expect(differing(list, rewritten(list, rewriting("team-b", "office")))).toEqual({
    gone: lines(["        - name: office # here"]),
    come: lines([
      "        - {id: ipp_1} # here",
      "    namespace: team-b",
      "    adopt: {id: ipp_1, from: team-a/office}",
    ]),
  });
  expect(differing(list, rewritten(list, near))).toEqual({
    gone: lines(["        - name: office # here", "    name: 'office' # here too"]),
    come: lines([
      "        - name: home # here",
      "    name: 'home' # here too",
      "    adopt: {id: ipp_1, from: team-a/office}",
    ]),
  });
});

const HEAD = "apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\n";

test.each([
  ["metadata:\n  name: office", "metadata:\n  name: home\nspec: {adopt: {id: ipp_1, from: team-a/office}}"],
  ["metadata: {name: office}\nspec:\n", "metadata: {name: home}\nspec: {adopt: {id: ipp_1, from: team-a/office}}\n"],
  ["metadata: {name: office}\nspec: {}\n", "metadata: {name: home}\nspec: {adopt: {id: ipp_1, from: team-a/office}}\n"],
  [
    "metadata: {name: office}\nspec: {\n  description: a,\n}\n",
    "metadata: {name: home}\nspec: {\n  description: a,\n  adopt: {id: ipp_1, from: team-a/office},\n}\n",
  ],
  [
    "metadata: {name: office}\nspec:\n  description: a\n  adopt:\n    # the remote\n    id: ipp_0 # it\n",
    "metadata: {name: home}\nspec:\n  description: a\n  adopt:\n    # the remote\n    {id: ipp_1, from: team-a/office} # it\n",
  ],
  [
    "metadata: {name: office}\nspec:\n  adopt:\n    id: ipp_0\n",
    "metadata: {name: home}\nspec:\n  adopt: {id: ipp_1, from: team-a/office}\n",
  ],
])("the move is written into %j", (before, after) => {
  expect(rewritten(HEAD + before, near)).toBe(HEAD + after);
});

test("JSON keeps its lines", () => {
  const json = { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata: { name: "office" }, spec: { a: [1] } };
  const before = `${JSON.stringify(json, null, 2)}\n`;
  expect(differing(before, rewritten(before, near))).toEqual({
    gone: ['    "name": "office"', "    ]"],
    come: ['    "name": "home"', "    ],", '    "adopt": {"id": "ipp_1", "from": "team-a/office"}'],
  });
});

test.each([
  ["a name that is meant elsewhere too", "metadata: {name: &name office, labels: {app: *name}}\nspec: {}\n"],
  ["metadata of another place", "other: &meta {name: office}\nmetadata: *meta\nspec: {}\n"],
  ["a comment in place of the spec", "metadata: {name: office}\nspec: # nothing\n"],
  ["a key of its own form", "metadata: {name: office}\nspec:\n  ? description\n  : a\n"],
])("%s is left to a person", (_, more) => {
  expect(() => rewritten(HEAD + more, near, "a.yaml")).toThrow(
    expect.objectContaining({
      name: "CommandError",
      message: expect.stringMatching(/^Write the move into a\.yaml by hand/),
    }),
  );
});

test("a document that cannot be read is named", () => {
  const refusal = expect.objectContaining({
    name: "CommandError",
    message: expect.stringMatching(/a\.yaml: Unresolved/),
  });
  expect(() => rewritten("a: *nothing\n", near, "a.yaml")).toThrow(refusal);
});

test("a file that cannot be read or written is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rewrite-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink("nowhere", join(folder, "gone.yaml"));
  await expect(rewriteManifests([folder], false, near)).rejects.toThrow(
    expect.objectContaining({ name: "CommandError", message: expect.stringContaining("gone.yaml") }),
  );
});

test("a link stays one, and the file to which it leads is written", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rewrite-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "meant"), manifest);
  await symlink("meant", join(folder, "a.yaml"));
  await rewriteManifests([folder], false, near);
  expect(await readFile(join(folder, "meant"), "utf8")).toContain("name: home");
  expect((await lstat(join(folder, "a.yaml"))).isSymbolicLink()).toBe(true);
});
