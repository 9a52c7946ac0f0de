/** Flags that choose namespaces, with the meaning that they have in kubectl. */
export interface ScopeFlags {
  namespace?: string;
  allNamespaces?: boolean;
}

/** The objects that a command is about. */
export interface Scope {
  /** The namespace that `-n` names, else that of the kubeconfig context. */
  namespace: string;
  /** With `-A`: the objects of all namespaces. */
  isAll: boolean;
}

/** `context`: the namespace of the kubeconfig context. */
export const scopeOf = ({ namespace, allNamespaces = false }: ScopeFlags, context: string): Scope => ({
  namespace: namespace || context,
  isAll: allNamespaces,
});

/** Whether an object of this namespace is meant. What has no namespace, as a remote without an object, is with `-A`. */
export const includes = ({ namespace, isAll }: Scope, of: string | undefined): boolean => isAll || of === namespace;

/** For commands that need no other objects: only those of the namespace are read, for which a user may have the right. */
export const whichOf = ({ namespace, isAll }: Scope): { namespace: string; namespaces: readonly string[] } => ({
  namespace,
  namespaces: isAll ? [] : [namespace],
});

/** Of which objects there are none, for people. */
export const placeOf = ({ namespace, isAll }: Scope): string => (isAll ? "any namespace" : `namespace ${namespace}`);

/** The flag with which another command is about the same objects. */
export const flagOf = ({ namespace, isAll }: Scope): string => (isAll ? "-A" : `-n ${namespace}`);

/** A name as people need it: with its namespace where more than one may be meant. */
export const nameIn = (
  { namespace, isAll }: Scope,
  kind: string,
  object: { namespace: string; name: string },
): string =>
  isAll || object.namespace !== namespace ? `${kind} ${object.namespace}/${object.name}` : `${kind}/${object.name}`;
