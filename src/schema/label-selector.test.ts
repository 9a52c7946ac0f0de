import { expect, it } from "vitest";
import { canShare, LabelSelectorError, parseLabelSelector, selects } from "./label-selector.ts";

const labels = [{}, { a: "x" }, { a: "y" }, { a: "" }, { b: "x" }, { a: "x", b: "x" }, { "example.com/a": "x" }];

// Kubernetes decides the same: an integration test asks a real API server.
it.each([
  ["", labels],
  ["a", [{ a: "x" }, { a: "y" }, { a: "" }, { a: "x", b: "x" }]],
  ["!a", [{}, { b: "x" }, { "example.com/a": "x" }]],
  ["! a", [{}, { b: "x" }, { "example.com/a": "x" }]],
  ["a=x", [{ a: "x" }, { a: "x", b: "x" }]],
  [" a == x ", [{ a: "x" }, { a: "x", b: "x" }]],
  ["a=", [{ a: "" }]],
  ["a!=x", [{}, { a: "y" }, { a: "" }, { b: "x" }, { "example.com/a": "x" }]],
  ["a in (x, y)", [{ a: "x" }, { a: "y" }, { a: "x", b: "x" }]],
  ["a notin (x,y)", [{}, { a: "" }, { b: "x" }, { "example.com/a": "x" }]],
  ["a in (x,y),b", [{ a: "x", b: "x" }]],
  ["a,a!=x", [{ a: "y" }, { a: "" }]],
  ["example.com/a=x", [{ "example.com/a": "x" }]],
])("%j selects %j", (text, expected) => {
  const selector = parseLabelSelector(text);
  expect(labels.filter((one) => selects(selector, one))).toEqual(expected);
});

it.each([
  ...["a=x y", "a>1", ",", "a,", "a in x", "a in (x", "=x", "-a=x", "a=x_", "UPPER.example/a", "!", "a b", "(a)"],
  ...["a in ()x", "a==!x", `${"k".repeat(64)}=x`, `a=${"v".repeat(64)}`, "a in (x),,b"],
])("%j is refused, in one line", (text) => {
  expect(() => parseLabelSelector(text)).toThrow(LabelSelectorError);
  expect(() => parseLabelSelector(text)).toThrow(/^must be a label selector such as .*$/);
});

it.each(["a,!a", "a=x,a=y", "a=x,a!=x", "a in (x),a notin (x)", "!a,a=x"])("%j selects nothing", (text) => {
  expect(() => parseLabelSelector(text)).toThrow("selects nothing: no label a is as it says");
});

it.each([
  ["", "", true],
  ["", "a=x", true],
  ["a=x", "a=y", false],
  ["a=x", "b=x", true],
  ["a=x", "!a", false],
  ["a", "!a", false],
  ["a", "a!=x", true],
  ["a=x", "a!=x", false],
  ["a in (x,y)", "a in (y,z)", true],
  ["a in (x,y)", "a in (z)", false],
  ["a in (x,y)", "a notin (x,y,z)", false],
  ["a notin (x)", "a notin (y)", true],
  ["a notin (x),a", "a in (x)", false],
  ["!a", "a notin (x)", true],
  ["a=x,b=x", "a=x,b=y", false],
  ["a=x,b=x", "a=x,c=y", true],
])("%j and %j can select the same object: %s", (one, other, expected) => {
  const [first, second] = [parseLabelSelector(one), parseLabelSelector(other)];
  expect([canShare(first, second), canShare(second, first)]).toEqual([expected, expected]);
});
