import type { Control } from "../simulator/simulator.ts";
import { columns, type Line, line, type Span } from "./line.ts";

type Row = Readonly<Record<string, unknown>>;

/** What matters of a row, beside its id and description. Collections that are not named here show those two alone. */
const essence: Readonly<Record<string, (row: Row) => string>> = {
  reserved_addrs: ({ addr }) => String(addr),
  reserved_domains: ({ domain, cname_target }) => `${domain}${cname_target ? `, CNAME ${cname_target}` : ""}`,
  "backends/tunnel_group": ({ labels }) => `labels ${pairs(labels)}`,
  "edges/tcp": ({ hostports, backend, ip_restriction }) =>
    [list(hostports), destination(backend), restriction(ip_restriction)].filter(Boolean).join(", "),
  tls_certificates: ({ subject_common_name, issued_at }) =>
    `${subject_common_name}${issued_at ? ", issued by the service" : ""}`,
  event_destinations: ({ target }) => `to ${given(target)}`,
  event_subscriptions: ({ sources, destinations }) =>
    `${list((sources as Row[]).map(({ type }) => type))} to ${count(destinations, "destination")}`,
};

/** What the account holds, by collection; those that are empty are left out. */
export function accountTables(control: Pick<Control, "summary" | "objects">): Line[] {
  const filled = Object.entries(control.summary()).filter(([, count]) => count > 0);
  const tables = filled.map(([name]) => ({ name, rows: control.objects(name).map((row) => cellsOf(name, row)) }));
  // one width for all, so that the eye can follow
  const lines = columns(
    tables.flatMap(({ rows }) => rows),
    4,
  ).values();
  return tables.flatMap(({ name, rows }) => [line(`  ${name}`, "bold"), ...lines.take(rows.length)]);
}

const cellsOf = (name: string, row: Row): Span[] => [
  { text: String(row["id"]) },
  { text: String(row["description"] || "-") },
  { text: essence[name]?.(row) ?? "", style: "dim" },
];

const list = (values: unknown): string => ((values ?? []) as unknown[]).join(", ");

const count = (values: unknown, what: string): string => {
  const { length } = values as unknown[];
  return `${length} ${what}${length === 1 ? "" : "s"}`;
};

const pairs = (map: unknown): string =>
  Object.entries((map ?? {}) as object)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");

const given = (target: unknown): string =>
  Object.entries((target ?? {}) as object)
    .filter(([, value]) => value)
    .map(([key]) => key)
    .join(", ");

function destination(module: unknown): string {
  const { backend } = (module ?? {}) as { backend?: { id: string } | null };
  return backend ? `to ${backend.id}` : "";
}

function restriction(module: unknown): string {
  const { ip_policies: policies = [] } = (module ?? {}) as { ip_policies?: unknown[] };
  return policies.length > 0 ? `for ${policies.length} IP policies only` : "";
}
