import { expect, test } from "vitest";
import { clusterIDOf } from "./identity.ts";

const client = {
  get: async <T>(_: unknown, { name }: { name: string }) => ({ metadata: { uid: `uid-of-${name}` } }) as T,
};

test.each([
  ["what is configured wins", { clusterID: "mine" }, "mine"],
  ["else the cluster's", {}, "uid-of-kube-system"],
  ["but of the own namespace with a list of namespaces", { watchNamespaces: ["a"] }, "uid-of-own"],
  ["where there is one", { watchNamespaces: ["a"], podNamespace: undefined }, "uid-of-kube-system"],
])("%s", async (_, config, id) => {
  const defaults = { clusterID: undefined, podNamespace: "own", watchNamespaces: [] };
  expect(await clusterIDOf(client, { ...defaults, ...config })).toBe(id);
});
