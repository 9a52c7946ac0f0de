import { notFound, unsupported } from "./refusal.ts";
import type { Route } from "./route.ts";

interface Node {
  readonly literal: Map<string, Node>;
  parameter?: { readonly name: string; readonly node: Node };
  readonly routes: Map<string, Route>;
}

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = (method: string, path: string) => Match;

const leaf = (): Node => ({ literal: new Map(), routes: new Map() });

function grow(node: Node, segment: string): Node {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (name) {
    node.parameter ??= { name, node: leaf() };
    return node.parameter.node;
  }
  const next = node.literal.get(segment) ?? leaf();
  node.literal.set(segment, next);
  return next;
}

/** Finds the route of a request, or refuses with 404 or 405. */
export function createRouter(routes: readonly Route[]): Router {
  const root = leaf();
  for (const route of routes) {
    const end = route.path.slice(1).split("/").reduce(grow, root);
    end.routes.set(route.method, route);
  }
  return (method, path) => {
    const params: Record<string, string> = {};
    let node: Node | undefined = root;
    for (const segment of path.slice(1).split("/")) {
      node = step(node, segment, params);
      if (!node) break;
    }
    if (!node || node.routes.size === 0) throw notFound(`${path} is not an address of this service`);
    const route = node.routes.get(method);
    if (!route) throw unsupported(`${method} is not supported for ${path}`);
    return { route, params };
  };
}

function step(node: Node, segment: string, params: Record<string, string>): Node | undefined {
  const literal = node.literal.get(segment);
  if (literal || !node.parameter) return literal;
  params[node.parameter.name] = decode(segment);
  return node.parameter.node;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
