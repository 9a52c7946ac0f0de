import { type Collection, everyVerb } from "../resource/collection.ts";
import { texts } from "../shape/texts.ts";

export const ipPolicies: Collection = {
  name: "ip_policies",
  prefix: "ipp",
  listKey: "ip_policies",
  verbs: everyVerb,
  unset: ["null", "empty"],
  nextPage: "path",
  fields: texts,
};
