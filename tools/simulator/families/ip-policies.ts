import { defineCollection } from "../resource/collection.ts";
import { texts } from "../shape/texts.ts";

export const ipPolicies = defineCollection({
  name: "ip_policies",
  prefix: "ipp",
  unset: ["null", "empty"],
  nextPage: "path",
  fields: texts,
});
