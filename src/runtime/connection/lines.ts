const newline = 0x0a;

/**
 * The lines of a text as they arrive, in batches, without empty ones. Lines end at the byte 0x0A only: JSON may contain
 * line separators of Unicode. Whatever follows the last newline is a line too.
 */
export async function* lines(body: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let pending: Buffer[] = [];
  for await (const chunk of body) {
    const last = chunk.lastIndexOf(newline);
    if (last === -1) {
      pending.push(chunk);
      continue;
    }
    const complete = chunk.subarray(0, last);
    yield split(pending.length > 0 ? Buffer.concat([...pending, complete]) : complete);
    pending = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
  }
  yield split(Buffer.concat(pending));
}

const split = (complete: Buffer): string[] => complete.toString("utf8").split("\n").filter(Boolean);
