import { expect, test } from "vitest";
import type { ManagedObject } from "../../objects/object.ts";
import { namespacesWithoutRight } from "./plan.ts";

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
