import { beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { withoutOwnerMark } from "../../../src/objects/ownership.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

// Whoever may write one text in the account writes what somebody with more rights applies.

const world = useWorld();

const bodies = [
  ...["\u007f\u0080\u009f", "a\u0085b", "a\u2028b", "\u2029", "\ufffe", "\uffff x", "\ttab first", "ends with space "],
  ...["a\r\nb\r", "no", "012", "1e3", "=", "---\nx", "# no comment", "\u202eabc", "\u0000\u0001\u001b[2J", "\ufeffx"],
  ...[
    "{{ .Values.x }}",
    "a\n---\napiVersion: v1\nkind: Secret\n",
    "x\u2028---\u2028kind: Secret\u2028",
    "😀\u{10ffff}",
  ],
];

const separator = "\u2028";

/** Lines of a manifest, as a reader sees them who takes this for the end of a line. */
const injected = [
  ...["x", "---", "apiVersion: rbac.authorization.k8s.io/v1", "kind: ClusterRoleBinding", "metadata: {name: intruder}"],
  "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}",
  "subjects: [{kind: User, name: somebody, apiGroup: rbac.authorization.k8s.io}]",
  ...["---", "y"],
];

const metadata = [separator, "\n", "\u0085", "\r", "\u2029"].map((end) => injected.join(end));

beforeAll(() => {
  const { control } = world.simulator;
  for (const body of bodies) control.insert("backends/http_response", { body, status_code: 200 });
  for (const text of metadata) control.insert("ip_policies", { description: "office", metadata: text });
  control.insert("backends/http_response", { description: "lone", body: "a\ud800b", status_code: 200 });
});

const account = () =>
  ["backends/http_response", "ip_policies"].flatMap((name) => world.simulator.control.objects(name));

const textsOf = () =>
  account().map(({ id, body, description, metadata: text }) => ({
    id,
    body,
    description,
    metadata: withoutOwnerMark(text as string) || null,
  }));

test("the account's texts come back byte for byte from import, kubectl and the operator, and inject nothing", async () => {
  const before = textsOf();
  const { code, stdout, stderr } = await command(world, ["import", "--all", "-n", world.namespace]);
  // a lone surrogate is in no UTF-8
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/lone|body/) });
  const applied = await world.apply(stdout);
  expect(applied).not.toMatch(/clusterrolebinding|secret/i);
  expect((await world.tryKubectl(["get", "clusterrolebinding", "intruder"])).code).not.toBe(0);
  const kinds = ["HTTPResponseBackend", "IPPolicy"] as const;
  const objects = (await Promise.all(kinds.map((kind) => world.kube.list(kind)))).flat();
  expect(objects.length).toBeGreaterThanOrEqual(bodies.length + metadata.length);
  await world.allReady(objects);
  expect(textsOf()).toEqual(before);
  expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(kinds));
  expect(parseAllDocuments(stdout).filter((one) => (one.toJS() as KubeJSON | null)?.kind === "Secret")).toEqual([]);
});
