import type * as z from "zod";
import { type CallOptions, call } from "./call.ts";
import { GatewayError } from "./errors.ts";
import type { Connection } from "./http/exchange.ts";
import { pageFollower } from "./paging.ts";
import { expandPath, type PathIds } from "./path.ts";
import { type RowProblem, readListing } from "./read.ts";
import type { Verb } from "./resource.ts";

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Rows of this page that do not have the form of the API page, with their ids if they have one. */
  readonly problems: readonly RowProblem[];
  /** The time right before the request for this page, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** No page follows. */
  readonly last: boolean;
}

interface Listable<Wire extends z.ZodObject> {
  readonly name: string;
  readonly path: string;
  readonly listKey: string;
  readonly wire: Wire;
  readonly verbs: { readonly list: Verb };
}

export async function* pages<Wire extends z.ZodObject>(
  connection: Connection,
  family: Listable<Wire>,
  ids: PathIds,
  options?: CallOptions,
): AsyncGenerator<Page<z.output<Wire>>, void, void> {
  const { base, now } = connection;
  let follow: ReturnType<typeof pageFollower> | undefined;
  const read = (body: string) => {
    const listing = readListing(family.listKey, family.wire, body);
    follow ??= pageFollower(base, base.prefix + expandPath(family.path, ids));
    return { ...listing, next: follow(listing.next) };
  };

  let path: string | undefined;
  do {
    const startedAt = now();
    const request = { method: "GET", route: family.path, family, verb: family.verbs.list, ids, path, read };
    const { rows, problems, next } = await call(connection, request, options);
    yield { rows, problems, startedAt, last: next === undefined };
    path = next;
  } while (path !== undefined);
}

/** All rows. Rejects with GatewayError when one of them cannot be read. */
export async function allRows<Row>(from: AsyncIterable<Page<Row>>, route: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of from) {
    const [bad] = page.problems;
    if (bad) throw new GatewayError({ kind: "unreadable", method: "GET", route, ...bad });
    rows.push(...page.rows);
  }
  return rows;
}
