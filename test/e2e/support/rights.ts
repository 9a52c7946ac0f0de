import type { Recorded } from "./recording-proxy.ts";

const verbs: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** The right that a request needs, as `verb resource.group/subresource`, like `rightsOf`. */
export function rightOf({ method, path }: Recorded): string | undefined {
  const { pathname, searchParams } = new URL(path, "http://any");
  const segments = pathname.split("/").filter(Boolean);
  const root = segments.shift();
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "apis" ? segments.shift() : undefined;
  segments.shift();
  if (segments[0] === "namespaces" && segments.length > 2) segments.splice(0, 2);
  const [resource, name, subresource] = segments;
  if (!resource) return undefined;
  const read = name ? "get" : searchParams.get("watch") ? "watch" : "list";
  return words(verbs[method] ?? read, resource, group, subresource);
}

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** Every right that a list of rules grants. */
export function rightsOf(rules: readonly Rule[]): string[] {
  return rules.flatMap(({ apiGroups, resources, verbs: granted }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) =>
        granted.map((verb) => {
          const [resource = "", subresource] = path.split("/");
          return words(verb, resource, group || undefined, subresource);
        }),
      ),
    ),
  );
}

const words = (verb: string, resource: string, group?: string, subresource?: string): string =>
  `${verb} ${resource}${group ? `.${group}` : ""}${subresource ? `/${subresource}` : ""}`;

/** Repeats a request without an effect, and resolves with the status of the answer. */
export async function askAgain({ method, path }: Recorded, server: string, token: string): Promise<number> {
  const url = new URL(path, server);
  if (method !== "GET") url.searchParams.set("dryRun", "All");
  // The API server checks the right before it reads the body.
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return response.status;
}
