import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/** A place in a stack of Node: the URL of a file, with a line and a column that begin at 1. */
const PLACE = /(file:\/\/\/[^\s():]+\.js):(\d+):(\d+)/g;

type Maps = Map<string, SourceMap | undefined>;

/** Weak, so that many errors in a row read the maps once, and memory has them no longer than it has room. */
let read = new WeakRef<Maps>(new Map());

/**
 * A stack with the places in the sources, such as src/main.ts:18:3, for files that have a map beside them. It is read when
 * a stack is printed: Node's own --enable-source-maps has the maps of all files in memory from the start, some 15 MiB.
 */
export function sourceStack(stack: string): string {
  const maps = read.deref() ?? new Map<string, SourceMap | undefined>();
  read = new WeakRef(maps);
  return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    const origin = maps.get(file)?.findOrigin(Number(line), Number(column));
    return origin && "fileName" in origin ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}` : place;
  });
}

function mapOf(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${file}.map`), "utf8")));
  } catch {
    // a stack without maps is better than none
    return undefined;
  }
}
