import { expect, test } from "vitest";
import { sortedAfter } from "../src/cli/graph/reached.ts";
import { documentsOf } from "../src/cli/plan/json-documents.ts";
import { numberOrText } from "../src/cli/plan/kubectl-numbers.ts";
import { noManifests, parse } from "../src/cli/plan/manifests.ts";
import { wrappedLine } from "../src/cli/terminal/wrapped.ts";
import { CertificateAuthority } from "../src/kinds/certificate-authority.ts";
import { IPPolicy } from "../src/kinds/ip-policy.ts";
import { SSHCredential } from "../src/kinds/ssh-credential.ts";
import { keepersAmong } from "../src/objects/leftover.ts";
import type { ManagedObject } from "../src/objects/object.ts";
import { replacePlannedIDs } from "../src/plan/account-copy.ts";
import { sourceStack } from "../src/runtime/stack.ts";
import { LabelSelectorError, parseLabelSelector } from "../src/schema/label-selector.ts";

// What others write may be a megabyte of one character. Each of these took minutes or hours when it was read once more
// from each of its places; in one reading it takes no time that a person would notice.

const million = (text: string): string => text.repeat(Math.ceil(1_000_000 / text.length));

test("the selector in the Lease of another installation", () => {
  expect(() => parseLabelSelector(million(","))).toThrow(LabelSelectorError);
  expect(() => parseLabelSelector(`a in (${million("b,")}b)`)).toThrow("at most 4096 characters");
  expect(() => parseLabelSelector(",".repeat(4000))).toThrow(LabelSelectorError);
});

test("a message of the API server in a stack", () => {
  const text = million("file:///");
  expect(sourceStack(text)).toBe(text);
});

test("the fields of a plan", () => {
  const text = million("x");
  expect(replacePlannedIDs(`${text} ipp_planned1`, () => "(IPPolicy/a)")).toBe(`${text} (IPPolicy/a)`);
});

test("a line on a terminal", () => {
  const text = `x${million(" ")}`;
  expect(wrappedLine(`${text}\ny`, 80).join("").replaceAll(" ", "")).toMatch(/^x.*y$/);
});

test("JSON whose text in quotes does not end", () => {
  expect(documentsOf(`{"a": ${million('\\"')}`)).toBeUndefined();
  expect(documentsOf(`{"a": "${million('\\"')}"} {"b": "{"}`)).toHaveLength(2);
});

test("a number", () => {
  expect(numberOrText(million("1"))).toBe(million("1"));
  expect(numberOrText("18446744073709551615")).toBe(18446744073709552000);
});

test("30,000 manifests in one file, of which one is there twice", () => {
  const items = Array.from({ length: 30_000 }, (_, index) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `c${index % 29_999}` },
  }));
  const result = noManifests();
  parse(JSON.stringify({ apiVersion: "v1", kind: "List", items }), "all.json", result);
  expect(result.manifests).toHaveLength(29_999);
  expect(result.problems).toEqual([expect.stringContaining("Remove one of two")]);
});

test.each([
  [CertificateAuthority, { caPem: `-----BEGIN CERTIFICATE-----${million("\n")}` }],
  [SSHCredential, { publicKey: "ssh-ed25519 AAAA", acl: [`bind:${million("=")}\n`] }],
])("a spec of $0.kind", (kind, spec) => {
  expect(kind.spec.safeParse(spec).success).toBe(false);
});

test("20,000 remotes without an owner, and as many objects", () => {
  const objects = Array.from({ length: 20_000 }, (_, index) => ({
    kind: "IPPolicy",
    metadata: { namespace: "shop", name: `p${index}`, uid: `u${index}`, generation: 1 },
    spec: {},
    status: { id: `ipp_${index}` },
  })) as unknown as ManagedObject[];
  const keeperOf = keepersAmong(IPPolicy, { clusterID: "c1", objects, exists: () => true });
  const remotes = objects.map((_, index) => ({ id: `ipp_${index + 1}` }));
  expect(remotes.filter((remote) => keeperOf(remote) === undefined)).toEqual([{ id: "ipp_20000" }]);
});

test("a chain and a circle of 100,000, put in order", () => {
  const all = Array.from({ length: 100_000 }, (_, index) => index);
  expect(sortedAfter(all, (one) => [one + 1])).toEqual(all.toReversed());
  expect(sortedAfter(all, (one) => [(one + 1) % all.length])).toHaveLength(all.length);
});
