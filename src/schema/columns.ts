import * as z from "zod";
import type { Column } from "./define.ts";

/** The values from which the text of a column is made. */
export interface Shown {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

/** A column whose text the operator keeps in `status.columns`, since JSONPath shows lists and maps as JSON only. */
export interface TextColumn extends Column {
  /** The member of `status.columns`. */
  readonly key: string;
  /** Most characters that are shown, so that a line of `kubectl get` fits on a screen. */
  readonly width: number;
  /** A text, a list of texts or a map. Undefined: the cell is empty. */
  readonly value: (shown: Shown) => unknown;
  /** Shown in place of a text that is too long, if a cut text would be of no use. */
  readonly instead?: string;
}

type Options = Pick<TextColumn, "width" | "value"> & Partial<Pick<TextColumn, "wide" | "description" | "instead">>;

export const textColumn = (name: string, options: Options): TextColumn => {
  const key = name.toLowerCase();
  return { name, key, jsonPath: `.status.columns.${key}`, ...options };
};

const isTextColumn = (column: Column): column is TextColumn => "value" in column;

/** Characters of a line of `kubectl get <kind> -o wide`, and of the name of an object in it. */
const LINE = 200;
const NAME = 20;
const GAP = 3;

/** The last column: the text of `status.columns.message`, of which a line has the beginning. */
export const message: Column = { name: "Message", jsonPath: ".status.columns.message", wide: true };

/** How many characters of the message fit into a line with all the other columns. */
export function messageWidth(columns: readonly Column[]): number {
  const others = columns.filter((column) => column !== message);
  return others.reduce((left, { name, width = name.length }) => left - GAP - width, LINE - NAME - GAP);
}

/** What the column Message shows. The whole message stands in the conditions. */
export const shownMessage = (columns: readonly Column[], text: string): string =>
  shortText(text, messageWidth(columns));

/** The status field with the texts of all these columns, and with the condition that the table shows. */
export const columnsField = (columns: readonly Column[]) =>
  z
    .object({
      ...Object.fromEntries(
        columns
          .filter(isTextColumn)
          .map(({ key, name }) => [key, z.string().optional().describe(`Column ${name}.`)] as const),
      ),
      reason: z
        .string()
        .optional()
        .describe("Why the object is not Ready, or what failed behind an object that is Ready."),
      message: z.string().optional().describe("How the message of the condition with this reason begins."),
    })
    .optional()
    .describe("Short texts for the table of `kubectl get`. Programs read the other fields.");

/** The texts of the columns. An empty one is left out. */
export function columnTexts(columns: readonly Column[], shown: Shown): Record<string, string> {
  const texts = columns.filter(isTextColumn).map(({ key, width, value, instead }): [string, string] => {
    const text = shortText(value(shown), width);
    return [key, instead !== undefined && text.endsWith(CUT) ? instead : text];
  });
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}

const CUT = "…";

/** A text, list or map in one line: `a,b`, `a=1,b=2`, or `a +3` if the other entries have no room. */
export function shortText(value: unknown, width: number): string {
  const items = itemsOf(value).map((item) => item.replaceAll(/\s+/g, " ").trim());
  for (let shown = items.length; shown > 0; shown -= 1) {
    const more = items.length > shown ? ` +${items.length - shown}` : "";
    const text = items.slice(0, shown).join(",");
    // a text has no more characters than units
    if (text.length + more.length <= width) return text + more;
    if ([...text].length + more.length <= width) return text + more;
    if (shown === 1) return `${[...text].slice(0, width - more.length - 1).join("")}${CUT}${more}`;
  }
  return "";
}

function itemsOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map(String);
  if (typeof value === "object") return Object.entries(value).map(([key, one]) => `${key}=${one}`);
  return [String(value)];
}

/** The name in a reference, or its id if it refers by id. */
export const refText = (ref: unknown): string => {
  const { name, id } = (ref ?? {}) as { name?: string; id?: string };
  return name ?? id ?? "";
};

/**
 * The date of a time in RFC 3339. A column of type `date` cannot show a time in the future, so columns show this text.
 */
export const dateOf = (time: unknown): string | undefined => (typeof time === "string" ? time.slice(0, 10) : undefined);
