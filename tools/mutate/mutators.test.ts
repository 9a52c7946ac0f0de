import { expect, it } from "vitest";
import { mutators, type Node } from "./mutators.ts";

const call = { type: "CallExpression" };
const awaited = { type: "AwaitExpression", argument: call };
const one = { type: "NumericLiteral", value: 1 };
const either = (operator: string) => ({ type: "LogicalExpression", operator, left: one, right: call });
const nothing = { type: "Identifier", name: "undefined" };

it.each<[string, Node, string, Node[]]>([
  ["a call that is a statement", call, "ExpressionStatement", [nothing]],
  ["a call that is awaited", awaited, "ExpressionStatement", [nothing]],
  ["the call inside of what is awaited", call, "AwaitExpression", []],
  ["a call whose result is used", call, "ReturnStatement", []],
  ["a promise that is awaited", { ...awaited, argument: one }, "ExpressionStatement", []],
  ["a default", either("??"), "ReturnStatement", [one]],
  ["another operator", either("&&"), "ReturnStatement", []],
  ["a number", one, "ReturnStatement", [{ ...one, value: 2 }]],
])("%s", (_, node, parent, expected) => {
  expect(mutators.flatMap((mutator) => [...mutator.mutate({ node, parent: { type: parent } })])).toEqual(expected);
});
