import fc from "fast-check";
import { expect, it } from "vitest";
import { lines } from "./lines.ts";

async function read(chunks: Buffer[]): Promise<string[]> {
  const all: string[] = [];
  async function* body() {
    yield* chunks;
  }
  for await (const batch of lines(body())) all.push(...batch);
  return all;
}

it("splits at newlines only, wherever chunks end", async () => {
  const line = fc.string({ unit: "binary", minLength: 1 }).map((text) => JSON.stringify(text));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(200)), async (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, n) => bytes.subarray(at[n], end));
      expect(await read(chunks)).toEqual(texts);
    }),
  );
});

it("keeps the line separators of Unicode", async () => {
  expect(await read([Buffer.from('{"a":"\u2028\u2029\u0085"}\n')])).toEqual(['{"a":"\u2028\u2029\u0085"}']);
});

it("returns the text after the last newline as a line", async () => {
  expect(await read([Buffer.from("one\ntw"), Buffer.from("o")])).toEqual(["one", "two"]);
});
