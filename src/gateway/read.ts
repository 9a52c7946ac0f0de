import * as z from "zod";
import { isTooDeep, MAX_DEPTH } from "./bounds.ts";
import { redactor } from "./http/redact.ts";
import { identity } from "./wire.ts";

/** A 2xx answer that does not have the form of the API page. The message has names of members and types, no values. */
export class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
  readonly id: string | undefined;
  constructor(problem: string, id?: string) {
    super(problem);
    this.id = id;
  }
}

export interface RowProblem {
  readonly id?: string | undefined;
  /** The text in which an owner mark may be. */
  readonly metadata?: string | undefined;
  readonly problem: string;
}

export interface Listing<Row> {
  readonly rows: Row[];
  /** Rows that could not be read. */
  readonly problems: RowProblem[];
  /** `next_page_uri` of the answer. */
  readonly next: string | undefined;
}

/** Reads the body of an answer with one resource. */
export function readOne<Wire extends z.ZodObject>(wire: Wire, body: string): z.output<Wire> {
  const value = parseJSON(body);
  if (isTooDeep(value)) throw new UnreadableAnswer(`the answer is ${TOO_DEEP}`, idOf(value));
  const result = wire.safeParse(value);
  if (result.success) return result.data;
  throw new UnreadableAnswer(problemOf(result.error), idOf(value));
}

/** Like `readOne`, but null for an empty body or `null`. */
export const readOptional = <Wire extends z.ZodObject>(wire: Wire, body: string): z.output<Wire> | null =>
  body.trim() === "" || body.trim() === "null" ? null : readOne(wire, body);

const envelope = z.looseObject({ next_page_uri: z.string().nullish() });

/** Reads one page. When the member for the rows is null, the list is empty; when it is missing, there is no list. */
export function readListing<Wire extends z.ZodObject>(
  listKey: string,
  wire: Wire,
  body: string,
): Listing<z.output<Wire>> {
  const result = envelope.safeParse(parseJSON(body));
  if (!result.success) throw new UnreadableAnswer(problemOf(result.error));
  const given = result.data[listKey];
  if (given !== null && !Array.isArray(given)) throw new UnreadableAnswer(`member ${listKey} is not a list`);

  const rows: z.output<Wire>[] = [];
  const problems: RowProblem[] = [];
  for (const row of given ?? []) {
    if (isTooDeep(row)) {
      problems.push({ ...namesIn(row), problem: `the row is ${TOO_DEEP}` });
      continue;
    }
    const read = wire.safeParse(row);
    if (read.success) rows.push(read.data);
    else problems.push({ ...namesIn(row), problem: problemOf(read.error) });
  }
  return { rows, problems, next: result.data.next_page_uri || undefined };
}

const TOO_DEEP = `nested in more than ${MAX_DEPTH} levels`;

function parseJSON(body: string): unknown {
  if (body.trim() === "") throw new UnreadableAnswer("the answer is empty");
  try {
    return JSON.parse(body);
  } catch {
    // the message of the parser quotes the text
    throw new UnreadableAnswer("the answer is not JSON");
  }
}

// the names of members in a map come from the service
const oneLine = redactor([]);

function problemOf({ issues }: z.ZodError): string {
  const [first] = issues;
  const where = first?.path.length ? `member ${z.core.toDotPath(first.path)}` : "the answer";
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return oneLine(`${where} is not as expected: ${first?.message}${more}`);
}

/** What a row that cannot be read says of whose it is. */
const namesIn = (row: unknown): Pick<RowProblem, "id" | "metadata"> => ({
  id: idOf(row),
  metadata: marked.safeParse(row).data?.metadata,
});

const marked = z.looseObject({ metadata: z.string() });

const idOf = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  return identity.id.safeParse(value.id).data;
};
