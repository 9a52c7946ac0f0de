import { expect, test } from "vitest";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

// An editor of one namespace, or whoever else may write one row, nests a value so deep that a function that calls itself
// for each level ends the call stack.

const world = useWorld();

const nested = (depth: number): object => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);

const policyOf = (depth: number) => ({
  inbound: [{ name: "r", expressions: [], actions: [{ type: "custom", config: nested(depth) }] }],
});

const edge = (name: string, spec: object) => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "TCPEdge",
  metadata: { name },
  spec,
});

test("a row that is nested 3,000 deep is an unreadable row for the operator and each command", async () => {
  await world.apply(edge("before", { description: "one" }));
  await world.ready("TCPEdge", "before");
  const { control } = world.simulator;
  const deep = control.insert("edges/tcp", { description: "deep", policy: policyOf(3000) });
  await world.apply(edge("after", { description: "two" }), edge("before", { description: "three" }));
  for (const name of ["before", "after"]) await world.ready("TCPEdge", name);
  expect(control.get(world.simulator.control.objects("edges/tcp")[0]?.["id"] as string)).toMatchObject({
    description: "three",
  });

  const said = /tcp edge that cannot be read|edgtcp_\w+/i;
  for (const args of [["plan"], ["import", "--all"], ["tree"], ["orphans"], ["orphans", "--unmanaged"]]) {
    const { code, stdout, stderr } = await command(world, [...args, "-n", world.namespace]);
    expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringMatching(said) });
    expect(stdout + stderr).not.toMatch(/Maximum call stack|RangeError|InternalError|Forbidden/);
  }

  await world.delete("TCPEdge", "after");
  await world.gone("TCPEdge", "after");
  expect(control.get(deep["id"] as string)).not.toBeNull();
});

test("an object that is nested 3,000 deep is refused, or says itself what to do, and stops no other", async () => {
  const text = JSON.stringify(edge("deep", { policy: policyOf(3000) }));
  const { code, stderr } = await world.tryKubectl(["create", "-f", "-"], text);
  if (code === 0) {
    const object = await world.condition("TCPEdge", "deep", { type: "Stalled", status: "True" });
    expect(JSON.stringify(object["status"].conditions)).toContain("less deep");
  } else expect(stderr).not.toBe("");
  await world.apply(edge("other", { description: "other" }));
  await world.ready("TCPEdge", "other");
});
