import { defineCollection } from "../resource/collection.ts";
import { foreign } from "../shape/references.ts";
import { orNull } from "../shape/scalars.ts";
import { texts } from "../shape/texts.ts";
import { region } from "./regions.ts";

export const reservedAddrs = defineCollection({
  name: "reserved_addrs",
  prefix: "ra",
  unset: ["empty", "null"],
  fields: {
    ...texts,
    region: { check: region, createOnly: true, initial: "us" },
    endpoint_configuration_id: { check: orNull(foreign("ec")), updateOnly: true },
  },
  compute: ({ region: where }, { random }) => ({
    addr: `${1 + Math.floor(random.fraction() * 8)}.tcp.${where}.gateway.example:${10_000 + Math.floor(random.fraction() * 20_000)}`,
  }),
  show: ({ endpoint_configuration_id: id, ...members }, { origin }) => ({
    ...members,
    endpoint_configuration: id ? { id, uri: `${origin}/endpoint_configurations/${id}` } : null,
  }),
});
