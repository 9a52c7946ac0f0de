import type { RecordedIDs } from "../../account/key-proof.ts";
import { evidenceOf, type Source } from "../../objects/evidence.ts";
import type { Kind } from "../../schema/define.ts";
import type { Stores } from "../kubernetes/indexes.ts";

/**
 * Ids of all remotes that objects have in an account, by what shows them. `key`: `namespace/name` of the GatewayAccount,
 * or "" for the operator's own credentials.
 */
export function recordedIn(key: string, kinds: readonly Kind[], stores: Stores): RecordedIDs {
  const [namespace, name] = key ? key.split("/") : [];
  const recorded = new Map<Source, Set<string>>();
  for (const kind of kinds) {
    const objects = stores.get(kind.kind)?.store.list(namespace) ?? [];
    for (const object of objects.filter(({ status }) => status?.id !== undefined && status.account === name))
      for (const [source, id] of evidenceOf(kind, object)) {
        const ids = recorded.get(source) ?? new Set();
        recorded.set(source, ids.add(id));
      }
  }
  return recorded;
}
