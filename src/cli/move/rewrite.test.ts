import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
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
  expect(() => rewritten("a: [", rewriting("team-b", "office"), "a.yaml")).toThrow("Correct the YAML in a.yaml: ");
});
