import { invalid } from "../../http/refusal.ts";
import type { Module } from "../../resource/modules.ts";
import { type Field, object } from "../../shape/check.ts";
import type { Members } from "../../shape/members.ts";
import { anyBackend, reference } from "../../shape/references.ts";
import { anyObject, boolean, list, nonEmpty, oneOf, orNull, string } from "../../shape/scalars.ts";

export const enabled: Field = { check: boolean, initial: true };

export const backend: Module = {
  name: "backend",
  check: object({ enabled, backend_id: { check: anyBackend, required: true } }),
  show: (value, links) => ({ enabled: value.enabled, backend: links.ref(value.backend_id) }),
};

export const ipRestriction: Module = {
  name: "ip_restriction",
  check: object({ enabled, ip_policy_ids: { check: list(reference("ipp")), initial: [] } }),
  show: (value, links) => ({ enabled: value.enabled, ip_policies: links.refs(value.ip_policy_ids) }),
};

export const mutualTls: Module = {
  name: "mutual_tls",
  check: object({ enabled, certificate_authority_ids: { check: list(reference("ca")), required: true } }),
  show: (value, links) => ({
    enabled: value.enabled,
    certificate_authorities: links.refs(value.certificate_authority_ids),
  }),
};

/** The minimum TLS version of an edge that terminates TLS and names none. */
const safeVersion = "1.2";

export const tlsTermination: Module = {
  name: "tls_termination",
  check: object(
    {
      enabled,
      terminate_at: { check: oneOf("edge", "upstream"), initial: "edge" },
      min_version: { check: orNull(nonEmpty), initial: null },
    },
    ({ terminate_at, min_version }, at) => {
      if (terminate_at === "upstream" && min_version) throw invalid(`${at}min_version: must be null for upstream`);
    },
  ),
  show: (value) => ({
    ...value,
    min_version: value.terminate_at === "edge" ? (value.min_version ?? safeVersion) : null,
  }),
};

const rule = object({
  name: { check: string, initial: "" },
  expressions: { check: list(string), initial: [] },
  actions: {
    check: list(
      object({ type: { check: nonEmpty, required: true }, config: { check: orNull(anyObject), initial: null } }),
    ),
    initial: [],
  },
});

export const policy: Module = {
  name: "policy",
  check: object({
    enabled,
    inbound: { check: list(rule), initial: [] },
    outbound: { check: list(rule), initial: [] },
  }),
};

/** The ids that the modules of an edge use. IP policies are not among them: they can be deleted while in use. */
export function usedByModules({ backend: to, mutual_tls: mutual }: Members): readonly string[] {
  const backends = to ? [String((to as Members).backend_id)] : [];
  return [...backends, ...(mutual ? ((mutual as Members).certificate_authority_ids as string[]) : [])];
}
