import { createHash } from "node:crypto";
import type { Answer, Kind } from "../../schema/define.ts";
import { snakeCase } from "../../schema/wire/names.ts";
import { UsageError } from "../terminal/terminal.ts";

/** The source of the names of objects. A remote without such a value is named by its id. */
export type NameSource =
  | "domain"
  | "description"
  | "id"
  | { metadata: string }
  | { names: ReadonlyMap<string, string> };

/** The longest name that can also be the value of a label. */
const LONGEST = 63;

export function nameSourceOf(text: string): NameSource {
  if (text === "domain" || text === "description" || text === "id") return text;
  const [, key] = /^metadata:(.+)$/.exec(text) ?? [];
  if (key) return { metadata: key };
  throw new UsageError("--name-from must be domain, description, metadata:KEY or id");
}

/** A text as a name that Kubernetes accepts (RFC 1123). Empty when nothing of it can be in a name. */
export const legal = (text: string): string =>
  text
    .replaceAll("*", "wildcard")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, LONGEST)
    .replace(/-+$/, "");

/**
 * Names for remotes of one kind, by their ids. Of several that would have the same name, the oldest has it, and the
 * others have a suffix that follows from their id, so that a name does not change when others come. `taken`: names of
 * objects that exist.
 */
export function namesOf(
  kind: Kind,
  remotes: readonly Answer[],
  source: NameSource,
  taken: ReadonlySet<string> = new Set(),
): Map<string, string> {
  const names = new Map<string, string>();
  const used = new Set(taken);
  for (const remote of remotes.toSorted(byAge)) {
    const id = String(remote["id"]);
    const wanted = legal(textFor(kind, remote, source)) || legal(id);
    const name = used.has(wanted) ? withSuffix(wanted, id, used) : wanted;
    used.add(name);
    names.set(id, name);
  }
  return names;
}

function textFor({ naturalKey }: Kind, remote: Answer, source: NameSource): string {
  if (source === "id") return "";
  if (typeof source === "object" && "names" in source) return source.names.get(String(remote["id"])) ?? "";
  if (typeof source === "object") return metadataOf(remote, source.metadata);
  const key = source === "domain" ? (naturalKey && snakeCase(naturalKey)) || "addr" : "description";
  return String(remote[key] ?? "") || String(remote["description"] ?? "");
}

/** The value of a key in a metadata text that is a JSON object; else empty. */
export function metadataOf({ metadata }: Answer, key: string): string {
  try {
    const value = (JSON.parse(String(metadata)) as Record<string, unknown> | null)?.[key];
    return value === undefined || value === null || typeof value === "object" ? "" : String(value);
  } catch {
    return "";
  }
}

function byAge(one: Answer, other: Answer): number {
  const [left, right] = [one, other].map((remote) => `${remote["created_at"]} ${remote["id"]}`) as [string, string];
  return left < right ? -1 : 1;
}

/** The shortest of four characters or more that makes the name another one than those that are used. */
function withSuffix(name: string, id: string, used: ReadonlySet<string>): string {
  const digest = createHash("sha256").update(id).digest("hex");
  const withSome = (length: number): string =>
    `${name.slice(0, LONGEST - length - 1).replace(/-+$/, "")}-${digest.slice(0, length)}`;
  let length = 4;
  while (used.has(withSome(length))) length += 1;
  return withSome(length);
}
