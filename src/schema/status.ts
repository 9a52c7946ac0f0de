import * as z from "zod";

/** How the service names another resource. */
export const remoteRef = z.object({
  id: z.string().describe("Remote id."),
  uri: z.string().optional().describe("Address of the resource at the service."),
});

/** Read-only text of an answer. */
export const text = (what: string) => z.string().optional().describe(what);
