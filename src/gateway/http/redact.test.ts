import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor, secretsIn } from "./redact.ts";

const redact = redactor([]);

describe("redactor", () => {
  test.each([
    ["two\r\nlines", "two lines"],
    ["\u001b[31mred\u001b[0m", "[31mred [0m"],
    ["a\u202eb\u0000c\u2028d\u200be\ud800f", "a b c d e f"],
    ["  \t spaced   out ", "spaced out"],
    ["Größe ist 5 €", "Größe ist 5 €"],
  ])("makes one line of %j", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test("cuts to the length asked for", () => {
    expect(redact("x".repeat(500))).toHaveLength(200);
    expect(redact("x".repeat(500), 10)).toBe("xxxxxxxxx…");
    expect(redact("x".repeat(200))).toBe("x".repeat(200));
  });

  test.each([
    ["hunter2", "bad secret hunter2!", "bad secret [redacted]!", "short"],
    ["hunter2-and-more", "bad secret: hunter2-and-more.", "bad secret: [redacted].", "long"],
    ["hunter2-and-more", "begins with hunter2-an...", "begins with [redacted]...", "a beginning of it"],
    ["hunter2-and-more", "hunter2-and-more twice: hunter2-and-more", "[redacted] twice: [redacted]", "more than once"],
    ["abcdefgh", "abcdefghabcdefgh", "[redacted]", "back to back"],
    ["hunter2\n", "is hunter2", "is [redacted]", "without its line end"],
    ["", "nothing to hide", "nothing to hide", "an empty one"],
  ])("masks %j in %j", (secret, text, expected) => {
    expect(redactor([secret])(text)).toBe(expected);
  });

  test("masks a short secret that contains another", () => {
    expect(redactor(["abc", "abcde"])("it is abcde")).toBe("it is [redacted]");
  });

  const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });

  test.each([
    ["whole", (text: string) => text],
    ["as JSON", (text: string) => JSON.stringify(text)],
    ["with other line ends", (text: string) => text.replaceAll("\n", "\r\n")],
    ["without line ends", (text: string) => text.replaceAll("\n", "")],
    ["its beginning", (text: string) => text.slice(0, 90)],
    ["its middle", (text: string) => text.slice(60, 100)],
  ])("masks a private key that is quoted %s", (_, quote) => {
    const message = redactor([pem.toString()])(`cannot read the key ${quote(pem.toString())} you sent`, 5000);
    expect(message).toMatch(/^cannot read the key .*\[redacted\].* ?you sent$/);
    expect(runsOf(8, pem.toString()).filter((run) => message.includes(run))).toEqual([]);
  });

  test("leaves no part of a secret, anywhere in the text", () => {
    const word = fc.string({ unit: "grapheme-ascii", minLength: 8, maxLength: 60 }).filter((s) => s.trim().length >= 8);
    fc.assert(
      fc.property(word, fc.string(), fc.string(), (secret, before, after) => {
        const message = redactor([secret])(`${before}${secret}${after}`);
        return !message.includes(secret.replace(/\s+/g, " ").trim());
      }),
    );
  });
});

const runsOf = (length: number, text: string): string[] =>
  text
    .split("\n")
    .flatMap((line) => Array.from({ length: line.length - length + 1 }, (_, at) => line.slice(at, at + length)));

describe("secretsIn", () => {
  const body = {
    format: "json",
    target: { logs: { auth: { creds: { cloud_access_key_id: "id", cloud_secret_access_key: "secret-1" } } } },
    list: [{ api_key: "secret-2" }, { api_key: ["secret-3", { deep: "secret-4" }] }],
    none: null,
  };

  test("finds marked members at any depth", () => {
    const names = ["cloud_secret_access_key", "api_key"];
    expect(secretsIn(body, names)).toEqual(["secret-1", "secret-2", "secret-3", "secret-4"]);
  });

  test("finds nothing when no member is secret", () => {
    expect(secretsIn(body, [])).toEqual([]);
    expect(secretsIn(undefined, ["api_key"])).toEqual([]);
  });
});
