import type { Bind } from "../dns/bind.ts";
import type { Control } from "../simulator/simulator.ts";
import type { Line } from "./screen/line.ts";

/**
 * Resolves, at each call, with a line for each CNAME record that was made, changed or removed since the call before. It
 * asks for the domains of the account, and for those whose record has outlived them.
 */
export function recordChanges(dns: Pick<Bind, "cname">, control: Pick<Control, "objects">): () => Promise<Line[]> {
  let before = new Map<string, string>();
  return async () => {
    const domains = control.objects("reserved_domains").map(({ domain }) => String(domain));
    const names = [...new Set([...domains, ...before.keys()])].sort();
    const found = await Promise.all(names.map(async (name) => [name, (await dns.cname(name)).join(", ")] as const));
    const after = new Map(found.filter(([, targets]) => targets !== ""));
    const changed = found.filter(([name, targets]) => targets !== (before.get(name) ?? ""));
    before = after;
    return changed.map(([name, targets]) => [
      { text: "dns      ", style: "dim" },
      { text: `CNAME ${name}` },
      targets === "" ? { text: " is gone", style: "dim" } : { text: ` → ${targets}`, style: "green" },
    ]);
  };
}
