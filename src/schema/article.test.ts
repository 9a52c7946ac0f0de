import { expect, it } from "vitest";
import { withArticle } from "./article.ts";

it.each([
  ...["an IP policy", "an SSH credential", "an HTTPS edge route", "an API key", "an event source", "an EventSource"],
  ...["a TCP edge", "a TLS edge", "a failover backend", "a reserved domain", "a Secret", "a ConfigMap"],
])("%s", (expected) => {
  expect(withArticle(expected.slice(expected.indexOf(" ") + 1))).toBe(expected);
});
