/** A node of Babel's syntax tree, as far as it is needed here. */
export interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Each node that it yields is tried in the place of `node`. */
export interface Mutator {
  readonly name: string;
  mutate(path: { readonly node: Node; readonly parent: Node }): Iterable<Node>;
}

const isCall = ({ type }: Node): boolean => type === "CallExpression" || type === "OptionalCallExpression";

/** The changes that StrykerJS itself does not make. */
export const mutators: readonly Mutator[] = [
  {
    name: "Call",
    // a call that is a statement, with its `await`
    *mutate({ node, parent }) {
      const called = node.type === "AwaitExpression" ? (node["argument"] as Node) : node;
      if (parent.type === "ExpressionStatement" && isCall(called)) yield { type: "Identifier", name: "undefined" };
    },
  },
  {
    name: "Default",
    *mutate({ node }) {
      if (node.type === "LogicalExpression" && node["operator"] === "??") yield node["left"] as Node;
    },
  },
  {
    name: "Number",
    *mutate({ node }) {
      if (node.type === "NumericLiteral") yield { type: "NumericLiteral", value: (node["value"] as number) + 1 };
    },
  },
];
