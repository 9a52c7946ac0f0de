import { customResources, kinds } from "../../kinds/index.ts";
import { keyWithKindOf, type ManagedObject, typeOf } from "../../objects/object.ts";
import type { KubeClient, MergePatch } from "../../runtime/connection/client.ts";
import { isForbidden, isInvalid, isNotFound, KubeError } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import { refusalsOf } from "../../schema/admission.ts";
import { columnsOf, initialStatus } from "../../schema/common.ts";
import type { CustomResource, Kind } from "../../schema/define.ts";
import { lastAppliedTo } from "../cluster/last-applied.ts";
import { duplicate, type Manifest } from "./manifests.ts";

interface Overlaid {
  /** All objects, as they are once the manifests are applied. */
  objects: ManagedObject[];
  /** Keys, from `keyWithKindOf`, of the objects that a manifest describes. */
  described: Set<string>;
}

/**
 * Lays manifests over the objects of a cluster, as `kubectl apply` does. The API server fills in defaults and checks
 * admission in a dry run; where the user has no right to that, the same rules are asked here, but for those about changes.
 */
export async function overlay(
  client: KubeClient,
  objects: readonly ManagedObject[],
  { manifests, namespace, problems }: { manifests: readonly Manifest[]; namespace: string; problems: string[] },
): Promise<Overlaid> {
  const known = new Map(objects.map((object) => [keyWithKindOf(object), object]));
  const described = new Set<string>();
  const places = new Map<string, string>();
  for (const { manifest, resource, given } of manifests.flatMap((one) => givenBy(one, namespace) ?? [])) {
    const { where } = manifest;
    const key = keyWithKindOf(given);
    // One of the two manifests may name the namespace and the other not.
    const other = places.get(key);
    if (other !== undefined) {
      problems.push(duplicate(where, other));
      continue;
    }
    places.set(key, where);
    try {
      const stored = await overlaid(client, resource, given, known.get(key));
      if (!stored) continue;
      known.set(key, stored);
      described.add(key);
    } catch (error) {
      if (!(error instanceof KubeError || error instanceof InvalidManifest)) throw error;
      problems.push(...refusalOf(error, manifest));
    }
  }
  return { objects: [...known.values()], described };
}

/** The object that a manifest describes. Undefined for what is none of ours, such as a Secret. */
function givenBy(manifest: Manifest, namespace: string) {
  const { object } = manifest;
  const resource = customResources.find((one) => one.kind === object.kind);
  const metadata = { ...object.metadata, namespace: object.metadata.namespace ?? namespace };
  return resource && { manifest, resource, given: { ...object, metadata } as ManagedObject };
}

/** Undefined: the API server would have the object, but it stands for nothing that can be planned. */
async function overlaid(
  client: KubeClient,
  resource: CustomResource,
  given: ManagedObject,
  known: ManagedObject | undefined,
): Promise<ManagedObject | undefined> {
  const kind = kinds.find((one) => one.kind === resource.kind);
  if (kind) return asStored(kind, await applied(client, resource, given, known), known);
  await applied(client, resource, given, await presentOf(client, resource, given));
  return undefined;
}

class InvalidManifest extends Error {
  override readonly name = "InvalidManifest";
}

/** What the API server says of unknown fields and fields that stand twice, at the lines where they are. */
function refusalOf(error: Error, { where, at, object }: Manifest): string[] {
  const text = textOf(error);
  const title = `${object.kind}/${object.metadata.name}`;
  const fields = [...text.matchAll(/(unknown|duplicate) field "([^"]+)"/g)];
  if (fields.length === 0) return [`${where}: ${title}: ${text}`];
  return fields.map(([, what, path = ""]) => `${at?.(path) ?? where}: ${title}: ${what} field "${path}"`);
}

const STRICT = { dryRun: true, isStrict: true };

/** What the API server would make of it, before it gives it a uid. */
async function applied(
  client: KubeClient,
  resource: CustomResource,
  given: ManagedObject,
  before: ManagedObject | undefined,
): Promise<ManagedObject> {
  const type = typeOf(resource);
  const patch = patchOf(given, before);
  try {
    return before
      ? await client.patchMerge<ManagedObject>(type, given.metadata, patch, STRICT)
      : await client.create<ManagedObject>(type, given, STRICT);
  } catch (error) {
    // A namespace that the manifests create does not exist yet.
    if (isInvalid(error) || !(isForbidden(error) || isNotFound(error))) throw error;
    refuseUnknown(resource, given);
    return checked(resource, before ? withNextGeneration(merged(before, patch)) : given);
  }
}

