import * as z from "zod";
import { mark } from "./traits.ts";

/** A reference to another resource, as answers have it. */
export const remoteRef = z.object({
  id: z.string().describe("Remote id."),
  uri: z.string().optional().describe("Address of the resource at the service."),
});

/**
 * Most entries of a list that a status keeps. The service's list may be much longer, and each write sends the whole
 * status.
 */
const MOST_SHOWN = 20;

type Ref = z.infer<typeof remoteRef>;

/** The first entries of a list of remotes, by id, and the length of the list. */
export const remoteRefs = (what: string) =>
  mark(z.array(remoteRef), {
    decode: (refs: Ref[]) => refs.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, MOST_SHOWN),
  })
    .optional()
    .describe(`${what} At most ${MOST_SHOWN} are shown.`);

/** The first entries of a list of texts, in the service's order. */
export const firstOf = (what: string) =>
  mark(z.array(z.string()), { decode: (texts: string[]) => texts.slice(0, MOST_SHOWN) })
    .optional()
    .describe(`${what} At most ${MOST_SHOWN} are shown.`);

/** The length of a list of which the status shows the first entries, if there are more. `list`: its name in answers. */
export const countOfMore = (list: string, what: string) =>
  mark(z.int(), {
    returns: list,
    decode: ({ length }: readonly unknown[]) => (length > MOST_SHOWN ? length : undefined),
  })
    .optional()
    .describe(`${what} Unset if all are shown.`);

/** The length of a list. */
export const countOf = (list: string, what: string) =>
  mark(z.int(), { returns: list, decode: (refs: Ref[]) => refs.length })
    .optional()
    .describe(what);

/** Read-only text of an answer. */
export const text = (what: string) => z.string().optional().describe(what);
