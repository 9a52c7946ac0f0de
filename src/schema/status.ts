import * as z from "zod";
import { mark } from "./traits.ts";

/** How the service names another resource. */
export const remoteRef = z.object({
  id: z.string().describe("Remote id."),
  uri: z.string().optional().describe("Address of the resource at the service."),
});

/** A status has so many entries of a list at most: the list may be of any length, and the status is written as a whole. */
const MOST_SHOWN = 20;

type Ref = z.infer<typeof remoteRef>;

/** The first of a list of remotes, by id, and how many there are. */
export const remoteRefs = (what: string) =>
  mark(z.array(remoteRef), {
    decode: (refs: Ref[]) => refs.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, MOST_SHOWN),
  })
    .optional()
    .describe(`${what} At most ${MOST_SHOWN} are shown.`);
export const countOf = (list: string, what: string) =>
  mark(z.int(), { returns: list, decode: (refs: Ref[]) => refs.length })
    .optional()
    .describe(what);

/** Read-only text of an answer. */
export const text = (what: string) => z.string().optional().describe(what);