/** Undefined also for whoever may not read it: then the API server says whether it could be created. */
async function presentOf(client: KubeClient, resource: CustomResource, { metadata }: ManagedObject) {
  try {
    return await client.get<ManagedObject>(typeOf(resource), metadata);
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** As the API server would store it, with what it gives to each object. */
function asStored(kind: Kind, object: ManagedObject, before: ManagedObject | undefined): ManagedObject {
  const key = keyWithKindOf(object);
  const created = { uid: `uid of ${key}`, generation: 1, creationTimestamp: new Date().toISOString() };
  const metadata = { ...created, ...object.metadata, resourceVersion: before?.metadata.resourceVersion ?? "1" };
  return {
    ...object,
    metadata,
    status: before?.status ?? object.status ?? initialStatus(columnsOf(kind)),
  } as ManagedObject;
}

/** With its defaults. Rules about a change of the object are not asked. */
function checked({ spec: schema, rules }: CustomResource, object: ManagedObject): ManagedObject {
  const { data } = schema.safeParse(object.spec);
  const refusals = refusalsOf(schema, data ?? object.spec, rules);
  if (refusals.length === 0) return { ...object, spec: data as ManagedObject["spec"] };
  const lines = refusals.map(({ path, message }) => `${["spec", path].filter(Boolean).join(".")}: ${message}`);
  throw new InvalidManifest(lines.join("; "));
}

/** In the words of the API server, for whoever may not ask it. */
function refuseUnknown({ spec: schema }: CustomResource, { spec }: ManagedObject): void {
  const result = schema.safeParse(spec);
  const unknown = result.success ? droppedFrom(spec, result.data, "spec") : [];
  if (unknown.length > 0) throw new InvalidManifest(unknown.map((path) => `unknown field "${path}"`).join(", "));
}

function droppedFrom(given: unknown, kept: unknown, path: string): string[] {
  if (Array.isArray(given) && Array.isArray(kept))
    return given.flatMap((item, index) => droppedFrom(item, kept[index], `${path}[${index}]`));
  if (!isMembers(given) || !isMembers(kept)) return [];
  return Object.entries(given).flatMap(([name, value]) =>
    name in kept ? droppedFrom(value, kept[name], `${path}.${name}`) : [`${path}.${name}`],
  );
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The merge patch of `kubectl apply`: it removes fields that were applied before and are no longer in the manifest. */
function patchOf({ metadata, spec, ...others }: ManagedObject, before: ManagedObject | undefined): MergePatch {
  const last = ((before && lastAppliedTo(before)) ?? {}) as Partial<ManagedObject>;
  const { annotations, labels } = metadata;
  const lastMetadata = last.metadata as Partial<ManagedObject["metadata"]> | undefined;
  const { apiVersion: _, kind: __, status: ___, ...unknown } = others;
  return {
    ...unknown,
    metadata: {
      annotations: membersPatch(lastMetadata?.annotations ?? {}, annotations ?? {}),
      labels: membersPatch(lastMetadata?.labels ?? {}, labels ?? {}),
    },
    spec: membersPatch(last.spec ?? {}, spec ?? {}),
  };
}

function membersPatch(last: Members, wanted: Members): Members {
  const removed = Object.keys(last).filter((key) => !(key in wanted));
  const kept = Object.entries(wanted).map(([key, value]): [string, unknown] => {
    const before = last[key];
    return [key, isMembers(value) ? membersPatch(isMembers(before) ? before : {}, value) : value];
  });
  return Object.fromEntries([...removed.map((key): [string, unknown] => [key, null]), ...kept]);
}

/** RFC 7386. */
function merged<T extends Members>(object: T, patch: Members): T {
  const result: Record<string, unknown> = { ...object };
  for (const [key, value] of Object.entries(patch)) {
    const before = result[key];
    if (value === null) delete result[key];
    else result[key] = isMembers(value) ? merged(isMembers(before) ? before : {}, value) : value;
  }
  return result as T;
}

const withNextGeneration = (object: ManagedObject): ManagedObject => ({
  ...object,
  metadata: { ...object.metadata, generation: object.metadata.generation + 1 },
});
