import { keyOf, type ObjectState } from "./objects.ts";
import type { Line } from "./screen/line.ts";
import { readiness } from "./screen/ready-table.ts";

/** A line for each object that was created, changed or removed. */
export function changes(before: readonly ObjectState[], after: readonly ObjectState[]): Line[] {
  const known = new Map(before.map((object) => [keyOf(object), object]));
  const left = new Set(after.map(keyOf));
  const gone = before.filter((object) => !left.has(keyOf(object)));
  const changed = after.filter((object) => JSON.stringify(object) !== JSON.stringify(known.get(keyOf(object))));
  return [...changed.map((object) => changeOf(object, known.get(keyOf(object)))), ...gone.map(departureOf)];
}

const NAME_WIDTH = 34;
const READY_WIDTH = 11;

function changeOf(object: ObjectState, before: ObjectState | undefined): Line {
  const { text, style } = readiness(object);
  return [
    { text: `${keyOf(object)} `.padEnd(NAME_WIDTH) },
    { text: text.padEnd(READY_WIDTH), style },
    { text: [object.reason, object.id].filter(Boolean).join("  ") },
    {
      text: detailsOf(object, before)
        .map((detail) => `  ${detail}`)
        .join(""),
      style: "dim",
    },
  ];
}

function detailsOf({ ready, message, generation, deleting }: ObjectState, before: ObjectState | undefined): string[] {
  // a deletion increments the generation too
  const edited = before !== undefined && before.generation !== generation && !deleting;
  return [
    ...(edited ? [`edited (generation ${generation})`] : []),
    ...(deleting ? ["being deleted"] : []),
    ...(ready !== "True" && message !== "" ? [message] : []),
  ];
}

const departureOf = (object: ObjectState): Line => [
  { text: `${keyOf(object)} `.padEnd(NAME_WIDTH) },
  { text: "is gone", style: "dim" },
];
