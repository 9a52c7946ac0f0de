import { describe, expect, it } from "vitest";
import type { KubectlRun } from "../cluster/kubectl.ts";
import { isReady, type KubeObject, readObjects, stateOf } from "./objects.ts";

const object = (status?: KubeObject["status"]): KubeObject => ({
  kind: "IPPolicy",
  metadata: { namespace: "demo", name: "office", generation: 2 },
  ...(status && { status }),
});

const condition = (type: string, status: "True" | "False", observedGeneration = 2) => ({
  type,
  status,
  reason: "Why",
  message: "because",
  observedGeneration,
});

describe("the state of an object", () => {
  it("is unknown without a status", () => {
    expect(stateOf(object())).toMatchObject({ ready: "Unknown", reason: "", id: "", stalled: false, current: false });
  });

  it("is what the condition says", () => {
    const state = stateOf(
      object({ id: "ipp_1", conditions: [condition("Synced", "False"), condition("Ready", "True")] }),
    );
    expect(state).toEqual({
      kind: "IPPolicy",
      name: "office",
      ready: "True",
      reason: "Why",
      message: "because",
      id: "ipp_1",
      generation: 2,
      deleting: false,
      stalled: false,
      current: true,
    });
    expect(isReady(state)).toBe(true);
  });

  it("has its namespace in the name, if that is not the one of the demo", () => {
    const { metadata, ...rest } = object();
    expect(stateOf({ ...rest, metadata: { ...metadata, namespace: "team-a" } }).name).toBe("team-a/office");
  });

  it("is not Ready while the condition speaks of an earlier generation", () => {
    const state = stateOf(object({ conditions: [condition("Ready", "True", 1)] }));
    expect(state).toMatchObject({ ready: "True", current: false });
    expect(isReady(state)).toBe(false);
  });

  it("tells when it is being deleted", () => {
    const { metadata, ...rest } = object();
    const deleted = { ...rest, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(stateOf(deleted).deleting).toBe(true);
  });

  it("is stalled only while that condition is True", () => {
    expect(stateOf(object({ conditions: [condition("Stalled", "True")] })).stalled).toBe(true);
    expect(stateOf(object({ conditions: [condition("Stalled", "False")] })).stalled).toBe(false);
  });
});

describe("the objects that are shown", () => {
  const items = [object(), { ...object(), kind: "TunnelSession" }];
  const asked: string[][] = [];
  const kubectlRun = (async (args: string[]) => {
    asked.push(args);
    return { stdout: JSON.stringify({ items }), stderr: "", code: 0 };
  }) as KubectlRun;

  it.each([
    ["demo", "--namespace=demo"],
    ["everywhere", "--all-namespaces"],
  ] as const)("are those of the kinds with conditions: %s", async (where, scope) => {
    expect((await readObjects(kubectlRun, where)).map(({ kind }) => kind)).toEqual(["IPPolicy"]);
    expect(asked.at(-1)).toContain(scope);
  });
});
