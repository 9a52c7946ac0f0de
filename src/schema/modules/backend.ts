import * as z from "zod";
import { backendKinds, enabled, module, refTo } from "../fields.ts";

export const backendModule = module(
  z.object({
    enabled,
    backendRef: refTo(backendKinds, { sends: "backend_id", returns: "backend" }).describe(
      "The backend that receives the traffic.",
    ),
  }),
  { onRemove: "disable" },
).describe("Where the edge sends its traffic. Removing it switches the module off.");
