import { expect, test } from "vitest";
import { KubeError } from "../runtime/errors.ts";
import { clusterIDOf } from "./identity.ts";

/** A cluster in which these namespaces may be read. */
const readable = (...names: string[]) => ({
  async get<T>(_: unknown, { name }: { name: string }): Promise<T> {
    if (!names.includes(name)) throw new KubeError({ status: 403, message: `namespaces "${name}" is forbidden` });
    return { metadata: { name, uid: `uid-of-${name}` } } as T;
  },
});

test.each([
  ["what is configured wins", readable("kube-system", "own"), { clusterID: "mine", podNamespace: "own" }, "mine"],
  ["else the cluster's", readable("kube-system", "own"), { podNamespace: "own" }, "uid-of-kube-system"],
  ["else that of the own namespace", readable("own"), { podNamespace: "own" }, "uid-of-own"],
])("%s", async (_, client, config, id) => {
  expect(await clusterIDOf(client, { clusterID: undefined, ...config })).toBe(id);
});

test("without either it cannot go on", async () => {
  const asked = clusterIDOf(readable(), { clusterID: undefined, podNamespace: undefined });
  await expect(asked).rejects.toMatchObject({ status: 403 });
});
