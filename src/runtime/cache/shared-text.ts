/** Texts that differ from object to object go through as well, and must not be kept after their objects. */
const MOST = 2048;

const known = new Map<string, string>();

/** The same text, in the one copy of it that is in memory already, as long as it was seen not long ago. */
export function sharedText(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= MOST) known.clear();
  known.set(text, text);
  return text;
}
