import type * as z from "zod";

/**
 * Whether the API page (docs/gateway-api.md) shows an operation. `undocumented`: the page names it as not stated, so a
 * service may have it and it may be tried; expect 404, 405 or 501. `none`: the resource cannot have it, and a call is
 * refused before it is sent.
 */
export type Verb = "documented" | "undocumented" | "none";

/** A family of the API page: a collection of resources with ids. It is data only; the calls are in the client. */
export interface Resource<Wire extends z.ZodObject = z.ZodObject> {
  /** The name of the family in metrics, such as `reserved_domains`. Unique among resources and modules. */
  readonly name: string;
  /** The name of one resource in messages, such as `reserved domain`. */
  readonly title: string;
  /** Path of the collection below the base URL, with a slash at its beginning and none at its end. */
  readonly path: string;
  /** The member of a list answer that holds the rows. */
  readonly listKey: string;
  /** The beginning of the service's ids, to recognize them in input and messages. Answers are not checked for it. */
  readonly idPrefix: string;
  /** The form of an answer. Only `id` is required; unknown members are dropped. */
  readonly wire: Wire;
  /** Members that POST accepts. The service refuses others. */
  readonly create: readonly string[];
  /** Members that PATCH accepts according to the API page. */
  readonly update: readonly string[];
  /** Members that PATCH may accept too, where the API page says that update, or its list of members, is not stated. */
  readonly updateUndocumented: readonly string[];
  /** Names of members, at any depth of a request body, whose text must not appear in a message. */
  readonly secrets: readonly string[];
  readonly verbs: Readonly<Record<"create" | "get" | "list" | "update" | "delete", Verb>>;
}

/** A configuration with its own path below a resource. PUT replaces all of it, DELETE removes it. */
export interface Module<Wire extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** With `{id}`, and `{edge_id}` where the owner is a route. */
  readonly path: string;
  /** The form of an answer. No member is required; unknown members are dropped. */
  readonly wire: Wire;
  /** Members that PUT accepts. */
  readonly put: readonly string[];
  readonly secrets: readonly string[];
  readonly verbs: Readonly<Record<"put" | "get" | "delete", Verb>>;
}

/** The resource that a module belongs to. For a route, `id` is the id of the route and `edge_id` that of its edge. */
export interface ModuleOwner {
  readonly id: string;
  readonly edge_id?: string;
}

/** One resource as the service answered it, under the names of the service. */
export type Remote<Wire extends z.ZodObject = z.ZodObject> = Readonly<z.output<Wire>> & { readonly id: string };

const allDocumented = {
  create: "documented",
  get: "documented",
  list: "documented",
  update: "documented",
  delete: "documented",
} as const;

/** All members that PATCH may accept, whether the API page has them or not. */
export const updateMembers = ({ update, updateUndocumented }: Resource): string[] => [...update, ...updateUndocumented];

type ResourceDefaults = "path" | "listKey" | "updateUndocumented" | "secrets";

/** Adds the defaults: path and list key are the name, every verb is documented, and no member is secret. */
export function defineResource<Wire extends z.ZodObject>(
  given: Omit<Resource<Wire>, ResourceDefaults | "verbs"> &
    Partial<Pick<Resource, ResourceDefaults>> & { readonly verbs?: Partial<Resource["verbs"]> },
): Resource<Wire> {
  const { name, verbs } = given;
  const defaults = { path: `/${name}`, listKey: name, updateUndocumented: [], secrets: [] };
  return { ...defaults, ...given, verbs: { ...allDocumented, ...verbs } };
}

export function defineModule<Wire extends z.ZodObject>(
  given: Omit<Module<Wire>, "secrets" | "verbs"> & {
    readonly secrets?: readonly string[];
    readonly verbs?: Partial<Module["verbs"]>;
  },
): Module<Wire> {
  return {
    secrets: [],
    ...given,
    verbs: { put: "documented", get: "documented", delete: "documented", ...given.verbs },
  };
}
