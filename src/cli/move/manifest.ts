import type { ManagedObject } from "../../objects/object.ts";
import { isRetainedByPolicy } from "../../objects/origin.ts";
import { LAST_APPLIED } from "../../runtime/cache/freeze.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { API_VERSION, GROUP } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { type Need, needsOf } from "../../schema/wire/needs.ts";
import { lastAppliedTo } from "../cluster/last-applied.ts";

/** The namespace and name of an object. */
export interface Place {
  namespace: string;
  name: string;
}

/** An object that moves to another name, namespace or cluster. */
export interface Move {
  kind: Kind;
  from: Place;
  to: Place;
  /** The context of the kubeconfig for the cluster it moves to. Unset: its own cluster. */
  toContext?: string | undefined;
}

export const textOf = ({ namespace, name }: Place): string => `${namespace}/${name}`;

/** What the annotation release-to of the old object says: the new object and, before it, the other cluster. */
export const releaseTarget = ({ to, toContext }: Move): string =>
  toContext === undefined ? textOf(to) : `${toContext}/${textOf(to)}`;

/** Whether names lead from what refers to the old object to the new one. */
export const isNear = ({ from, to, toContext }: Move): boolean =>
  toContext === undefined && from.namespace === to.namespace;

type Reference = Extract<Need, { type: "reference" }>;

/** References by name. Their objects are in the namespace of the one that has them. */
export const namedReferences = ({ spec: schema }: Kind, spec: unknown): Reference[] =>
  needsOf(schema, spec).filter((need): need is Reference => need.type === "reference" && need.to.name !== undefined);

export const kindOfReference = ({ to, trait }: Reference): string => to.kind ?? trait.kinds[0] ?? "";

/** Whether the reference, of an object in the namespace of the old one, names the old object. */
export const refersToMoved = (need: Reference, { kind, from }: Move): boolean =>
  need.to.name === from.name && kindOfReference(need) === kind.kind;

/** Whether the reference takes the id of a remote. Some references take another value, such as an address. */
export const takesID = ({ trait }: Reference): boolean => trait.statusField === "id";

/** The keys that lead to the field with this path, as in `ipRestriction.ipPolicyRefs[0]`. */
export const keysOfPath = (path: string): (string | number)[] =>
  [...path.matchAll(/([^.[\]]+)(\])?/g)].map(([, key = "", isIndex]) => (isIndex ? Number(key) : key));

/**
 * The spec of the new object. `byID`: the ids that take the place of references by name, by the path of the field.
 * Another cluster does not know that the remote was created by an operator, so what a deletion does is written out.
 */
export function movedSpec(
  { from, toContext }: Move,
  old: ManagedObject,
  byID: ReadonlyMap<string, string>,
): ManagedObject["spec"] {
  const spec = structuredClone(old.spec);
  for (const [path, id] of byID) setAt(spec, keysOfPath(path), { id });
  const adopted = { ...spec, adopt: { id: old.status?.id ?? "", from: textOf(from) } };
  return toContext === undefined
    ? adopted
    : { ...adopted, deletionPolicy: isRetainedByPolicy(old) ? "Retain" : "Delete" };
}

export function setAt(target: unknown, [key = "", ...rest]: readonly (string | number)[], value: unknown): void {
  const members = target as Record<string | number, unknown>;
  if (rest.length === 0) members[key] = value;
  else setAt(members[key], rest, value);
}

/**
 * Annotations and labels of the operator, kubectl and deployment tools. The copy must not have them: the tools might
 * prune it.
 */
const NOTES = [
  `${GROUP}/`,
  LAST_APPLIED,
  ...["meta.helm.sh/", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "helm.sh/"],
  ...["argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"],
];

function ofUser(notes: Readonly<Record<string, string>> = {}): Record<string, string> | undefined {
  const kept = Object.entries(notes).filter(([key]) => !NOTES.some((note) => key.startsWith(note)));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** The new object, as a person would write it. */
export function movedManifest(move: Move, old: ManagedObject, byID: ReadonlyMap<string, string>): KubeObject {
  const [labels, annotations] = [ofUser(old.metadata.labels), ofUser(old.metadata.annotations)];
  return {
    apiVersion: API_VERSION,
    kind: move.kind.kind,
    metadata: { ...move.to, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: movedSpec(move, old, byID),
  } as KubeObject;
}

/**
 * The new object as it is created. It remembers what `kubectl apply` has applied to the old one: without that, the next
 * apply would warn, and keep the fields that its manifest no longer has.
 */
export function withLastApplied(manifest: KubeObject, { to }: Move, old: ManagedObject): KubeObject {
  const applied = renamed(lastAppliedTo(old), to);
  if (applied === undefined) return manifest;
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, [LAST_APPLIED]: applied } } };
}

/** Undefined also for one that is too deep to be written. */
function renamed(applied: ReturnType<typeof lastAppliedTo>, to: Place): string | undefined {
  try {
    return applied && JSON.stringify({ ...applied, metadata: { ...(applied["metadata"] as object), ...to } });
  } catch {
    return undefined;
  }
}
