import { expect, test } from "vitest";
import { neededRights, refusalOf } from "./rights.ts";

const needs = (scope: Parameters<typeof neededRights>[0]) =>
  neededRights(scope).map(
    ({ verb, resource, namespace, name }) => `${verb} ${resource} ${name ?? "*"} ${namespace ?? "*"}`,
  );

const twoNamespaces = {
  watchNamespaces: ["a", "b"],
  podNamespace: "home",
  installation: "default",
  leaderElection: false,
  watchSecrets: false,
  secretWriteNamespaces: undefined,
};

test("without a list of namespaces, rights are needed in all of them, and some only in the operator's own", () => {
  const all = needs({
    watchNamespaces: [],
    podNamespace: "home",
    installation: "default",
    leaderElection: true,
    watchSecrets: false,
    secretWriteNamespaces: undefined,
  });
  expect(all).toContain("watch tcpedges * *");
  expect(all).toContain("get namespaces * *");
  expect(all).toContain("get customresourcedefinitions tcpedges.tunnelgateway.dev *");
  expect(all).toContain("create tunnelsessions * *");
  expect(all).toContain("get secrets tunnel-gateway-operator-state home");
  expect(all.filter((right) => right.includes("leases")).sort()).toEqual([
    "create leases * *",
    "delete leases tunnel-gateway-operator.home *",
    "get leases tunnel-gateway-operator home",
    "list leases * *",
    "patch leases tunnel-gateway-operator.home *",
    "update leases tunnel-gateway-operator home",
  ]);
});

test("with a list of namespaces, no right is needed outside of them", () => {
  const some = needs(twoNamespaces);
  expect(some).toContain("watch tcpedges * b");
  expect(some).toContain("get namespaces a a");
  expect(some).toContain("watch agentcommands * home");
  expect(some.filter((right) => right.endsWith(" *"))).toEqual([]);
  expect(some.filter((right) => right.includes("leases"))).toEqual([]);
  const key = "tunnel-gateway-operator-state";
  const secrets = some.filter((right) => /secrets .* home/.test(right));
  expect(secrets).toEqual(["create secrets * home", `get secrets ${key} home`, `patch secrets ${key} home`]);
});

test("with a list of namespaces and leader election, Leases are found in each of them and at home", () => {
  const some = needs({
    watchNamespaces: ["a"],
    podNamespace: "home",
    installation: "default",
    leaderElection: true,
    watchSecrets: false,
    secretWriteNamespaces: undefined,
  });
  expect(some.filter((right) => right.includes("leases")).sort()).toEqual([
    "create leases * a",
    "create leases * home",
    "delete leases tunnel-gateway-operator.home a",
    "get leases tunnel-gateway-operator home",
    "list leases * a",
    "list leases * home",
    "patch leases tunnel-gateway-operator.home a",
    "update leases tunnel-gateway-operator home",
  ]);
});

test("Secrets have to be listed and watched in each namespace, and only if that is enabled", () => {
  const given = {
    watchNamespaces: ["a", "b"],
    podNamespace: "home",
    installation: "default",
    leaderElection: false,
    secretWriteNamespaces: [],
  };
  const following = (watchSecrets: boolean) =>
    needs({ ...given, watchSecrets }).filter((right) => /^(list|watch) secrets/.test(right));
  expect(following(true)).toEqual(["list secrets * a", "watch secrets * a", "list secrets * b", "watch secrets * b"]);
  expect(following(false)).toEqual([]);
});

test.each([
  [undefined, ["a", "b"]],
  [[], []],
  [["b"], ["b"]],
])("Secrets have to be written in %j of the namespaces a and b", (secretWriteNamespaces, expected) => {
  const given = {
    watchNamespaces: ["a", "b"],
    podNamespace: "home",
    installation: "default",
    leaderElection: false,
    watchSecrets: false,
  };
  const writing = needs({ ...given, secretWriteNamespaces }).filter((right) =>
    /^(create|patch) secrets .* [ab]$/.test(right),
  );
  expect(writing).toEqual(expected.flatMap((name) => [`create secrets * ${name}`, `patch secrets * ${name}`]));
});

test("a namespace without any right is named alone, and single rights that are missing elsewhere", () => {
  const all = neededRights(twoNamespaces);
  expect(refusalOf([], all)).toBeUndefined();
  const ofB = all.filter(({ namespace }) => namespace === "b");
  const way = 'Let the operator read namespace "b", or take it out of WATCH_NAMESPACES: no right is granted there';
  expect(refusalOf(ofB, all)).toEqual([way]);
  const [one] = all;
  expect(refusalOf([...ofB, ...(one ? [one] : [])], all)?.join("\n")).toMatch(
    /^Let the operator read namespace "b"[^\n]*\n +grant the operator's service account:\n +\w+ \S+ in a$/,
  );
});
