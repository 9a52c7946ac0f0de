import type * as z from "zod";

/**
 * Whether the API page (docs/gateway-api.md) shows an operation. `undocumented`: the page names it as not stated, so a
 * service may have it and it may be tried; expect 404, 405 or 501. `none`: it makes no sense for the resource and is
 * refused before sending.
 */
export type Verb = "documented" | "undocumented" | "none";

/** A family of the API page that is a collection of things with ids. Data only; the client gives it life. */
export interface Resource<Wire extends z.ZodObject = z.ZodObject> {
  /** Names the family in metrics: `reserved_domains`. Unique among resources and modules. */
  readonly name: string;
  /** Names one of them in messages: `reserved domain`. */
  readonly title: string;
  /** Of the collection, under the base address, with a leading and without a trailing slash. */
  readonly path: string;
  /** The member of a list answer that holds the rows. */
  readonly listKey: string;
  /** What the service's own ids start with. For recognition in messages and input; answers are not held to it. */
  readonly idPrefix: string;
  /** Shape of an answer. Only `id` is required; unknown members pass. */
  readonly wire: Wire;
  /** Members that POST accepts. A service refuses others. */
  readonly create: readonly string[];
  /** Members that PATCH accepts as the page shows it. */
  readonly update: readonly string[];
  /** Members that PATCH may accept besides, where the page says that update, or its list of members, is not stated. */
  readonly updateUndocumented: readonly string[];
  /** Names of members, at any depth of a request body, whose text never belongs in a message. */
  readonly secrets: readonly string[];
  readonly verbs: Readonly<Record<"create" | "get" | "list" | "update" | "delete", Verb>>;
}

/** A configuration with a path of its own below a resource: replaced whole by PUT, removed by DELETE. */
export interface Module<Wire extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** With `{id}`, and `{edge_id}` where the owner is a route. */
  readonly path: string;
  /** Shape of an answer. Nothing in it is required; unknown members pass. */
  readonly wire: Wire;
  /** Members that PUT accepts. */
  readonly put: readonly string[];
  readonly secrets: readonly string[];
  readonly verbs: Readonly<Record<"put" | "get" | "delete", Verb>>;
}

/** Whose module it is. `edge_id` only for modules of a route, whose own id is `id`. */
export interface ModuleOwner {
  readonly id: string;
  readonly edge_id?: string;
}

/** One resource as the service answered it, in the service's own names. */
export type Remote<Wire extends z.ZodObject = z.ZodObject> = Readonly<z.output<Wire>> & { readonly id: string };

const allDocumented = {
  create: "documented",
  get: "documented",
  list: "documented",
  update: "documented",
  delete: "documented",
} as const;

type ResourceDefaults = "updateUndocumented" | "secrets" | "verbs";

/** Fills in what most resources share: every verb shown, nothing secret. */
export function defineResource<Wire extends z.ZodObject>(
  given: Omit<Resource<Wire>, ResourceDefaults> & {
    readonly updateUndocumented?: readonly string[];
    readonly secrets?: readonly string[];
    readonly verbs?: Partial<Resource["verbs"]>;
  },
): Resource<Wire> {
  return { updateUndocumented: [], secrets: [], ...given, verbs: { ...allDocumented, ...given.verbs } };
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
