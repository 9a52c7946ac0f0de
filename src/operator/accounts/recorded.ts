import type { RecordedIDs } from "../../account/key-proof.ts";
import type { Resource } from "../../gateway/resource.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import type { Stores } from "../kubernetes/indexes.ts";

/**
 * Ids of all remotes that objects have in an account, by the resource whose list shows them. `key`: `namespace/name` of
 * the GatewayAccount, or "" for the operator's own credentials.
 */
export function recordedIn(key: string, kinds: readonly Kind[], stores: Stores): RecordedIDs {
  const [namespace, name] = key ? key.split("/") : [];
  const recorded = new Map<Resource, Set<string>>();
  for (const kind of kinds) {
    const resource = listOf(kind);
    const objects = resource ? (stores.get(kind.kind)?.store.list(namespace) ?? []) : [];
    const ids = objects.filter((object) => object.status?.account === name).flatMap(({ status }) => status?.id ?? []);
    if (!resource || ids.length === 0) continue;
    const before = recorded.get(resource) ?? [];
    recorded.set(resource, new Set([...before, ...ids.map((id) => listedID(kind, id))]));
  }
  return recorded;
}

/** The id under which a list shows the remote. An entry is part of its parent, so it counts with the parent's id. */
const listedID = ({ location }: Kind, id: string): string =>
  location.type === "entry" ? id.slice(0, id.indexOf("/")) : id;
