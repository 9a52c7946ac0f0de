import * as z from "zod";
import { apiKeys } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { immutable, outputSecret, ownerId, texts } from "../schema/fields.ts";
import { text } from "../schema/status.ts";

export const APIKey = defineKind({
  kind: "APIKey",
  shortNames: ["gwkey"],
  categories: ["tunnelgateway-access"],
  privilege: "A bearer token for the whole account.",
  summary:
    "A key for the management API. Its token is written to a Secret, once: when the Secret is lost, a new key is made " +
    "and the old one deleted.",
  resource: apiKeys,
  replacement: "CreateFirst",
  output: { field: "tokenSecretName", key: "token", member: "token", shownOnce: true },
  spec: z.object({
    ...texts,
    ownerId: immutable(ownerId).optional(),
    tokenSecretName: outputSecret("key `token` holds the bearer token"),
  }),
  status: z.object({ ownerId: text("User or bot that owns the key.") }),
  columns: [
    textColumn("Description", { width: 28, value: ({ spec }) => spec["description"] }),
    textColumn("Secret", { width: 28, value: ({ spec }) => spec["tokenSecretName"] }),
  ],
});
