import { beforeAll, expect, test } from "vitest";
import { OWNER_KEY } from "../../../src/schema/contract.ts";
import { manifest } from "../../../tools/shared/objects.ts";

import type { Members } from "../../../tools/simulator/shape/members.ts";
import { sampleBodies } from "../../../tools/simulator/testing/samples.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

// Whoever may write in the account writes owner marks that no operator of this cluster wrote, to remotes of each family.

const world = useWorld({ env: { RESYNC_INTERVAL: "1s" } });
/** Ids of the remotes, with their marks. */
const forged = new Map<string, unknown>();
let office: string;

const stillThere = () => [...forged.keys()].filter((id) => world.simulator.control.get(id) !== undefined);

beforeAll(async () => {
  const { control } = world.simulator;
  const { stdout: cluster } = await world.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}");
  await world.apply(manifest("IPPolicy", "office", {}), manifest("ReservedAddress", "ssh", {}));
  office = (await world.ready("IPPolicy", "office")).status.id;
  await world.ready("ReservedAddress", "ssh");
  const here = `${cluster}/${world.namespace}`;
  const marks = [
    ...["", "/", "x", cluster, `${cluster}/`, `${cluster}//`, here, `${here}/`, `${cluster}//office`],
    ...[`${here}/office/more`, `${here}/OFFICE`, `${here}/of fice`, `${here}/office\n`, `${cluster}/../office`],
    ...[`${here}/${"x".repeat(3500)}`, `other/${world.namespace}/office`, `other/${world.namespace}/gone#2026`],
    ...[`/${world.namespace}/office`, `my cluster/${world.namespace}/office`, `/${world.namespace}/late`],
    ...[5, null, [`${here}/gone`], { owner: `${here}/gone` }],
  ];
  for (const [path, body] of Object.entries(sampleBodies(control)))
    for (const [index, mark] of marks.entries()) {
      const domain = "domain" in body && { domain: `d${index}.example.net` };
      const members: Members = { ...body, ...domain, metadata: JSON.stringify({ [OWNER_KEY]: mark }) };
      forged.set(String(control.insert(path, members)["id"]), mark);
    }
  control.clearRequests();
});

test("the operator changes none of them, whatever its objects are asked for", async () => {
  await world.reconcileNow(await world.ready("IPPolicy", "office"), await world.ready("ReservedAddress", "ssh"));
  expect(world.changesSent()).toEqual([]);
  expect((await world.ready("IPPolicy", "office")).status.id).toBe(office);
});

test("a mark that names no possible object keeps no object from its create", async () => {
  await world.apply(manifest("IPPolicy", "late", {}));
  const late = (await world.ready("IPPolicy", "late")).status.id;
  expect([...forged.keys()]).not.toContain(late);
  expect(stillThere()).toHaveLength(forged.size);
});

test("orphans deletes none of them", async () => {
  const ended = await command(world, ["orphans", "-A", "--delete", "--yes"]);
  expect(ended).toMatchObject({ code: 0, stdout: "" });
  expect(stillThere()).toHaveLength(forged.size);
});

test.for([["tree", "-A"], ["import", "--all", "--no-exclude-managed"], ["plan"]])(
  "%s reads them, and prints no long line",
  async (args) => {
    const { code, stdout, stderr } = await command(world, [...args, "-n", world.namespace]);
    expect({ code, faults: stderr.match(/\n {4}at |TypeError/g) }).toEqual({ code: 0, faults: null });
    if (args[0] === "tree") expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(300);
  },
);

test("orphans --unmanaged deletes none that has any text for a mark", async () => {
  const marked = [...forged].filter(([, mark]) => typeof mark === "string").map(([id]) => id);
  const ended = await command(world, ["orphans", "-A", "--unmanaged", "--delete", "--yes"]);
  expect(ended.stdout).toContain("Deleted ");
  expect(stillThere().filter((id) => marked.includes(id))).toEqual(marked);
  expect(world.simulator.control.get(office)).toBeDefined();
});
