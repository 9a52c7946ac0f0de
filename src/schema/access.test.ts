import { expect, test } from "vitest";
import * as z from "zod";
import { customResources, kinds } from "../kinds/index.ts";
import {
  accessGrants,
  clusterGrants,
  commandGrants,
  type Grant,
  operatorGrants,
  ownNamespaceGrants,
  secretWatchGrants,
} from "./access.ts";
import { customResourceOf } from "./common.ts";
import type { CustomResource } from "./define.ts";

const rights = (grants: readonly Grant[]) =>
  grants.flatMap(({ rule }) => rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${verb} ${resource}`)));

const everything = [operatorGrants, clusterGrants, ownNamespaceGrants, commandGrants].flatMap((grants) =>
  grants(customResources),
);

test("no right is granted by a wildcard, and Secrets are neither listed nor watched unless that is asked for", () => {
  const all = rights(everything);
  expect(all.filter((right) => right.includes("*"))).toEqual([]);
  expect(all.filter((right) => /^(list|watch|delete) secrets/.test(right))).toEqual([]);
  expect(rights(secretWatchGrants())).toEqual(["list secrets", "watch secrets"]);
});

test("no rule grants what another grants already", () => {
  const all = rights([
    ...operatorGrants(customResources),
    ...clusterGrants(customResources),
    ...ownNamespaceGrants(customResources),
  ]);
  expect(all.filter((right, index) => all.indexOf(right) !== index)).toEqual([]);
});

test("Secrets are written only where a kind says so, ConfigMaps read only where a field needs it", () => {
  const [plain] = kinds.filter(({ output }) => !output).map(customResourceOf);
  const of = (changes: Partial<CustomResource>) =>
    rights(operatorGrants([{ ...(plain as CustomResource), spec: z.object({}), ...changes }]));
  expect(of({}).filter((right) => /secrets|configmaps/.test(right))).toEqual([]);
  expect(of({ secretAccess: ["create"] })).toContain("create secrets");
});

test("editors of a namespace do not get what reaches beyond it", () => {
  const { view, edit, account } = accessGrants(customResources);
  const escalating = customResources.filter(({ escalates }) => escalates).map(({ plural }) => plural);
  expect(escalating).toContain("eventdestinations");
  for (const plural of escalating) {
    expect(rights(edit).filter((right) => right.endsWith(` ${plural}`))).toEqual([]);
    expect(rights(account)).toContain(`create ${plural}`);
    expect(rights(view)).toContain(`list ${plural}`);
  }
  expect(rights(edit)).toContain("create tcpedges");
  expect(rights(edit)).not.toContain("create tunnelsessions");
});
