import type { Action, Block } from "../../plan/blocks.ts";
import type { FieldChange } from "../../plan/field-changes.ts";
import { coloured, paragraph } from "../terminal/colour.ts";
import { type FieldLine, fieldLines, valueText } from "../terminal/field-lines.ts";
import type { Colour, Line } from "../terminal/line.ts";
import type { Terminal } from "../terminal/terminal.ts";

const SIGNS: Readonly<Record<Action, { sign: string; done: string; colour: Colour }>> = {
  create: { sign: "+", done: "to create", colour: "green" },
  update: { sign: "~", done: "to update", colour: "yellow" },
  replace: { sign: "-/+", done: "to replace", colour: "red" },
  delete: { sign: "-", done: "to delete", colour: "red" },
  adopt: { sign: "<=", done: "to adopt", colour: "green" },
  blocked: { sign: "!", done: "blocked", colour: "red" },
  waiting: { sign: "?", done: "waiting", colour: "yellow" },
};

/** How many blocks each action has. Actions without blocks are left out. */
export function sumsOf(blocks: readonly Block[]): Partial<Record<Action, number>> {
  const sums: Partial<Record<Action, number>> = {};
  for (const { action } of blocks) sums[action] = (sums[action] ?? 0) + 1;
  return sums;
}

/** One block for each remote, and a line of sums. */
export function renderPlan(blocks: readonly Block[], terminal: Terminal): Line[] {
  if (blocks.length === 0) return ["Nothing to do: the account is as the objects say"];
  const sums = Object.entries(sumsOf(blocks)).map(([action, count]) => `${count} ${SIGNS[action as Action].done}`);
  return [...blocks.flatMap((block) => [...linesOf(block, terminal), ""]), `Plan: ${sums.join(", ")}`];
}

function linesOf(block: Block, terminal: Terminal): Line[] {
  const { action, kind, namespace, name, id, interrupts, fields, reason, message } = block;
  const { sign, colour } = SIGNS[action];
  const title = `${sign.padEnd(3)} ${kind} ${namespace}/${name}${id === undefined ? "" : ` (${id})`}`;
  return [
    coloured(interrupts ? `${title}: interrupts traffic` : title, colour, terminal),
    ...fieldLines(
      fields.map((field) => fieldLine(field, action)),
      terminal,
    ),
    ...(reason === undefined ? [] : paragraph(`${reason}: ${message}`, "      ", colour, terminal)),
  ];
}

function fieldLine(field: FieldChange, action: Action): FieldLine {
  const { path, secret } = field;
  if (secret)
    return action === "create" ? { sign: "+", path, to: "(secret)" } : { sign: "~", path, to: "(secret, changed)" };
  if (!("new" in field)) return { sign: "-", path, from: valueText(field.old) };
  const to = valueText(field.new);
  return "old" in field ? { sign: "~", path, from: valueText(field.old), to } : { sign: "+", path, to };
}
