import { conflict, inUse } from "../http/refusal.ts";
import type { Members } from "../shape/members.ts";
import type { World } from "../world.ts";
import type { Collection, Row } from "./collection.ts";

/** Adds a row. Its members are checked already; `given` overrides read-only members. */
export function createRow(collection: Collection, members: Members, world: World, given: Members = {}): Row {
  const { unique } = collection;
  if (unique && world.store.owner(collection, members[unique])) {
    throw conflict(`${unique}: ${members[unique]} is already reserved`);
  }
  collection.rule?.(members, members, undefined);
  const { id, created_at: createdAt, ...others } = given;
  const row = world.store.add(
    collection,
    { ...members, ...collection.compute?.(members, world), ...others },
    {
      ...(typeof id === "string" && { id }),
      ...(typeof createdAt === "string" && { createdAt }),
    },
  );
  collection.changed?.(row, undefined, world);
  return world.store.find(row.id) ?? row;
}

/** Changes a row. The given members are checked already. */
export function updateRow(row: Row, given: Members, world: World): Row {
  const { merge, rule, changed } = row.collection;
  const members = merge ? merge(row.members, given) : { ...row.members, ...given };
  rule?.(given, members, row.id);
  const after = world.store.replace(row.id, members);
  changed?.(after, row, world);
  return world.store.find(row.id) ?? after;
}

export function deleteRow(row: Row, world: World): void {
  const users = world.store.users(row.id);
  if (users.length > 0) throw inUse(world.settings.inUseStatus, `${row.id} is in use by ${users.join(", ")}`);
  removeRow(row, world);
}

/** Also removes a row that is in use. */
export function removeRow(row: Row, world: World): void {
  world.store.remove(row.id);
  row.collection.removed?.(row, world);
}
