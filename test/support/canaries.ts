import { randomBytes } from "node:crypto";

/** A text that contains this many consecutive characters of a secret leaks it. */
const GRAM = 12;

/** A random secret. It has characters that JSON escapes, unless it has to be a plain token. */
export function canary(plain = false): string {
  const part = () => randomBytes(18).toString("base64url");
  return plain ? part() + part() : `${part()}"\\/+${part()}`;
}

/** Finds secrets in texts, in every form in which a program may print them by accident. */
export class Canaries {
  readonly #grams = new Map<string, string>();

  /** `what` is the name of the secret in reports. */
  add(what: string, value: string): void {
    for (const form of formsOf(value)) {
      for (let at = 0; at + GRAM <= form.length; at++) this.#grams.set(form.slice(at, at + GRAM), what);
    }
  }

  get size(): number {
    return new Set(this.#grams.values()).size;
  }

  /** The secrets in a text, with the text around them. */
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
  // base64 has three forms of it, which depend on its position in a longer text
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [value, escaped, JSON.stringify(escaped).slice(1, -1), bytes.toString("hex"), ...encoded];
}
