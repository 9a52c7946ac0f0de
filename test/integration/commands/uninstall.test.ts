import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type KubeJSON, manifest, nameOf } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();
const uninstall = (...more: string[]) =>
  command(world, ["uninstall", "--policy", "delete", ...more], { WATCH_NAMESPACES: world.namespace });

const backendRef = (kind: string, name: string) => ({ kind, name });
const restricted = (name: string) => ({ ipRestriction: { ipPolicyRefs: [{ name }] } });

// guards against an uninstallation that never ends, or that takes the rules off an edge which stays
test("a remote in use is released, reported and listed, and all others are deleted", async () => {
  const objects: KubeJSON[] = [
    manifest("IPPolicy", "office", {}),
    manifest("TCPEdge", "kept", { ...restricted("office"), deletionPolicy: "Retain" }),
    manifest("IPPolicy", "shared", {}),
    manifest("TunnelGroupBackend", "web", {}),
    manifest("WeightedBackend", "split", {
      backends: [{ backendRef: backendRef("TunnelGroupBackend", "web"), weight: 1 }],
    }),
    manifest("TLSEdge", "kept", {
      backend: { backendRef: backendRef("WeightedBackend", "split") },
      deletionPolicy: "Retain",
    }),
    manifest("IPPolicy", "unused", {}),
    manifest("TCPEdge", "going", restricted("unused")),
    manifest("ReservedAddress", "unused", {}),
  ];
  await world.kube.apply(...objects);
  const ids = new Map((await world.allReady(objects)).map((one) => [nameOf(one), one.status.id as string]));
  const idOf = (name: string) => ids.get(name) ?? "";
  const foreign = world.simulator.control.insert("edges/tcp", {
    ip_restriction: { enabled: true, ip_policy_ids: [idOf("IPPolicy/shared")] },
  });

  const { code, stderr } = await uninstall("--yes");
  expect(await world.kube.all()).toEqual([]);
  const use = {
    "IPPolicy/office": 'TCPEdge "kept"|TCP edge edgtcp_\\w+',
    "IPPolicy/shared": `TCP edge ${foreign["id"]}`,
    "WeightedBackend/split": 'TLSEdge "kept"|TLS edge edgtls_\\w+',
    "TunnelGroupBackend/web": 'WeightedBackend "split"|weighted backend bkdwd_\\w+',
  };
  const released = stderr.split("\n").filter((line) => line.startsWith("Released "));
  expect(released).toHaveLength(Object.keys(use).length);
  const events = (await world.kube.list("Event")).filter(({ reason }) => reason === "LeftBehind");
  const noteOf = (users: string, id: string) =>
    `Leaving ${id} in the account: (${users}) uses it and stays, and the operator is being uninstalled`;
  for (const [name, users] of Object.entries(use)) {
    const [kind, bare] = name.split("/");
    const reported = noteOf(users, idOf(name));
    expect(released).toContainEqual(
      expect.stringMatching(new RegExp(`^Released ${kind} ${world.namespace}/${bare}: ${reported}$`)),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ type: "Warning", note: expect.stringMatching(new RegExp(`^${reported}$`)) }),
    );
    expect(world.simulator.control.get(idOf(name))).not.toBeNull();
  }
  expect(code).toBe(1);
  const page = await readFile(join(import.meta.dirname, "../../../docs/uninstall.md"), "utf8");
  const shown = noteOf(use["IPPolicy/office"], "ipp_2b7Kq");
  expect(page).toMatch(new RegExp(`^Released IPPolicy team/office: ${shown}$`, "m"));
  const kept = [...Object.keys(use), "TCPEdge/kept", "TLSEdge/kept"];
  const deleted = [...ids.keys()].filter((name) => !kept.includes(name));
  for (const name of deleted) expect([name, world.simulator.control.get(idOf(name))]).toEqual([name, null]);

  // what is left can be removed
  expect(await uninstall()).toMatchObject({ code: 0, stderr: "" });
});

test("without --yes nothing is deleted where nobody can be asked, and the output names each object", async () => {
  await world.kube.apply(manifest("IPPolicy", "asked", {}));
  const { id } = (await world.ready("IPPolicy", "asked")).status;
  world.simulator.control.clearRequests();
  const { code, stdout, stderr } = await uninstall();
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/^Give --yes/) });
  expect(stdout).toContain(`  IPPolicy ${world.namespace}/asked: ${id}\n`);
  expect((await world.kube.get("IPPolicy", "asked"))?.metadata.deletionTimestamp).toBeUndefined();
  expect(world.changesSent()).toEqual([]);
});
