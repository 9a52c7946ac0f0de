import { expect, test } from "vitest";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { annotations } from "../../schema/contract.ts";
import { parseLabelSelector } from "../../schema/label-selector.ts";
import { checkInstallations } from "./installations.ts";

const now = Date.parse("2026-01-01T00:00:20Z");
const own = {
  watchNamespaces: [],
  watchSelector: parseLabelSelector("team=a"),
  podNamespace: "own",
  installation: "default",
};

const lease = (namespace: string, said: object, spec = {}) => ({
  metadata: {
    namespace,
    name: "tunnel-gateway-operator",
    uid: namespace,
    annotations: { [annotations.installation]: JSON.stringify({ name: "default", namespaces: [], ...said }) },
  },
  spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:10.000000Z", ...spec },
});

const check = (...items: object[]) =>
  checkInstallations({ listAll: async () => ({ items }) } as unknown as KubeClient, own, now);

test.each([
  ["active", {}],
  ["waiting", { claim: "waiting" }],
  ["for one namespace only", { namespaces: ["team-a"] }],
])("another installation with the same objects, %s, is named", async (_, said) => {
  await expect(check(lease("own", {}), lease("other", said))).rejects.toThrow(/"default" in namespace other/);
});

test("an installation with other labels does not count, unless it is in the same namespace", async () => {
  const elsewhere = lease("other", { selector: "team notin (a)" });
  expect(await check(lease("own", {}), elsewhere)).toMatch(/^no other/);
  const beside = lease("own", { selector: "team=b", name: "beside" });
  beside.metadata.name = "tunnel-gateway-operator-beside";
  await expect(check(lease("own", {}), beside)).rejects.toThrow(/"beside" in namespace own/);
});

test("an installation whose labels this version cannot read may have any object", async () => {
  await expect(check(lease("own", {}), lease("other", { selector: "team>3" }))).rejects.toThrow(/namespace other/);
});

test("an installation that has ended, and a Lease without one, do not count", async () => {
  const ended = lease("other", {}, { renewTime: "2026-01-01T00:00:01.000000Z" });
  const stranger = { metadata: { namespace: "n", name: "x" }, spec: ended.spec };
  expect(await check(lease("own", {}), ended, lease("gone", {}, { holderIdentity: "" }), stranger)).toMatch(
    /^no other/,
  );
});

test("with a list of namespaces, Leases and copies are read in these and in the operator's own", async () => {
  const read: unknown[] = [];
  const copy = lease("team-b", { home: "other", born: "1" });
  const listAll = async (_: unknown, { namespace }: { namespace?: string }) => {
    read.push(namespace);
    return { items: namespace === "team-b" ? [copy] : [] };
  };
  const some = { ...own, watchNamespaces: ["team-a", "team-b"] };
  await expect(checkInstallations({ listAll } as unknown as KubeClient, some, now)).rejects.toThrow(
    /"default" in namespace other/,
  );
  expect(read).toEqual(["team-a", "team-b", "own"]);
});

test("a copy of the own Lease does not count", async () => {
  expect(await check(lease("own", {}), lease("team-a", { home: "own", born: "1" }))).toMatch(/^no other/);
});
