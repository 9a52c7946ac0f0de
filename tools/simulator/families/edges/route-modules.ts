import { selfSigned } from "../../certificates/self-signed.ts";
import { invalid } from "../../http/refusal.ts";
import type { Module } from "../../resource/modules.ts";
import { type Check, type Fields, object } from "../../shape/check.ts";
import { webUrl } from "../../shape/names.ts";
import { boolean, list, nonEmpty, string, uint32 } from "../../shape/scalars.ts";
import { enabled } from "./edge-modules.ts";

const session: Fields = {
  enabled,
  options_passthrough: { check: boolean, initial: false },
  cookie_prefix: { check: string, initial: "" },
  inactivity_timeout: { check: uint32, initial: 0 },
  maximum_duration: { check: uint32, initial: 0 },
};

export const oidc: Module = {
  name: "oidc",
  check: object({
    ...session,
    issuer: { check: webUrl, required: true },
    client_id: { check: nonEmpty, required: true },
    client_secret: { check: nonEmpty, required: true },
    scopes: { check: list(nonEmpty), initial: [] },
  }),
};

const entityDescriptor: Check = (value, at, store) => {
  if (!/<([\w-]+:)?EntityDescriptor[\s>]/.test(string(value, at, store) as string)) {
    throw invalid(`${at}: must be an XML EntityDescriptor`);
  }
  return value;
};

let signingCertificate: string | undefined;

function requestSigningCertificate(): string {
  signingCertificate ??= selfSigned({ commonName: "saml.gateway.example" }).certificatePem;
  return signingCertificate;
}

export const saml: Module = {
  name: "saml",
  check: object({
    ...session,
    idp_metadata: { check: entityDescriptor, required: true },
    force_authn: { check: boolean, initial: false },
    allow_idp_initiated: { check: boolean, initial: false },
    authorized_groups: { check: list(string), initial: [] },
    nameid_format: { check: nonEmpty, initial: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" },
  }),
  show(value, _, routeId) {
    const base = `https://saml.gateway.example/${routeId}`;
    return {
      ...value,
      entity_id: base,
      assertion_consumer_service_url: `${base}/acs`,
      single_logout_url: `${base}/slo`,
      request_signing_certificate_pem: requestSigningCertificate(),
      metadata_url: base,
      idp_metadata_url: "",
    };
  },
};

/** The one provider that signs without a shared secret. */
const secretless = "sns";

export const webhookVerification: Module = {
  name: "webhook_verification",
  check: object(
    { enabled, provider: { check: nonEmpty, required: true }, secret: { check: string, initial: "" } },
    ({ provider, secret }, at) => {
      if (secret === "" && provider !== secretless) throw invalid(`${at}secret: is required for ${provider}`);
    },
  ),
};
