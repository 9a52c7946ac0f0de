import * as z from "zod";
import { failoverBackends } from "../gateway/resources/index.ts";
import { refText, textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { backendKinds, ordered, refsTo, texts } from "../schema/fields.ts";

export const FailoverBackend = defineKind({
  kind: "FailoverBackend",
  shortNames: ["gwfo"],
  categories: ["tunnelgateway-backends"],
  summary: "Sends traffic to the first of its backends that can take it.",
  resource: failoverBackends,
  spec: z.object({
    ...texts,
    backendRefs: refsTo(backendKinds, { sends: "backends", normalize: ordered, max: 32 }).describe(
      "Backends in the order in which they are tried.",
    ),
  }),
  columns: [
    textColumn("Backends", {
      width: 36,
      value: ({ spec }) => (spec["backendRefs"] as unknown[] | undefined)?.map(refText),
    }),
  ],
});
