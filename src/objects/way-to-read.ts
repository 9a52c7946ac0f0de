/**
 * What a person has to do so that the operator reads all objects of a kind. `namespaces`: where it cannot read them. Empty:
 * in none.
 */
export const wayToRead = (kind: string, namespaces: readonly string[]): string =>
  namespaces.length === 0
    ? `Let the operator list and watch all ${kind} objects`
    : `Let the operator list and watch the ${kind} objects of ${named(namespaces)}, or take ${it(namespaces)} out of WATCH_NAMESPACES`;

/** The same for all kinds. */
export const wayToReadNamespaces = (namespaces: readonly string[]): string =>
  `Let the operator read ${named(namespaces)}, or take ${it(namespaces)} out of WATCH_NAMESPACES`;

/** Names the first namespace and counts the others. Each is named once those before it can be read. */
const named = ([first, ...others]: readonly string[]): string =>
  others.length > 0 ? `namespace "${first}" and ${others.length} more` : `namespace "${first}"`;

const it = ({ length }: readonly string[]): string => (length > 1 ? "them" : "it");
