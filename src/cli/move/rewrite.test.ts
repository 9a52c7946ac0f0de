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
