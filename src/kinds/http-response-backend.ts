import * as z from "zod";
import { httpResponseBackends } from "../gateway/resources/index.ts";
import { defineKind } from "../schema/define.ts";
import { atMost, lowerCaseKeys, matching, TOKEN, texts, withKeys } from "../schema/fields.ts";
import { areDistinct, lowerASCII } from "../schema/rules.ts";
import { mark, type Rule } from "../schema/traits.ts";

/** The service keeps the names in lower case, so that one of two would be lost. */
const distinctNames: Rule = {
  rule: "self.all(one, self.exists_one(other, other.lowerAscii() == one.lowerAscii()))",
  message: "must have each header once: names that differ only by case are one header",
  holds: (self: object) => areDistinct(Object.keys(self), lowerASCII),
  reason: "FieldValueDuplicate",
};

const headerValue = matching(
  z.string().max(1024),
  /^(\t|\P{Cc})*$/u,
  "must be the value of a header: one line, without control characters",
);

const headers = withKeys(
  atMost(64, z.record(z.string(), headerValue)),
  new RegExp(`^${TOKEN}+$`),
  "must have names of headers: letters, digits and !#$%&'*+-.^_`|~",
);

export const HTTPResponseBackend = defineKind({
  kind: "HTTPResponseBackend",
  shortNames: ["gwhr"],
  categories: ["tunnelgateway-backends"],
  summary: "Answers every request with the same response.",
  resource: httpResponseBackends,
  spec: z.object({
    ...texts,
    body: z.string().max(65_536).optional().describe("Content of the response."),
    headers: mark(headers, { normalize: lowerCaseKeys, rules: [distinctNames] })
      .optional()
      .describe("Headers of the response. Their names are compared without case."),
    statusCode: mark(z.int().min(100).max(599), { unset: { onCreate: 200, onUpdate: 200 } })
      .optional()
      .describe("Status code of the response. Default: 200, or what an adopted response has."),
  }),
  status: z.object({ statusCode: z.int().optional().describe("The status code that is returned.") }),
  columns: [{ name: "Status", jsonPath: ".status.statusCode", type: "integer" }],
});
