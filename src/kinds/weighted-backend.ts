import * as z from "zod";
import { weightedBackends } from "../gateway/resources/index.ts";
import { refText, textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { backendKinds, refTo, texts } from "../schema/fields.ts";
import { mark } from "../schema/traits.ts";

const share = z.object({
  backendRef: refTo(backendKinds, { sends: "backend_id" }).describe("The backend that gets the share."),
  weight: z.int().min(0).max(10_000).describe("Its share of the traffic, relative to the others: 0 to 10000."),
});

type Shares = { backend_id: string; weight: number }[];

/**
 * The service takes a map by backend id. Specs have a list, since they name objects. Two entries may mean the same
 * backend, one by name and one by id.
 */
function byID(shares: Shares): Record<string, number> {
  const weights: Record<string, number> = {};
  for (const { backend_id, weight } of shares) weights[backend_id] = (weights[backend_id] ?? 0) + weight;
  return weights;
}

export const WeightedBackend = defineKind({
  kind: "WeightedBackend",
  shortNames: ["gwwd"],
  categories: ["tunnelgateway-backends"],
  summary: "Splits traffic between backends by weight.",
  resource: weightedBackends,
  spec: z.object({
    ...texts,
    backends: mark(z.array(share).max(32), {
      encode: byID,
      decode: (weights: Record<string, number>) => weights,
      unset: { onUpdate: {} },
      restore: (weights: Record<string, number>) =>
        Object.entries(weights).map(([backend_id, weight]) => ({ backend_id, weight })),
      rules: [
        {
          rule: "self.all(one, self.exists_one(other, other.backendRef == one.backendRef))",
          message: "must name each backend once",
          holds: (self: readonly { backendRef: object }[]) =>
            new Set(self.map(({ backendRef }) => JSON.stringify(backendRef, ["kind", "name", "id"]))).size ===
            self.length,
        },
      ],
    }).describe("Backends and their weights."),
  }),
  columns: [
    textColumn("Backends", {
      width: 36,
      value: ({ spec }) =>
        (spec["backends"] as z.infer<typeof share>[] | undefined)?.map(
          ({ backendRef, weight }) => `${refText(backendRef)}=${weight}`,
        ),
    }),
  ],
});
