import * as z from "zod";
import { form, module, unordered } from "../fields.ts";
import { text } from "../status.ts";
import { mark, type Rule } from "../traits.ts";
import { sessionFields, sessionStatus } from "./session.ts";

const trimmed = (value: unknown): unknown => (typeof value === "string" ? value.trim() : value);

/** Short, since a long pattern costs the API server too much where the text is long. */
const PREFIX = "([^<>/ \\n]+:)?";

const hasDescriptor: readonly Rule[] = [
  form(new RegExp(`<${PREFIX}EntityDescriptor[\\s/>]`), "must be XML with an element EntityDescriptor"),
  form(
    new RegExp(`</${PREFIX}EntityDescriptor[\\s]*>|<${PREFIX}EntityDescriptor([\\s][^<]*)?/>`),
    "must have the end of that element, since it is sent whole",
  ),
];

export const samlModule = module(
  z.object({
    ...sessionFields,
    idpMetadata: mark(z.string().min(1).max(262_144), { normalize: trimmed, rules: hasDescriptor }).describe(
      "XML EntityDescriptor of the identity provider, whole.",
    ),
    forceAuthn: z
      .boolean()
      .default(false)
      .describe("The provider must ask for credentials even where a session exists. Default: false."),
    allowIdpInitiated: z
      .boolean()
      .default(false)
      .describe("The provider may start a login, with the target URL in RelayState. Default: false."),
    authorizedGroups: mark(z.array(z.string().min(1).max(255)).min(1).max(256), { normalize: unordered })
      .optional()
      .describe("Admits only members of one of these groups. Unset: every user."),
    nameidFormat: z
      .string()
      .min(1)
      .max(255)
      .default("urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")
      .describe("Format of the name identifier in assertions; the service supports some of those that SAML defines."),
  }),
  { onRemove: "delete" },
).describe(
  "Asks users to log in with a SAML identity provider. Removing it removes the module, or switches it off where the service cannot.",
);

/** Facts that the identity provider needs to know about the service. */
export const samlStatus = z
  .object({
    ...sessionStatus,
    entityId: text("Entity id of the service provider: the URL of its metadata."),
    assertionConsumerServiceUrl: text("Where the identity provider sends assertions."),
    singleLogoutUrl: text("Where the identity provider sends logouts."),
    requestSigningCertificatePem: text("Certificate, in PEM, of the key that signs requests to the identity provider."),
    metadataUrl: text("Public URL of the metadata of the service provider."),
    idpMetadataUrl: text("URL of the identity provider's metadata, where the service shows one."),
  })
  .optional()
  .describe(
    "How long a session lasts, and what to enter at the identity provider. Present while the SAML module is set.",
  );
