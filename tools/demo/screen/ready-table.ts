import { isReady, type ObjectState } from "../objects.ts";
import { columns, type Line, line, type Span } from "./line.ts";

export interface Room {
  readonly rows: number;
}

/** A row for each object, and its message if it is not Ready. Leaves out messages, then Ready objects, to fit. */
export function readyTable(objects: readonly ObjectState[], { rows }: Room): Line[] {
  const unready = objects.filter((object) => !isReady(object));
  const whole = render(objects, unready);
  if (whole.length <= rows) return whole;
  const quiet = render(objects, []);
  if (quiet.length <= rows) return quiet;
  const others = objects.length - unready.length;
  const rest = others > 0 ? [line(`  and ${others} that are Ready`, "dim")] : [];
  const short = render(unready, unready);
  const fitting = short.length + rest.length <= rows ? short : render(unready, []);
  return [...fitting.slice(0, rows - rest.length), ...rest];
}

const HEADINGS: readonly Span[] = ["KIND", "NAME", "READY", "REASON", "ID"].map((text) => ({ text, style: "dim" }));

function render(objects: readonly ObjectState[], explained: readonly ObjectState[]): Line[] {
  if (objects.length === 0) return [];
  const [headings = [], ...rows] = columns([HEADINGS, ...objects.map(rowOf)]);
  const lines = objects.flatMap((object, at) => {
    const row = rows[at] ?? [];
    return explained.includes(object) && object.message ? [row, line(`    ${object.message}`, "dim")] : [row];
  });
  return [headings, ...lines];
}

const rowOf = (object: ObjectState): Span[] => [
  { text: object.kind },
  { text: object.name, style: "bold" },
  readiness(object),
  { text: object.reason },
  { text: object.id, style: "dim" },
];

export function readiness(object: ObjectState): Span {
  if (isReady(object)) return { text: "✓ True", style: "green" };
  if (object.stalled) return { text: `✗ ${object.ready}`, style: "red" };
  return { text: `· ${object.ready}`, style: "yellow" };
}
