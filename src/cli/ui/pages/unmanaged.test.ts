import { expect, test } from "vitest";
import { graphOf } from "../../graph/graph.ts";
import type { View } from "../reading/view.ts";
import { unmanaged } from "./unmanaged.ts";

const textOf = (at: number) =>
  unmanaged({
    own: graphOf(new Map(), new Map()),
    read: { objects: new Map() },
    clusterID: "c1",
    account: { at, problems: [] },
    scope: { namespace: "shop", isAll: true },
  } as unknown as View).text;

test("of an account that was not read, nothing is said of what it has", () => {
  expect(textOf(0).match(/The account is being read\./g)).toHaveLength(2);
  expect(textOf(1).match(/The account could not be read\./g)).toHaveLength(2);
});
