import * as z from "zod";
import { reservedAddresses } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { immutable, regions, texts, unmanagedID } from "../schema/fields.ts";
import { remoteRef, text } from "../schema/status.ts";
import { mark } from "../schema/traits.ts";

export const ReservedAddress = defineKind({
  kind: "ReservedAddress",
  plural: "reservedaddresses",
  shortNames: ["gwra"],
  summary: "A TCP address, host and port, that the service reserves for the account.",
  resource: reservedAddresses,
  address: "addr",
  spec: z.object({
    ...texts,
    region: mark(immutable(z.enum(regions)), { serverDefault: true })
      .optional()
      .describe("Region of the address. The service's default is us."),
    // the service accepts this member in updates only, so the operator sends an update right after a create
    endpointConfigurationId: mark(unmanagedID("ec_"), {
      returns: "endpoint_configuration",
      decode: (answered: { id?: string }) => answered.id,
      unset: { onUpdate: null },
    })
      .optional()
      .describe("Id of an endpoint configuration to attach."),
  }),
  status: z.object({
    addr: text("The reserved address, as host:port."),
    region: text("Region of the address."),
    endpointConfiguration: remoteRef.optional().describe("The endpoint configuration that is attached."),
  }),
  columns: [
    textColumn("Address", { width: 36, value: ({ status }) => status["addr"] }),
    { name: "Region", jsonPath: ".status.region" },
  ],
});
