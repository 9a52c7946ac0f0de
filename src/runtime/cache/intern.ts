/** Limits the memory: strings that only one object has are interned too, and must not outlive it for long. */
const MOST = 2048;

const known = new Map<string, string>();

/** An equal string that was interned not long ago, so that memory holds one copy of both. */
export function intern(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= MOST) known.clear();
  known.set(text, text);
  return text;
}
