/** A function of schemas or kinds, computed once for each: they never change once they are made. Share no mutable result. */
export function memoize<Key extends object, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const found = known.get(key);
    if (found) return found;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}
