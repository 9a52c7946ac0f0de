import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { KubeClient, MergePatch } from "../../runtime/connection/client.ts";
import { isForbidden, isInvalid, isNotFound, KubeError } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import { keyOf } from "../../runtime/object.ts";
import { columnsOf, customResourceOf, initialStatus } from "../../schema/common.ts";
import type { Kind } from "../../schema/define.ts";
import { typeOf } from "../cluster/objects.ts";
import { duplicate, type Manifest } from "./manifests.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

interface Overlaid {
  /** All objects, as they are once the manifests are applied. */
  objects: ManagedObject[];
  /** Keys, from `overlayKey`, of the objects that a manifest describes. */
  described: Set<string>;
}

export const overlayKey = ({ kind, metadata }: ManagedObject): string => `${kind}/${keyOf(metadata)}`;

/**
 * Lays manifests over the objects of a cluster, as `kubectl apply` does. The API server fills in defaults and checks
 * admission in a dry run; where the user has no right to that, the schemas do, which know no rules across fields.
 */
export async function overlay(
  client: KubeClient,
  objects: readonly ManagedObject[],
  { manifests, namespace, problems }: { manifests: readonly Manifest[]; namespace: string; problems: string[] },
): Promise<Overlaid> {
  const known = new Map(objects.map((object) => [overlayKey(object), object]));
  const described = new Set<string>();
  const places = new Map<string, string>();
  for (const manifest of manifests) {
    const { where, object } = manifest;
    const kind = kinds.find((one) => one.kind === object.kind);
    if (!kind) continue;
    const given = {
      ...object,
      metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
    } as ManagedObject;
    const key = overlayKey(given);
    // One of the two manifests may name the namespace and the other not.
    const other = places.get(key);
    if (other !== undefined) {
      problems.push(duplicate(where, other));
      continue;
    }
    places.set(key, where);
    try {
      known.set(key, await applied(client, kind, given, known.get(key)));
      described.add(key);
    } catch (error) {
      if (!(error instanceof KubeError || error instanceof InvalidManifest)) throw error;
      problems.push(...refusalOf(error, manifest));
    }
  }
  return { objects: [...known.values()], described };
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

async function applied(
  client: KubeClient,
  kind: Kind,
  given: ManagedObject,
  before: ManagedObject | undefined,
): Promise<ManagedObject> {
  const type = typeOf(customResourceOf(kind));
  const patch = patchOf(given, before);
  try {
    const answer = before
      ? await client.patchMerge<ManagedObject>(type, given.metadata, patch, STRICT)
      : await client.create<ManagedObject>(type, given, STRICT);
    return asStored(kind, answer, before);
  } catch (error) {
    // A namespace that the manifests create does not exist yet.
    if (isInvalid(error) || !(isForbidden(error) || isNotFound(error))) throw error;
    refuseUnknown(kind, given);
    return asStored(kind, checked(kind, before ? withNextGeneration(merged(before, patch)) : given), before);
  }
}

/** As the API server would store it, with what it gives to each object. */
function asStored(kind: Kind, object: ManagedObject, before: ManagedObject | undefined): ManagedObject {
  const key = overlayKey(object);
  const created = { uid: `uid of ${key}`, generation: 1, creationTimestamp: new Date().toISOString() };
  const metadata = { ...created, ...object.metadata, resourceVersion: before?.metadata.resourceVersion ?? "1" };
  return {
    ...object,
    metadata,
    status: before?.status ?? object.status ?? initialStatus(columnsOf(kind)),
  } as ManagedObject;
}

function checked(kind: Kind, object: ManagedObject): ManagedObject {
  const result = customResourceOf(kind).spec.safeParse(object.spec);
  if (result.success) return { ...object, spec: result.data };
  const lines = result.error.issues.map(({ path, message }) => `spec.${path.join(".")}: ${message}`);
  throw new InvalidManifest(lines.join("; "));
}

/** In the words of the API server, for whoever may not ask it. */
function refuseUnknown(kind: Kind, { spec }: ManagedObject): void {
  const result = customResourceOf(kind).spec.safeParse(spec);
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
  const last = JSON.parse(before?.metadata.annotations?.[LAST_APPLIED] ?? "{}") as Partial<ManagedObject>;
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
