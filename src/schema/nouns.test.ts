import { expect, it } from "vitest";
import { counted, withArticle } from "./nouns.ts";

it.each([
  ...["an IP policy", "an SSH credential", "an HTTPS edge route", "an API key", "an event source", "an EventSource"],
  ...["a TCP edge", "a TLS edge", "a failover backend", "a reserved domain", "a Secret", "a ConfigMap"],
])("%s", (expected) => {
  expect(withArticle(expected.slice(expected.indexOf(" ") + 1))).toBe(expected);
});

it.for([
  [0, "object", undefined, "0 objects"],
  [1, "object", undefined, "1 object"],
  [2, "object", undefined, "2 objects"],
  [1, "IP policy", "IP policies", "1 IP policy"],
  [2, "IP policy", "IP policies", "2 IP policies"],
] as const)("%s %s", ([count, one, many, text]) => {
  expect(counted(count, one, many)).toBe(text);
});
