import type { Remote, Resource } from "../../gateway/resource.ts";
import { forEachConcurrently } from "../cluster/concurrently.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { AccountReader } from "./reader.ts";

type Reading = { reader: AccountReader; terminal: Terminal };

/**
 * The listed remotes, each with its metadata, which has the owner mark. A list may leave out `metadata`: where no row
 * shows it, it is read with a GET for each row that `isNeeded`. A remote that is gone by then is left out. Throws
 * CommandError.
 */
export async function withMetadata(
  resource: Resource,
  rows: readonly Remote[],
  { reader, terminal }: Reading,
  isNeeded: (remote: Remote) => boolean,
): Promise<Remote[]> {
  if (!resource.create.includes("metadata") || rows.some(({ metadata }) => metadata !== undefined)) return [...rows];
  const read = new Map<string, Remote | undefined>();
  await forEachConcurrently(rows.filter(isNeeded), async ({ id }) => {
    read.set(id, await reader.get(resource, id));
    terminal.progress?.(`Reading ${resource.path}, one by one: ${read.size}`);
  });
  return rows.flatMap((row) => (read.has(row.id) ? (read.get(row.id) ?? []) : row));
}
