import { counted } from "../../src/schema/nouns.ts";
import type { Control } from "../simulator/simulator.ts";
import { columns, type Line, line, type Span } from "./screen/line.ts";

type Row = Readonly<Record<string, unknown>>;

/** What is shown of a remote beside its id and description. Collections that are missing here show only those. */
const essence: Readonly<Record<string, (row: Row) => string>> = {
  agent_ingresses: ({ domain, ns_targets }) => joined([domain, count(list(ns_targets), "NS record")]),
  reserved_addrs: ({ addr }) => String(addr),
  reserved_domains: ({ domain, certificate }) => joined([domain, certificate && `certificate ${short(certificate)}`]),
  "backends/tunnel_group": ({ labels }) => joined(Object.entries(labels ?? {}).map((pair) => pair.join("="))),
  "backends/http_response": ({ status_code, headers }) =>
    joined([status_code, headers && count(Object.keys(headers), "header")]),
  "backends/weighted": ({ backends }) =>
    joined(Object.entries(backends ?? {}).map(([id, weight]) => `${weight} to ${short({ id })}`)),
  "backends/failover": ({ backends }) =>
    list<string>(backends)
      .map((id) => short({ id }))
      .join(", then "),
  "edges/tcp": ({ hostports, backend, ip_restriction }) =>
    joined([...list(hostports), destination(backend), restriction(ip_restriction)]),
  "edges/tls": ({ hostports, backend, ip_restriction, mutual_tls }) =>
    joined([...list(hostports), destination(backend), restriction(ip_restriction), authorities(mutual_tls)]),
  ssh_credentials: ({ acl }) => joined(list(acl)),
  ssh_host_certificates: ({ principals, valid_until }) => joined([...list(principals), `until ${day(valid_until)}`]),
  certificate_authorities: ({ subject_common_name, not_after }) =>
    joined([subject_common_name, `until ${day(not_after)}`]),
  tls_certificates: ({ subject_common_name, not_after, issued_at }) =>
    joined([subject_common_name, `until ${day(not_after)}`, issued_at && "issued by the service"]),
  event_destinations: ({ target }) => joined(Object.entries(target ?? {}).map(([name, value]) => value && name)),
  event_subscriptions: ({ sources, destinations }) =>
    joined([
      ...list<Row>(sources)
        .map(({ type }) => type)
        .sort(),
      `to ${count(list(destinations), "destination")}`,
    ]),
};

/** The remotes of the account, by collection. Empty collections are left out. */
export function accountTables(control: Pick<Control, "summary" | "objects">): Line[] {
  const filled = Object.entries(control.summary()).filter(([, rows]) => rows > 0);
  return filled.flatMap(([name]) => [line(`  ${name}`, "bold"), ...rowsOf(name, control.objects(name))]);
}

// the same for all collections, so that all ids are in one column
const ID_WIDTH = 34;

const rowsOf = (name: string, rows: readonly Row[]): Line[] =>
  columns(
    rows.map((row) => cellsOf(name, row)),
    4,
  );

/** Only the ids are in a column: what follows may go on in the next line. */
function cellsOf(name: string, row: Row): Span[] {
  const [known, description] = [essence[name]?.(row) ?? "", String(row["description"] ?? "")];
  return [
    { text: String(row["id"]).padEnd(ID_WIDTH), style: "dim" },
    { text: [known, description].filter(Boolean).join("  ") },
  ];
}

const joined = (parts: readonly unknown[]): string => parts.filter(Boolean).join(", ");

const list = <Value>(values: unknown): Value[] => (values ?? []) as Value[];

const count = ({ length }: readonly unknown[], one: string, many?: string): string => counted(length, one, many);

/** The beginning of an id, which is enough to find it in the other tables. */
const short = (ref: unknown): string => `${(ref as { id: string }).id.slice(0, 12)}…`;

function destination(module: unknown): string {
  const { backend } = (module ?? {}) as { backend?: object | null };
  return backend ? `to ${short(backend)}` : "";
}

/** The date of a time in RFC 3339. */
const day = (time: unknown): string => String(time).slice(0, 10);

function authorities(module: unknown): string {
  const { certificate_authorities: accepted = [] } = (module ?? {}) as { certificate_authorities?: unknown[] };
  return accepted.length > 0 ? `with client certificates of ${count(accepted, "authority", "authorities")}` : "";
}

function restriction(module: unknown): string {
  const { ip_policies: policies = [] } = (module ?? {}) as { ip_policies?: unknown[] };
  return policies.length > 0 ? `for ${count(policies, "IP policy", "IP policies")}` : "";
}
