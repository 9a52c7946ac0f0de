export interface JSONDocument {
  value: unknown;
  /** The line at which it begins, from 1. */
  line: number;
}

/**
 * The documents of a text that is JSON, one after the other and with anything blank in between, as kubectl reads them.
 * Undefined: the text is something else, such as YAML.
 */
export function documentsOf(text: string): JSONDocument[] | undefined {
  const documents: JSONDocument[] = [];
  let line = 1;
  for (const { source, isBlank } of partsOf(text)) {
    try {
      if (!isBlank) documents.push({ value: JSON.parse(source), line });
    } catch {
      return undefined;
    }
    line += source.split("\n").length - 1;
  }
  return documents.length > 0 ? documents : undefined;
}

/** Splits the text behind each brace that closes an object, so that each part is blank or should be one object. */
function* partsOf(text: string): Generator<{ source: string; isBlank: boolean }> {
  let [begin, depth] = [0, 0];
  // A text in quotes, which may have braces in it, or one brace. A text that does not end is the rest.
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[{}]|[^\s{}"]+/gs)) {
    if (depth === 0 && begin < index) {
      yield part(text.slice(begin, index));
      begin = index;
    }
    if (token === "{") depth += 1;
    else if (token === "}") depth -= 1;
    if (depth > 0) continue;
    yield part(text.slice(begin, index + token.length));
    begin = index + token.length;
  }
  if (begin < text.length) yield part(text.slice(begin));
}

const part = (source: string) => ({ source, isBlank: source.trim() === "" });
