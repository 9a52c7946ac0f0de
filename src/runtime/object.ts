export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** As the API server sends it: times are RFC 3339 strings, resourceVersion is a decimal number in a string. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: readonly string[];
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  ownerReferences?: readonly OwnerReference[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [member: string]: unknown;
}

/** Where the API server serves the objects of a kind. `group: ""` is the core group. */
export interface ResourceType {
  group: string;
  version: string;
  plural: string;
  kind: string;
  /** default true */
  namespaced?: boolean;
}

/** Namespace and name of one object. A cluster-scoped object has no namespace. */
export interface ObjectRef {
  namespace?: string | undefined;
  name: string;
}

/** `namespace/name`, or `name` alone for a cluster-scoped object. */
export function keyOf(object: { metadata: ObjectRef } | ObjectRef): string {
  const { namespace, name } = "metadata" in object ? object.metadata : object;
  return namespace ? `${namespace}/${name}` : name;
}

/** The namespace is "" for a cluster-scoped object. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
}

export const apiVersionOf = ({ group, version }: ResourceType): string => (group ? `${group}/${version}` : version);

/** `plural.group`, as kubectl and RBAC name a resource. */
export const resourceName = ({ group, plural }: ResourceType): string => (group ? `${plural}.${group}` : plural);

/** URL path of an object; without a name, of the collection in the namespace; without both, in all namespaces. */
export function pathOf(type: ResourceType, ref: Partial<ObjectRef> = {}, subresource?: string): string {
  const segments = type.group ? ["apis", type.group, type.version] : ["api", type.version];
  if (ref.namespace && type.namespaced !== false) segments.push("namespaces", ref.namespace);
  segments.push(type.plural);
  if (ref.name) segments.push(ref.name);
  if (subresource) segments.push(subresource);
  return `/${segments.map(encodeURIComponent).join("/")}`;
}
