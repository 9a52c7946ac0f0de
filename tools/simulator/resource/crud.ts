import { invalid, notFound } from "../http/refusal.ts";
import type { Call, Route } from "../http/route.ts";
import type { Settings } from "../settings.ts";
import { created, updated } from "../shape/check.ts";
import type { Members } from "../shape/members.ts";
import { isId } from "../shape/references.ts";
import type { Collection, Row, Verb } from "./collection.ts";
import { createRow, deleteRow, updateRow } from "./lifecycle.ts";
import { page } from "./paging.ts";

/** The row that the path parameter names. */
export function rowOf(collection: Collection, call: Call, param = "id"): Row {
  const id = call.params[param] ?? "";
  if (!isId(collection.prefix, id)) throw invalid(`${param}: ${id} is not a valid id`);
  const row = call.world.store.find(id);
  if (row?.collection !== collection) throw notFound(`${id} does not exist`);
  return row;
}

function refuseUpdate(given: Members, { refusedOnUpdate, refusedTogether }: Settings): void {
  const refused = refusedOnUpdate.find((member) => member in given);
  if (refused) throw invalid(`${refused} cannot be updated`);
  const together = refusedTogether.filter((member) => member in given);
  if (together.length > 1) throw invalid(`${together.join(" and ")} are mutually exclusive`);
}

const operations: Readonly<Record<Verb, (collection: Collection) => Omit<Route, "undocumented">>> = {
  create: (collection) => ({
    method: "POST",
    path: `/${collection.name}`,
    takes: "members",
    handle({ body, view, world }) {
      const row = createRow(collection, created(collection.fields, body, world.store), world);
      return { status: 201, body: { ...view.show(row), ...collection.showOnce?.(row) } };
    },
  }),
  list: (collection) => ({
    method: "GET",
    path: `/${collection.name}`,
    takes: "nothing",
    paged: true,
    handle: ({ query, view, world }) => ({ status: 200, body: page(collection, query, view, world) }),
  }),
  get: (collection) => ({
    method: "GET",
    path: `/${collection.name}/{id}`,
    takes: "nothing",
    handle: (call) => ({ status: 200, body: call.view.show(rowOf(collection, call)) }),
  }),
  update: (collection) => ({
    method: "PATCH",
    path: `/${collection.name}/{id}`,
    takes: "changes",
    handle(call) {
      const row = rowOf(collection, call);
      const given = updated(collection.fields, call.body, call.world.store);
      refuseUpdate(given, call.world.settings);
      return { status: 200, body: call.view.show(updateRow(row, given, call.world)) };
    },
  }),
  delete: (collection) => ({
    method: "DELETE",
    path: `/${collection.name}/{id}`,
    takes: "nothing",
    handle(call) {
      deleteRow(rowOf(collection, call), call.world);
      return { status: 204 };
    },
  }),
};

/** The operations that the collection declares. */
export function crudRoutes(collection: Collection): Route[] {
  return (Object.keys(collection.verbs) as Verb[]).map((verb) => ({
    ...operations[verb](collection),
    ...(collection.verbs[verb] === "undocumented" && { undocumented: true as const }),
  }));
}
