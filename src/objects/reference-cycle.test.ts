import { describe, expect, it } from "vitest";
import { FailoverBackend } from "../kinds/failover-backend.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../kinds/weighted-backend.ts";
import type { Kind } from "../schema/define.ts";
import type { ManagedObject } from "./object.ts";
import { referenceCycle, textOfCycle } from "./reference-cycle.ts";

const kinds = [FailoverBackend, WeightedBackend, TunnelGroupBackend, TCPEdge];

const object = ({ kind }: Kind, name: string, spec: ManagedObject["spec"], id?: string): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind,
  spec,
  metadata: { name, namespace: "n", uid: `${kind}-${name}`, generation: 1 },
  ...(id !== undefined && { status: { id } }),
});

const failover = (name: string, to: readonly string[], id?: string): ManagedObject =>
  object(FailoverBackend, name, { backendRefs: to.map((one) => ({ kind: "FailoverBackend", name: one })) }, id);

function cycleOf(name: string, objects: readonly ManagedObject[]): string | undefined {
  const get = (kind: string, _: string, one: string) =>
    objects.find((known) => known.kind === kind && known.metadata.name === one);
  const first = objects.find(({ metadata }) => metadata.name === name);
  const cycle = first && referenceCycle(structuredClone(first), { kinds, get });
  return cycle && textOfCycle(cycle);
}

describe("a cycle of references", () => {
  it.each<[string, ManagedObject[], string | undefined]>([
    ["of one object", [failover("a", ["a"])], "FailoverBackend a -> FailoverBackend a"],
    [
      "of two",
      [failover("a", ["b"]), failover("b", ["a"])],
      "FailoverBackend a -> FailoverBackend b -> FailoverBackend a",
    ],
    [
      "beside other references",
      [failover("a", ["c", "b"]), failover("b", ["c", "a"]), failover("c", [])],
      "FailoverBackend a -> FailoverBackend b -> FailoverBackend a",
    ],
    [
      "over another kind",
      [
        failover("a", ["b"]),
        object(FailoverBackend, "b", { backendRefs: [{ kind: "WeightedBackend", name: "w" }] }),
        object(WeightedBackend, "w", { backends: [{ backendRef: { kind: "FailoverBackend", name: "a" }, weight: 1 }] }),
      ],
      "FailoverBackend a -> FailoverBackend b -> WeightedBackend w -> FailoverBackend a",
    ],
    [
      "none: one of them has a remote, whose id can be sent",
      [failover("a", ["b"]), failover("b", ["a"], "bkdfo_1")],
      undefined,
    ],
    [
      "none: the object is not in it, it only waits for it",
      [failover("a", ["b"]), failover("b", ["c"]), failover("c", ["b"])],
      undefined,
    ],
    ["none: one does not exist", [failover("a", ["b"]), failover("b", ["gone"])], undefined],
    [
      "none: two ways lead to one",
      [failover("a", ["b", "c"]), failover("b", ["d"]), failover("c", ["d"]), failover("d", [])],
      undefined,
    ],
  ])("%s", (_, objects, expected) => {
    expect(cycleOf("a", objects)).toBe(expected);
  });

  it("of many is found by one visit of each, and its text stays short", () => {
    const count = 3000;
    let reads = 0;
    const objects = new Map(
      Array.from({ length: count }, (_, n) => [
        `b${n}`,
        failover(`b${n}`, [`b${(n + 1) % count}`, `b${(n + 2) % count}`]),
      ]),
    );
    const get = (_: string, __: string, name: string) => {
      reads += 1;
      return objects.get(name);
    };
    const cycle = referenceCycle(objects.get("b0") as ManagedObject, { kinds, get });
    expect(cycle).toHaveLength(count / 2);
    expect(reads).toBeLessThanOrEqual(2 * count);
    const text = textOfCycle(cycle ?? []);
    expect(text).toContain(`FailoverBackend b10 -> ${count / 2 - 6} more -> FailoverBackend b0`);
    expect(text.length).toBeLessThan(200);
  });
});
