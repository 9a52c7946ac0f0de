import type { ManagedObject, SecretVersion } from "./object.ts";

// A value is identified by its Secret, its key and the resourceVersion with which it was read.

/** The Secret values that this object has sent to the account, according to its status. */
export const appliedSecretsOf = ({ status }: ManagedObject): readonly SecretVersion[] => status?.appliedSecrets ?? [];

/** Paths of the spec fields whose value in `current` is not among the applied ones. */
export const unsentFields = (current: readonly SecretVersion[], applied: readonly SecretVersion[]): string[] =>
  current.flatMap(({ name, resourceVersion, keys }) => {
    const known = applied.find((one) => one.name === name && one.resourceVersion === resourceVersion);
    return Object.keys(keys).filter((field) => known?.keys[field] !== keys[field]);
  });

/** Names of the Secrets with a value in `current` that is not among the applied ones. */
export const unsentSecrets = (current: readonly SecretVersion[], applied: readonly SecretVersion[]): string[] =>
  current.filter((version) => unsentFields([version], applied).length > 0).map(({ name }) => name);

/** Whether both name the same values. */
export const areSameVersions = (some: readonly SecretVersion[], others: readonly SecretVersion[]): boolean =>
  some.length === others.length && [...unsentFields(some, others), ...unsentFields(others, some)].length === 0;

/**
 * The applied values that still count while `next` is being sent. If the spec is changed back before the outcome is
 * known, no value may look as if it had been there all the time. A resourceVersion never comes back, but a key or a
 * name may.
 */
export function keptWhileSending(applied: readonly SecretVersion[], next: readonly SecretVersion[]): SecretVersion[] {
  return applied.flatMap((version) => {
    const wanted = next.find(({ name }) => name === version.name)?.keys;
    const keys = Object.entries(version.keys).filter(([field, key]) => wanted?.[field] === key);
    return keys.length > 0 ? [{ ...version, keys: Object.fromEntries(keys) }] : [];
  });
}
