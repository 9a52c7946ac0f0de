import { notFound, unsupported } from "./refusal.ts";
import type { Route } from "./route.ts";

interface Node {
  readonly literal: Map<string, Node>;
  parameter?: Node;
  readonly routes: Map<string, Route>;
}

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export type Router = (method: string, path: string) => Match;

const leaf = (): Node => ({ literal: new Map(), routes: new Map() });

function grow(node: Node, segment: string): Node {
  if (segment.startsWith("{")) {
    node.parameter ??= leaf();
    return node.parameter;
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
    const segments = path.slice(1).split("/");
    let node: Node | undefined = root;
    for (const segment of segments) node = node && (node.literal.get(segment) ?? node.parameter);
    if (!node || node.routes.size === 0) throw notFound(`${path} is not an address of this service`);
    const route = node.routes.get(method);
    if (!route) throw unsupported(`${method} is not supported for ${path}`);
    return { route, params: paramsOf(route, segments) };
  };
}

function paramsOf(route: Route, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [index, part] of route.path.slice(1).split("/").entries()) {
    if (part.startsWith("{")) params[part.slice(1, -1)] = decode(segments[index] ?? "");
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
