import { collectionNamed, collections } from "../collections.ts";
import { httpsRoutes, routeModuleNames } from "../families/edges/https-routes.ts";
import { tunnelSessions } from "../families/sessions/tunnel-sessions.ts";
import type { Collection, Row } from "../resource/collection.ts";
import { createRow, removeRow, updateRow } from "../resource/lifecycle.ts";
import { viewOf } from "../resource/view.ts";
import { changed, created, type Fields } from "../shape/check.ts";
import type { Members } from "../shape/members.ts";
import type { World } from "../world.ts";
import type { Control } from "./control.ts";

type Account = Pick<Control, "objects" | "get" | "put" | "patch" | "remove" | "insert" | "accountIsEmpty" | "summary">;

/** The part of `Control` that reads and changes rows. */
export function accountOf(world: World, origin: () => string): Account {
  const { store, settings } = world;
  const shown = (row: Row): Members => viewOf(store, origin(), settings).show(row);
  const rows = (collection: Collection): readonly Row[] => {
    world.agenda.advance(world.clock());
    return store.rows(collection);
  };
  const change = (id: string, members: Members, first: (fields: Fields) => Members): Members => {
    const row = existing(world, id);
    const { fields } = row.collection;
    const [given, others] = split(fields, members, "createOnly");
    return shown(updateRow(row, { ...first(fields), ...changed(fields, given, store), ...others }, world));
  };
  return {
    objects: (name) => rows(collectionNamed(name)).map(shown),
    get(id) {
      world.agenda.advance(world.clock());
      const row = store.find(id);
      return row ? shown(row) : null;
    },
    patch: (id, members) => change(id, members, () => ({})),
    put: (id, members) => change(id, members, unset),
    remove: (id) => removeRow(existing(world, id), world),
    insert(name, members) {
      const collection = collectionNamed(name);
      const [fields, others] = split(collection.fields, members, "updateOnly");
      return shown(createRow(collection, created(collection.fields, fields, store), world, others));
    },
    accountIsEmpty: () => collections.every((collection) => rows(collection).every((row) => isNotOurs(row))),
    summary: () => Object.fromEntries(collections.map((collection) => [collection.name, rows(collection).length])),
  };
}

export function existing({ store, agenda, clock }: World, id: string): Row {
  agenda.advance(clock());
  const row = store.find(id);
  if (!row) throw new Error(`there is no ${id}`);
  return row;
}

/** The API can create neither sessions, which agents start, nor routes without modules. */
function isNotOurs({ collection, members }: Row): boolean {
  if (collection === tunnelSessions) return true;
  return collection === httpsRoutes && routeModuleNames.every((name) => !members[name]);
}

function split(fields: Fields, members: Members, barred: "createOnly" | "updateOnly"): [Members, Members] {
  const accepted = ([name]: [string, unknown]) => fields[name] !== undefined && !fields[name][barred];
  const entries = Object.entries(members);
  return [
    Object.fromEntries(entries.filter(accepted)),
    Object.fromEntries(entries.filter((entry) => !accepted(entry))),
  ];
}

function unset(fields: Fields): Members {
  const optional = Object.entries(fields).filter(([, field]) => !field.required && !field.createOnly);
  return Object.fromEntries(optional.map(([name, field]) => [name, field.initial ?? null]));
}
