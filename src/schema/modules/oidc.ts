import * as z from "zod";
import { matching, module, secretKey, unordered } from "../fields.ts";
import { URL_HOST } from "../hosts.ts";
import { mark } from "../traits.ts";
import { sessionFields, sessionStatus } from "./session.ts";

export const oidcModule = module(
  z.object({
    ...sessionFields,
    issuer: matching(
      z.string().max(2048),
      new RegExp(`^https?://([^\\s/\\\\?#@]*@)?${URL_HOST}([/?#][^\\s]*)?$`),
      "must be a URL that begins with https:// or http://, with a host after it and no port over 65535",
    ).describe("URL of the OpenID Connect provider, the base of its discovery document."),
    clientId: z.string().min(1).max(1024).describe("Id of the client, and audience of its tokens."),
    clientSecretRef: secretKey("the secret of the client", { sends: "client_secret" }),
    scopes: mark(z.array(z.string().min(1).max(255)).max(64), { normalize: unordered })
      .optional()
      .describe("Scopes that are asked for."),
  }),
  { onRemove: "delete", told: ["issuer"] },
).describe("Asks users to log in with an OpenID Connect provider. Removing it removes the module.");

export const oidcStatus = z
  .object(sessionStatus)
  .optional()
  .describe("How long a session lasts. Present while the OIDC module is set.");
