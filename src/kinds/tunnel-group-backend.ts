import * as z from "zod";
import { tunnelGroupBackends } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { stringMap, texts } from "../schema/fields.ts";
import { isNotEmpty } from "../schema/rules.ts";
import { countOf, remoteRefs } from "../schema/status.ts";
import { mark } from "../schema/traits.ts";

export const TunnelGroupBackend = defineKind({
  kind: "TunnelGroupBackend",
  shortNames: ["gwtg"],
  categories: ["tunnelgateway-backends"],
  summary: "Sends traffic to every tunnel that carries all of its labels.",
  resource: tunnelGroupBackends,
  spec: z.object({
    ...texts,
    labels: mark(stringMap(), {
      rules: [
        {
          rule: "size(self) > 0",
          message: "must have a label: without one it is unclear which tunnels are meant",
          holds: isNotEmpty,
        },
      ],
    })
      .optional()
      .describe("Labels to watch for tunnels on. A tunnel must carry all of them."),
  }),
  // a group without tunnels is still Ready: tunnels come and go, and edges may refer to the group before there is one
  status: z.object({
    tunnels: remoteRefs("Tunnels that match now."),
    tunnelCount: countOf("tunnels", "How many tunnels match now."),
  }),
  columns: [
    textColumn("Labels", { width: 36, value: ({ spec }) => spec["labels"] }),
    { name: "Tunnels", jsonPath: ".status.tunnelCount", type: "integer" },
  ],
});
