/** What is reached by going on from each of these, with themselves, each once: other people can make a circle. */
export function reachedFrom<T>(from: Iterable<T>, next: (one: T) => Iterable<T>): Set<T> {
  const found = new Set(from);
  // a set shows also what is added while it is gone through
  for (const one of found) for (const other of next(one)) found.add(other);
  return found;
}
