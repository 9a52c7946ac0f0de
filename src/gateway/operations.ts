import type { Verb } from "./resource.ts";
import { eventSources, modules, resources, sessionCommands } from "./resources/index.ts";

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Template, with `{id}` and the like. */
  readonly path: string;
  readonly verb: Exclude<Verb, "none">;
}

const methodOf = {
  create: "POST",
  list: "GET",
  get: "GET",
  update: "PATCH",
  put: "PUT",
  delete: "DELETE",
} as const;

type Verbs = Readonly<Partial<Record<keyof typeof methodOf, Verb>>>;

/** Every operation that the client has a method for, in the terms of the API page. */
export function operations(): Operation[] {
  return [
    ...resources.flatMap(({ verbs, path }) => ofVerbs(verbs, path, `${path}/{id}`)),
    ...modules.flatMap(({ verbs, path }) => ofVerbs(verbs, path, path)),
    ...ofVerbs(eventSources.verbs, eventSources.path, `${eventSources.path}/{type}`),
    ...Object.values(sessionCommands).map((path) => ({ method: "POST", path, verb: "documented" }) as const),
  ];
}

function ofVerbs(verbs: Verbs, collection: string, item: string): Operation[] {
  return Object.entries(verbs).flatMap(([name, verb]) => {
    if (verb === "none") return [];
    const path = name === "create" || name === "list" ? collection : item;
    return [{ method: methodOf[name as keyof typeof methodOf], path, verb }];
  });
}
