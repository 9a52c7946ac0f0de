import type { Verb } from "../../gateway/resource.ts";
import type { Kind } from "../../schema/define.ts";
import { code, codes, table } from "./markdown.ts";

const requests = {
  create: ["POST", ""],
  get: ["GET", "/{id}"],
  list: ["GET", ""],
  update: ["PATCH", "/{id}"],
  delete: ["DELETE", "/{id}"],
} as const;

const words: Record<Verb, string> = {
  documented: "used",
  undocumented: "tried, although [the API page](../gateway-api.md) does not have it",
  none: "does not exist",
};

/** The table of operations of the service that a kind uses. */
export function operations(kind: Kind): string {
  const rows = kind.location.type === "modules" ? settings(kind) : calls(kind);
  return table(["Operation", "Request", ""], [...rows, ...removals(kind)]);
}

function calls({ resource, location }: Kind): string[][] {
  const key = location.type === "entry" ? location.keyMember : "id";
  const { verbs, update, updateUndocumented } = resource;
  return Object.entries(requests).map(([verb, [method, suffix]]) => [
    verb,
    code(`${method} ${resource.path}${suffix.replace("id", key)}`),
    verb === "update" && update.length + updateUndocumented.length === 0
      ? "not needed"
      : words[verbs[verb as keyof typeof requests]],
  ]);
}

const settings = ({ modules }: Kind): string[][] =>
  Object.entries(modules).flatMap(([member, { path, verbs }]) => [
    [`set ${code(member)}`, code(`PUT ${path}`), words[verbs.put]],
    [`read ${code(member)}`, code(`GET ${path}`), words[verbs.get]],
  ]);

const removals = ({ modules }: Kind): string[][] =>
  Object.entries(modules).map(([member, { path, verbs }]) => [
    `remove ${code(member)}`,
    code(`DELETE ${path}`),
    words[verbs.delete],
  ]);

/** Describes the use of undocumented operations, which a service may not have. Empty when the kind uses none. */
export function undocumented({ resource, replacement }: Kind): string {
  const { verbs, updateUndocumented } = resource;
  const updates = verbs.update === "undocumented" || updateUndocumented.length > 0;
  if (!updates && verbs.delete !== "undocumented") return "";
  return [
    verbs.update !== "undocumented" && updateUndocumented.length > 0
      ? `Updates of ${codes(updateUndocumented)} are tried as well, although [the API page](../gateway-api.md) does not have them.`
      : "",
    updates ? `Where the service turns out not to update it, ${replacement ? REPLACED : KEPT}.` : "",
    verbs.delete === "undocumented"
      ? "Where it turns out not to delete it, the object says [DeleteUnsupported](../troubleshooting.md#deleteunsupported)."
      : "",
    "`GATEWAY_UNDOCUMENTED_OPERATIONS=false` switches such attempts off.",
  ]
    .filter(Boolean)
    .join(" ");
}

const REPLACED = "the resource is replaced";
const KEPT =
  "the object says [ReplacementRequired](../troubleshooting.md#replacementrequired) and the resource stays as it is, " +
  "unless the spec says `replacement: Recreate`";

/** Describes the replacement of remotes and the output to a Secret, as far as the kind has them. */
export function lifecycle({ replacement, output }: Kind): string[] {
  return [
    replacement === "CreateFirst"
      ? "What the service cannot change in place is replaced: a new resource is made, objects that refer to this one " +
        "move to it, and the old one is deleted when nothing has its id any more. Until then `status.retiring` has it."
      : "",
    output
      ? `${code(output.member)} is written to key ${code(output.key)} of the Secret that ${code(`spec.${output.field}`)} ` +
        "names. The object owns the Secret. One that exists already and is not its own is never overwritten."
      : "",
    output?.shownOnce ? "The value is shown once: when the Secret is lost, the resource is replaced." : "",
  ];
}
