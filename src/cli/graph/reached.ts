/** What is reached by going on from each of these, with themselves, each once: other people can make a circle. */
export function reachedFrom<T>(from: Iterable<T>, next: (one: T) => Iterable<T>): Set<T> {
  const found = new Set(from);
  // a set shows also what is added while it is gone through
  for (const one of found) for (const other of next(one)) found.add(other);
  return found;
}

/**
 * These, each after those among them that have to come before it. Other people can make a circle, which has no such
 * order, and a chain of thousands, so nothing here calls itself.
 */
export function sortedAfter<T>(all: readonly T[], before: (one: T) => Iterable<T>): T[] {
  const meant = new Set(all);
  const seen = new Set<T>();
  const sorted: T[] = [];
  const stack = all.toReversed().map((one) => ({ one, isDone: false }));
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { one, isDone } = top;
    if (isDone) sorted.push(one);
    if (seen.has(one)) continue;
    seen.add(one);
    stack.push({ one, isDone: true });
    for (const other of before(one)) if (meant.has(other)) stack.push({ one: other, isDone: false });
  }
  return sorted;
}
