const MASK = "[redacted]";

/** Any part of a secret with this length is masked: services quote the beginning, or single lines of a PEM. */
const GRAM = 8;

/** Text after this many characters is ignored. */
const READ = 8192;

export type Redact = (text: string, length?: number) => string;

/** Makes a message of the service, and its error code, safe for logs and conditions. Empty: nothing of it is safe. */
export interface Quoting {
  readonly quoteText: Redact;
  readonly quoteCode: Redact;
}

/** Tells what the service says without these texts. */
export function quotingWithout(secrets: readonly string[]): Quoting {
  const quote: Redact = (text, length) => redactor(secrets)(text, length);
  return { quoteText: quote, quoteCode: quote };
}

/** Words, and a number at the end: no encoding of a value looks like this. */
const CODE = /^([A-Z]+(_[A-Z]+)*_?)?\d{0,9}$/;

/**
 * Tells the error code alone, and only if it repeats nothing that was sent. A message may contain a value shortened or
 * encoded in any way, so no text of it is safe.
 */
export function quotingCodeOnly(sent: readonly string[]): Quoting {
  const repeats = (code: string): boolean => {
    const texts = sent.map((text) => text.toLowerCase());
    return redactor(texts)(code) !== code || texts.some((text) => text.includes(code));
  };
  return { quoteText: () => "", quoteCode: (code) => (CODE.test(code) && !repeats(code.toLowerCase()) ? code : "") };
}

/** Makes a text of the service safe for logs and conditions: one line of limited length without any of `secrets`. */
export function redactor(secrets: readonly string[]): Redact {
  const lines = secrets.map(oneLine).filter((secret) => secret !== "");
  const short = lines.filter((secret) => secret.length < GRAM).sort((a, b) => b.length - a.length);
  const grams = new Set(lines.flatMap(gramsOf));
  return (text, length = 200) => {
    const masked = short.reduce((rest, secret) => rest.replaceAll(secret, MASK), oneLine(text.slice(0, READ)));
    return cut(maskGrams(masked, grams), length);
  };
}

/** All strings in a request body. */
export function stringsIn(body: unknown): string[] {
  if (typeof body === "string") return [body];
  return typeof body === "object" && body !== null ? Object.values(body).flatMap(stringsIn) : [];
}

/** All strings under these members of a request body, at any depth. */
export function secretsIn(body: unknown, names: readonly string[], inside = false): string[] {
  if (names.length === 0) return [];
  if (typeof body === "string") return inside ? [body] : [];
  if (typeof body !== "object" || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) => secretsIn(value, names, inside || names.includes(name)));
}

// replaces control, format and unpaired characters and all kinds of line ends
const oneLine = (text: string): string => text.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim();

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function gramsOf(secret: string): string[] {
  return Array.from({ length: Math.max(0, secret.length - GRAM + 1) }, (_, at) => secret.slice(at, at + GRAM));
}

function maskGrams(text: string, grams: ReadonlySet<string>): string {
  let out = "";
  let kept = 0;
  let end = 0;
  for (let at = 0; at + GRAM <= text.length; at++) {
    if (!grams.has(text.slice(at, at + GRAM))) continue;
    if (at > end || end === 0) {
      out += text.slice(kept, at) + MASK;
    }
    end = at + GRAM;
    kept = end;
  }
  return out + text.slice(kept);
}
