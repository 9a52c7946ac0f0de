import type { ComparedField } from "../../plan/comparison.ts";
import { paragraph, titleLines } from "../terminal/colour.ts";
import { type FieldLine, fieldLines, valueText } from "../terminal/field-lines.ts";
import type { Colour, Line } from "../terminal/line.ts";
import type { Screen } from "../terminal/output.ts";

export interface ComparedObject {
  kind: string;
  namespace: string;
  name: string;
  /** Unset: the object has no remote yet. */
  id?: string;
  inAccount: boolean;
  /** Why there is no remote: the reason of the condition Ready. */
  reason?: string;
  message?: string;
  fields: ComparedField[];
}

interface Part {
  state: ComparedField["state"];
  title: string;
  colour: Colour | undefined;
}

const parts: readonly Part[] = [
  { state: "differs", title: "Differs: the account → the spec", colour: "yellow" },
  { state: "unmanaged", title: "Unmanaged: the account has it, the spec does not say", colour: "grey" },
  { state: "hidden", title: "From a Secret: the service does not show it", colour: "grey" },
];

/** For each object: different fields, unmanaged fields, and fields that cannot be seen. Empty parts are left out. */
export const renderDiff = (objects: readonly ComparedObject[], terminal: Screen): Line[] =>
  objects.flatMap((object, index) => [...(index > 0 ? [""] : []), ...linesOf(object, terminal)]);

function linesOf(object: ComparedObject, terminal: Screen): Line[] {
  const { kind, namespace, name, id, inAccount, reason, message, fields } = object;
  const title = `${kind} ${namespace}/${name}${id === undefined ? "" : ` (${id})`}`;
  if (!inAccount) {
    const missing = id === undefined ? "is not in the account yet" : "is not in the account";
    return [
      ...titleLines(`${title} ${missing}`, "red", terminal),
      ...(reason === undefined ? [] : paragraph(`${reason}: ${message}`, "  ", undefined, terminal)),
    ];
  }
  const isSame = fields.every(({ state }) => state !== "differs");
  return [
    ...titleLines(isSame ? `${title} is as the spec says` : title, isSame ? "green" : undefined, terminal),
    ...parts.flatMap((part) => partOf(part, fields, terminal)),
  ];
}

function partOf({ state, title, colour }: Part, fields: readonly ComparedField[], terminal: Screen): Line[] {
  const found = fields.filter((field) => field.state === state);
  if (found.length === 0) return [];
  return [...paragraph(title, "  ", colour, terminal), ...fieldLines(found.map(lineOf), terminal)];
}

function lineOf(field: ComparedField): FieldLine {
  const { path, state, secret, spec, account } = field;
  const note = field.immutable ? "  (cannot be changed in place)" : "";
  if (secret) {
    const to = state === "differs" ? "(secret, changed)" : "(secret)";
    return { sign: state === "differs" ? "~" : " ", path, to: `${to}${note}` };
  }
  if (state !== "differs") return { sign: " ", path, to: valueText(account) };
  if (spec === undefined) return { sign: "-", path, from: `${valueText(account)}${note}` };
  const to = `${valueText(spec)}${note}`;
  return account === undefined ? { sign: "+", path, to } : { sign: "~", path, from: valueText(account), to };
}
