import { randomBytes } from "node:crypto";

/** So many characters in a row of a secret are a leak. */
const GRAM = 12;

/** A value that is nowhere else; with characters that JSON escapes, unless it has to be a plain token. */
export function canary(plain = false): string {
  const part = () => randomBytes(18).toString("base64url");
  return plain ? part() + part() : `${part()}"\\/+${part()}`;
}

/** Finds secrets in texts, in any form that a program is likely to write them in by accident. */
export class Canaries {
  readonly #grams = new Map<string, string>();

  /** `what`: the name under which it is reported. */
  add(what: string, value: string): void {
    for (const form of formsOf(value)) {
      for (let at = 0; at + GRAM <= form.length; at++) this.#grams.set(form.slice(at, at + GRAM), what);
    }
  }

  get size(): number {
    return new Set(this.#grams.values()).size;
  }

  /** What of them is in a text, with the words around it. */
  in(text: string): string[] {
    const found: string[] = [];
    for (let at = 0; at + GRAM <= text.length; at++) {
      const what = this.#grams.get(text.slice(at, at + GRAM));
      if (what === undefined) continue;
      found.push(`${what}: ${text.slice(Math.max(0, at - 80), at + 40)}`);
      at += GRAM;
    }
    return found;
  }
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const escaped = JSON.stringify(value).slice(1, -1);
  // where it stands in a longer text decides which of three ways it is encoded in
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [value, escaped, JSON.stringify(escaped).slice(1, -1), bytes.toString("hex"), ...encoded];
}
