import * as z from "zod";
import { enabled, matching, TOKEN } from "../fields.ts";
import { mark } from "../traits.ts";

/** The service stores an unsigned 32-bit number. It chooses a time itself if the request has none. */
const seconds = mark(z.int().min(0).max(4_294_967_295), { serverDefault: true });

const shown = (what: string) => z.int().optional().describe(what);

/** The member that the service chooses. */
export const sessionStatus = {
  inactivityTimeout: shown("Seconds without a request after which users log in again."),
  maximumDuration: shown("Seconds after which users log in again in any case."),
};

/** Fields of every module that asks users to log in. */
export const sessionFields = {
  enabled,
  optionsPassthrough: z
    .boolean()
    .default(false)
    .describe("Lets HTTP OPTIONS requests through without a login, as CORS needs. Default: false."),
  cookiePrefix: matching(
    z.string().max(255),
    new RegExp(`^${TOKEN}*$`),
    "must be what the name of a cookie can begin with: letters, digits and !#$%&'*+-.^_`|~",
  )
    .optional()
    .describe("Prefix of the session cookie's name. Unset: the service's own, which ends in a dot."),
  inactivityTimeout: seconds
    .optional()
    .describe("Seconds without a request after which users log in again. Unset: the service chooses."),
  maximumDuration: seconds
    .optional()
    .describe("Seconds after which users log in again in any case. Unset: the service chooses."),
};
