import { expect, it } from "vitest";
import { kubeErrorOf } from "./errors.ts";

const status = (details: object) => JSON.stringify({ kind: "Status", code: 429, details });

it.each([
  ["by the header", "", "7", 7],
  ["by the Status", status({ retryAfterSeconds: 7 }), undefined, 7],
  ["by the header first", status({ retryAfterSeconds: 7 }), "3", 3],
  ["not at all", "", undefined, undefined],
  ["by a header that is no number", "", "soon", undefined],
  // limited, so that one wrong answer of a proxy does not stop a watch for good
  ["for longer than five minutes", status({ retryAfterSeconds: 86_400 }), undefined, 300],
  ["for longer than five minutes by the header", "", "86400", 300],
])("has a Retry-After of %s", (_, body, header, seconds) => {
  expect(kubeErrorOf(429, body, header).retryAfterSeconds).toBe(seconds);
});
