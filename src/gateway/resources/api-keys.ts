import { defineResource } from "../resource.ts";
import { answer, common, text } from "../wire.ts";

/** `token` is set in the answer to POST only. In all others it is null. */
export const apiKeys = defineResource({
  name: "api_keys",
  title: "API key",
  listKey: "keys",
  idPrefix: "ak_",
  wire: answer({ ...common, token: text, owner_id: text }),
  create: ["description", "metadata", "owner_id"],
  update: ["description", "metadata"],
  secrets: ["token"],
});
