import * as z from "zod";
import { httpResponseBackends } from "../gateway/resources/index.ts";
import { defineKind } from "../schema/define.ts";
import { lowerCaseKeys, stringMap, texts } from "../schema/fields.ts";
import { mark } from "../schema/traits.ts";

export const HTTPResponseBackend = defineKind({
  kind: "HTTPResponseBackend",
  shortNames: ["gwhr"],
  categories: ["tunnelgateway-backends"],
  summary: "Answers every request with the same response.",
  resource: httpResponseBackends,
  spec: z.object({
    ...texts,
    body: z.string().max(65_536).optional().describe("Content of the response."),
    headers: mark(stringMap(), { normalize: lowerCaseKeys })
      .optional()
      .describe("Headers of the response. Their names are compared without case."),
    statusCode: z.int().min(100).max(599).default(200).describe("Status code of the response. Default: 200."),
  }),
  columns: [{ name: "Status", jsonPath: ".spec.statusCode", type: "integer" }],
});
