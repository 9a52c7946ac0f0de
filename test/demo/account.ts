import type { Control } from "../simulator/simulator.ts";
import { columns, type Line, line, type Span } from "./line.ts";

type Row = Readonly<Record<string, unknown>>;

/** What matters of a row, beside its id and description. Collections that are not named here show those two alone. */
const essence: Readonly<Record<string, (row: Row) => string>> = {
  reserved_addrs: ({ addr }) => String(addr),
  reserved_domains: ({ domain, certificate }) => joined([domain, certificate && `certificate ${short(certificate)}`]),
  "backends/tunnel_group": ({ labels }) => joined(Object.entries(labels ?? {}).map((pair) => pair.join("="))),
  "edges/tcp": ({ hostports, backend, ip_restriction }) =>
    joined([...list(hostports), destination(backend), restriction(ip_restriction)]),
  tls_certificates: ({ subject_common_name, issued_at }) =>
    joined([subject_common_name, issued_at && "issued by the service"]),
  event_destinations: ({ target }) => joined(Object.entries(target ?? {}).map(([name, value]) => value && name)),
  event_subscriptions: ({ sources, destinations }) =>
    joined([...list<Row>(sources).map(({ type }) => type), `to ${count(list(destinations), "destination")}`]),
};

/** What the account holds, by collection; those that are empty are left out. */
export function accountTables(control: Pick<Control, "summary" | "objects">): Line[] {
  const filled = Object.entries(control.summary()).filter(([, rows]) => rows > 0);
  return filled.flatMap(([name]) => [line(`  ${name}`, "bold"), ...rowsOf(name, control.objects(name))]);
}

// ids of all collections in one column, so that the eye can follow
const ID_WIDTH = 34;

function rowsOf(name: string, rows: readonly Row[]): Line[] {
  const cells = rows.map((row): Span[] => [
    { text: String(row["id"]).padEnd(ID_WIDTH), style: "dim" },
    { text: essence[name]?.(row) ?? "" },
    { text: String(row["description"] ?? ""), style: "dim" },
  ]);
  return columns(cells, 4);
}

const joined = (parts: readonly unknown[]): string => parts.filter(Boolean).join(", ");

const list = <Value>(values: unknown): Value[] => (values ?? []) as Value[];

const count = ({ length }: readonly unknown[], what: string): string => `${length} ${what}${length === 1 ? "" : "s"}`;

/** Enough of an id to find it above or below. */
const short = (ref: unknown): string => `${(ref as { id: string }).id.slice(0, 12)}…`;

function destination(module: unknown): string {
  const { backend } = (module ?? {}) as { backend?: object | null };
  return backend ? `to ${short(backend)}` : "";
}

function restriction(module: unknown): string {
  const { ip_policies: policies = [] } = (module ?? {}) as { ip_policies?: unknown[] };
  return policies.length > 0 ? `for ${policies.length === 1 ? "1 IP policy" : `${policies.length} IP policies`}` : "";
}
