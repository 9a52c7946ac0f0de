import { expect, test, vi } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { namespacesWithoutRight } from "./plan.ts";

const { run } = useFixedServices();

const object = (namespace: string, reason: string, observedGeneration: number) =>
  ({
    metadata: { namespace, generation: 2 },
    status: { conditions: [{ type: "Stalled", status: "True", reason, observedGeneration }] },
  }) as unknown as ManagedObject;

test("a namespace may not adopt where an object says so of its present spec", () => {
  const refused = object("team-a", "AdoptionNotAllowed", 2);
  const earlier = object("team-b", "AdoptionNotAllowed", 1);
  const other = object("team-c", "InvalidSpec", 2);
  expect([...namespacesWithoutRight([refused, earlier, other])]).toEqual(["team-a"]);
});

test("FORMER_CLUSTER_IDS are those of the operator", async () => {
  vi.stubEnv("CLUSTER_ID", "c2");
  expect((await run("plan")).stdout).toContain("OwnershipConflict");
  vi.stubEnv("FORMER_CLUSTER_IDS", "c1");
  expect((await run("plan")).stdout).not.toContain("OwnershipConflict");
});
