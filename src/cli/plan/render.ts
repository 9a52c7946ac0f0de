import type { Action, Block } from "../../plan/blocks.ts";
import type { FieldChange } from "../../plan/field-changes.ts";
import { paragraph, titleLines } from "../terminal/colour.ts";
import { type FieldLine, fieldLines, valueText } from "../terminal/field-lines.ts";
import type { Colour, Line } from "../terminal/line.ts";
import type { Screen } from "../terminal/output.ts";

export const SIGNS: Readonly<Record<Action, { sign: string; done: string; colour: Colour }>> = {
  create: { sign: "+", done: "to create", colour: "green" },
  update: { sign: "~", done: "to update", colour: "yellow" },
  replace: { sign: "-/+", done: "to replace", colour: "red" },
  delete: { sign: "-", done: "to delete", colour: "red" },
  adopt: { sign: "<=", done: "to adopt", colour: "green" },
  blocked: { sign: "!", done: "blocked", colour: "red" },
  waiting: { sign: "?", done: "waiting", colour: "yellow" },
  left: { sign: "=", done: "left different", colour: "grey" },
};

/** How many blocks each action has. Actions without blocks are left out. */
export function sumsOf(blocks: readonly Block[]): Partial<Record<Action, number>> {
  const sums: Partial<Record<Action, number>> = {};
  for (const { action } of blocks) sums[action] = (sums[action] ?? 0) + 1;
  return sums;
}

/** What is known beside the blocks. `complete`: everything was read. `count`: how many objects there are. */
interface Around {
  complete: boolean;
  count: number;
  /** How many objects change, wait or are blocked whatever the manifests say. */
  others?: number;
}

/** One block for each remote, and a line of sums. */
export function renderPlan(blocks: readonly Block[], terminal: Screen, around: Around): Line[] {
  if (blocks.length === 0) return [nothingToDo(around)];
  const sums = Object.entries(sumsOf(blocks)).map(([action, count]) => `${count} ${SIGNS[action as Action].done}`);
  return [...blocks.flatMap((block) => [...linesOf(block, terminal), ""]), `Plan: ${sums.join(", ")}`];
}

function nothingToDo({ complete, count, others = 0 }: Around): string {
  if (!complete) return "Nothing to do, as far as could be read";
  if (others > 0) return "Nothing to do for these manifests";
  return count === 0 ? "Nothing to do: there are no objects" : "Nothing to do: the account is as the objects say";
}

function linesOf(block: Block, terminal: Screen): Line[] {
  const { action, kind, namespace, name, id, interrupts, fields, reason, message } = block;
  const { sign, colour } = SIGNS[action];
  const title = `${sign.padEnd(3)} ${kind} ${namespace}/${name}${id === undefined ? "" : ` (${id})`}`;
  return [
    ...titleLines(interrupts ? `${title}: interrupts traffic` : title, colour, terminal),
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
