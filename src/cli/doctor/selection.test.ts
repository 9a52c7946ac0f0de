import { expect, test } from "vitest";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { ResourceType } from "../../runtime/object.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { parseLabelSelector } from "../../schema/label-selector.ts";
import { checkSelection } from "./selection.ts";

const now = Date.parse("2026-01-01T00:00:20Z");
const own = {
  watchNamespaces: [],
  watchSelector: parseLabelSelector("team=a"),
  podNamespace: "own",
  installation: "default",
};

const lease = (selector: string, holderIdentity = "a") => ({
  metadata: {
    namespace: "other",
    name: "tunnel-gateway-operator",
    annotations: { [annotations.installation]: JSON.stringify({ name: "default", namespaces: ["n"], selector }) },
  },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:10.000000Z" },
});

const policy = (name: string, labels: Record<string, string>, metadata: object = { finalizers: [FINALIZER] }) => ({
  metadata: { namespace: "n", name, labels, ...metadata },
});

function check(installed: object[], ...policies: object[]): Promise<string> {
  const lists: Record<string, object[]> = { leases: installed, ippolicies: policies };
  const listAll = async ({ plural }: ResourceType) => ({ items: lists[plural] ?? [] });
  return checkSelection({ listAll } as unknown as KubeClient, own, now);
}

test("objects that belong to this installation, or to another that runs, are in order", async () => {
  const free = policy("free", {}, {});
  const objects = [policy("ours", { team: "a" }), policy("theirs", { team: "b" }), free];
  expect(await check([lease("team=b")], ...objects)).toMatch(/^each object/);
});

test("objects that belong to no installation any more are named, those that are being deleted first", async () => {
  const deleting = policy("gone", {}, { finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" });
  await expect(check([lease("team=b")], policy("left", { team: "c" }), deleting)).rejects.toThrow(
    /: IPPolicy n\/gone \(being deleted\), IPPolicy n\/left$/,
  );
});

test("an installation that has ended has no objects", async () => {
  await expect(check([lease("team=b", "")], policy("theirs", { team: "b" }))).rejects.toThrow("IPPolicy n/theirs");
});

test("a message is limited in length", async () => {
  const many = Array.from({ length: 12 }, (_, index) => policy(`p${index}`, {}));
  await expect(check([], ...many)).rejects.toThrow(/IPPolicy n\/p9, and 2 more$/);
});
