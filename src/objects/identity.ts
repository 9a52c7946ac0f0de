import type * as z from "zod";
import type { Kind } from "../schema/define.ts";
import { hostport } from "../schema/hosts.ts";
import { traitsOf } from "../schema/traits.ts";
import { appliedPaths } from "../schema/wire/applied.ts";
import { membersOf } from "../schema/wire/compare.ts";
import { isDeleting, type ManagedObject, retiringIDs } from "./object.ts";

/** Finds the object to which a reference by name points. */
interface Lookup {
  get(kind: string, namespace: string, name: string): ManagedObject | undefined;
}

const noObjects: Lookup = { get: () => undefined };

/**
 * The remote's id as it follows from the spec. Undefined if the service chooses the id, or a referenced object has no
 * id yet.
 */
export function idFromSpec(kind: Kind, object: ManagedObject, cluster: Lookup = noObjects): string | undefined {
  const { location, spec } = kind;
  if (location.type === "collection") return undefined;
  const parts = location.idFields.map((field) => partOf(spec.shape[field] as z.ZodType, object, field, cluster));
  return parts.every((part) => part !== undefined) ? parts.join("/") : undefined;
}

function partOf(schema: z.ZodType, { spec, metadata }: ManagedObject, field: string, cluster: Lookup) {
  const { reference } = traitsOf(schema);
  if (!reference) return spec[field] as string | undefined;
  const { id, kind = reference.kinds[0] ?? "", name } = spec[field] as { id?: string; kind?: string; name?: string };
  if (id !== undefined || name === undefined) return id;
  return cluster.get(kind, metadata.namespace, name)?.status?.[reference.statusField] as string | undefined;
}

/**
 * Whether the spec says which remote an object has, so that it needs no mark, and no search, to find it. No other object
 * hands it over.
 */
export const isNamedBySpec = ({ location }: Kind): boolean => location.type !== "collection";

/** The id under which a list shows the remote. An entry is part of its parent, so it counts with the parent's id. */
export const listedID = ({ location }: Kind, id: string): string =>
  location.type === "entry" ? id.slice(0, Math.max(id.indexOf("/"), 0)) : id;

/**
 * Ids of an object's remotes: the one in its status, those that are being replaced, and the one that its spec names.
 */
export const remoteIDsOf = (kind: Kind, object: ManagedObject): string[] => {
  const { status } = object;
  const ids = [status?.id, ...retiringIDs(status), idFromSpec(kind, object)].filter((id) => id !== undefined);
  return ids.length > 1 ? [...new Set(ids)] : ids;
};

/** The id that an object is to adopt. Undefined once it has a remote. */
export const wantedIDOf = ({ spec, status }: ManagedObject): string | undefined =>
  status?.id === undefined ? spec.adopt?.id : undefined;

/** The natural key in a spec or in an answer, as the service compares it. Undefined for kinds without a natural key. */
export function naturalKeyOf(
  { naturalKey, spec }: Kind,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!naturalKey || values[naturalKey] === undefined) return undefined;
  const { normalize = (value: unknown) => value } = traitsOf(spec.shape[naturalKey] as z.ZodType);
  return String(normalize(values[naturalKey]));
}

/** Whether a remote has the natural key of a spec; true for kinds without a natural key. */
export const hasNaturalKey = (
  kind: Kind,
  remote: Readonly<Record<string, unknown>>,
  spec: Readonly<Record<string, unknown>>,
): boolean => naturalKeyOf(kind, remote) === naturalKeyOf(kind, spec);

/** The addresses on which a remote listens by an answer or a status, as the service compares them. */
export function listenedOn({ listensOn }: Kind, values: Readonly<Record<string, unknown>> = {}): string[] {
  const shown = listensOn === undefined ? undefined : values[listensOn];
  return Array.isArray(shown) ? [...new Set(shown.map((address) => String(hostport(address))))] : [];
}

/** For remotes that are entries in a list of another resource: the ids of those resources. */
export const parentIDsOf = (kind: Kind, object: ManagedObject): string[] =>
  kind.location.type === "entry" ? remoteIDsOf(kind, object).map((id) => listedID(kind, id)) : [];

/**
 * Members of the remote that the spec sets, plus members that an earlier spec has set and that still have to be
 * cleared.
 */
export function managedMembers(kind: Kind, { spec, status, metadata }: ManagedObject): string[] {
  const present = appliedPaths(kind.spec, spec);
  const sent = status?.appliedFields;
  const fields = isDeleting({ metadata } as ManagedObject) ? (sent ?? present) : [...present, ...(sent ?? [])];
  return [...membersOf(kind.spec)].flatMap(([member, { fields: own }]) =>
    own.some((field) => fields.includes(field)) ? [member] : [],
  );
}

/** Whether an object that only sets modules sets none, and has none to clear. */
export const setsNoModule = (kind: Kind, object: ManagedObject): boolean =>
  kind.location.type === "modules" && managedMembers(kind, object).length === 0;
