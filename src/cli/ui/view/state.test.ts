import { expect, test } from "vitest";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { OWNER_KEY } from "../../../schema/contract.ts";
import { graphOf } from "../../graph/graph.ts";
import { ownerText, stateOf } from "./state.ts";

test.each([
  ["another cluster", "green/team-a/one", "other", "team-a/one in cluster green"],
  ["this cluster", "blue/team-a/one", "none", "team-a/one in cluster blue"],
  ["no possible object", "blue//office", "none", undefined],
  ["no possible cluster", "my cluster/team-a/one", "none", undefined],
])("a remote whose owner mark names %s", (_, mark, state, text) => {
  const remote = { id: "ipp_1", metadata: JSON.stringify({ [OWNER_KEY]: mark }) };
  const [node] = graphOf(new Map([[IPPolicy, [remote]]]), new Map()).nodes;
  expect(node && [stateOf(node, "blue"), ownerText(node)]).toEqual([state, text]);
});
