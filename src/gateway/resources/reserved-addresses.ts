import { defineResource } from "../resource.ts";
import { answer, common, optionalRef, text } from "../wire.ts";

export const reservedAddresses = defineResource({
  name: "reserved_addrs",
  title: "reserved address",
  idPrefix: "ra_",
  wire: answer({ ...common, addr: text, region: text, endpoint_configuration: optionalRef }),
  create: ["description", "metadata", "region"],
  // `endpoint_configuration_id` is in the API page's sample request, but not in its list of parameters
  update: ["description", "metadata", "endpoint_configuration_id"],
});
