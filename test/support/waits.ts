import { parseAst } from "vitest/node";

/** A place in the source at which a pass waits for something other than its own code. */
export interface Wait {
  readonly file: string;
  /** The function or method, as it is written. */
  readonly within: string;
  /** What is called, with what it is called on: `cluster.annotate`, `remotes.find`. */
  readonly on: string;
}

export type Source = readonly [file: string, text: string];

/**
 * All waits of sources that belong together. To await a function or method of theirs is none: what that one waits for
 * is. A promise that is handed on without being awaited counts where it comes from, if a method of one of the
 * interfaces in `seams` returns it.
 */
export function waitsOf(sources: readonly Source[], seams: readonly string[]): Wait[] {
  const parsed = sources.map(([file, text]) => ({ file, text, nodes: [...placed(programOf(text))] }));
  const nodes = parsed.flatMap((one) => one.nodes.map(({ node }) => node));
  const known: Known = {
    functions: new Set(nodes.flatMap(namesOf)),
    asynchronous: new Set(nodes.filter(isAsync).flatMap(namesOf)),
    promising: new Set(nodes.filter((node) => seams.includes(nameOf(node["id"]))).flatMap(promisingMethods)),
    counted: new Set([
      ...nodes.filter(isAwait).map(({ argument }) => caught(argument as Node)),
      ...nodes.flatMap(budgetedIn),
    ]),
  };
  return parsed.flatMap(({ file, text, nodes: all }) =>
    all.flatMap(({ node, within }) => waitedFor(node, text, known).map((on) => ({ file, within, on }))),
  );
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

interface Known {
  /** Names of all functions and methods. */
  readonly functions: ReadonlySet<string>;
  readonly asynchronous: ReadonlySet<string>;
  /** Methods of the seams that return promises. */
  readonly promising: ReadonlySet<string>;
  /** Calls that count as part of another node. */
  readonly counted: ReadonlySet<unknown>;
}

const programOf = (text: string): Node => parseAst(text, { lang: "ts" }) as unknown as Node;

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === "string";
const isAwait = ({ type }: Node): boolean => type === "AwaitExpression";
const isAsync = ({ async, value }: Node): boolean => async === true || (isNode(value) && value["async"] === true);
const isCall = ({ type }: Node): boolean => type === "CallExpression";
const isMember = ({ type }: Node): boolean => type === "MemberExpression";

function* placed(value: unknown, within = ""): Generator<{ node: Node; within: string }> {
  if (Array.isArray(value)) for (const one of value) yield* placed(one, within);
  if (!isNode(value)) return;
  const here = namesOf(value)[0] ?? within;
  yield { node: value, within: here };
  for (const member of Object.values(value)) yield* placed(member, here);
}

/** The name of the function that a node declares, if it declares one. */
function namesOf({ type, id, key, init, value }: Node): string[] {
  if (type === "FunctionDeclaration") return [nameOf(id)];
  if (type === "MethodDefinition") return [nameOf(key)];
  const assigned = type === "VariableDeclarator" ? init : type === "PropertyDefinition" && value;
  return isNode(assigned) && assigned.type === "ArrowFunctionExpression" ? [nameOf(id ?? key)] : [];
}

/** The last word of an expression; of a call, what is called. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "PrivateIdentifier") return `#${node["name"]}`;
  if (node.type === "Identifier") return String(node["name"]);
  if (isMember(node)) return nameOf(node["property"]);
  return isCall(node) ? nameOf(node["callee"]) : "";
}

const promisingMethods = ({ body }: Node): string[] =>
  [...placed(body)]
    .filter(({ node }) => node.type === "TSMethodSignature" && isPromising(node))
    .map(({ node }) => nameOf(node["key"]));

function isPromising({ returnType }: Node): boolean {
  const type = isNode(returnType) ? returnType["typeAnnotation"] : undefined;
  return isNode(type) && nameOf(type["typeName"]) === "Promise";
}

function waitedFor(node: Node, text: string, known: Known): string[] {
  if (isAwait(node)) return awaited(caught(node["argument"] as Node), text, known);
  if (node.type === "ForOfStatement" && node["await"] === true) return [textOf(node["right"] as Node, text)];
  if (node.type === "NewExpression" && nameOf(node["callee"]) === "Promise") return ["Promise"];
  return isCall(node) && !known.counted.has(node) && isHandedOn(node, known) ? requestsOf(node) : [];
}

function awaited(argument: Node, text: string, known: Known): string[] {
  if (!isCall(argument)) return [textOf(argument, text)];
  const callee = argument["callee"] as Node;
  const isOwn = known.functions.has(nameOf(callee));
  if (!isMember(callee)) return isOwn ? [] : [nameOf(callee) || textOf(argument, text)];
  return isOwn && (callee["object"] as Node).type === "ThisExpression" ? [] : requestsOf(argument);
}

/** What is awaited, whatever becomes of its failures. */
function caught(argument: Node): Node {
  const { callee } = argument;
  if (!isNode(callee) || !isMember(callee) || nameOf(callee) !== "catch") return argument;
  return caught(callee["object"] as Node);
}

function isHandedOn({ callee, arguments: given }: Node, { promising, functions, asynchronous }: Known): boolean {
  if (!isNode(callee) || !isMember(callee)) return false;
  const object = callee["object"] as Node;
  if (isBudgeted(object)) return asynchronous.has(nameOf(callee));
  // an array has a `find` as well, of one argument; what other modules return is not on a seam
  if (nameOf(callee) === "find" && (given as Node[]).length < 2) return false;
  if (object.type === "ThisExpression" || (isCall(object) && !functions.has(nameOf(object)))) return false;
  return promising.has(nameOf(callee)) || nameOf(object) === "Promise";
}

/** What sends a request when its turn has come. */
const isBudgeted = (object: unknown): boolean => /^#?calls$/.test(nameOf(object));

/** The call; where it only passes on a request that is to be sent, that request. */
function requestsOf(call: Node): string[] {
  const requests = budgetedIn(call);
  return (requests.length > 0 ? requests : [call]).map(lineOf);
}

function budgetedIn({ type, callee, arguments: given }: Node): Node[] {
  if (type !== "CallExpression" || !isNode(callee) || !isBudgeted(callee["object"])) return [];
  const inside = [...placed(given)].map(({ node }) => node);
  return inside.filter((node) => isCall(node) && /^#?(client|pages)$/.test(ownerOf(node)));
}

const ownerOf = ({ callee }: Node): string => nameOf((callee as Node)["object"]);

function lineOf(call: Node): string {
  const { property, computed } = call["callee"] as Node;
  const owner = ownerOf(call).replace(/^#/, "").replace(/Of$/, "");
  return `${owner}.${computed ? `[${nameOf(property)}]` : nameOf(property)}`;
}

const textOf = ({ start, end }: Node, text: string): string => text.slice(start, end);
