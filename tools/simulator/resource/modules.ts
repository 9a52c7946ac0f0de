import { notFound } from "../http/refusal.ts";
import type { Call, Route } from "../http/route.ts";
import type { Check, Field, Fields } from "../shape/check.ts";
import type { Members } from "../shape/members.ts";
import type { Links, Row } from "./collection.ts";
import { updateRow } from "./lifecycle.ts";
import { echoOf } from "./view.ts";

/** A part of an edge or route with operations of its own. PUT replaces all of it; null means that it is not set. */
export interface Module {
  readonly name: string;
  readonly check: Check;
  /** The value as answers show it. Default: as it was given. */
  readonly show?: (value: Members, links: Links, ownerId: string) => Members;
}

export type ModuleVerb = "PUT" | "GET" | "DELETE";

/** The fields for modules in the body of an edge. A module that is null or left out is not changed. */
export const moduleFields = (modules: readonly Module[]): Fields =>
  Object.fromEntries(
    modules.map(({ name, check }): [string, Field] => [name, { check, nullable: true, initial: null }]),
  );

/** The modules as the answers of an edge or route show them. */
export const showModules =
  (modules: readonly Module[]) =>
  (members: Members, links: Links, ownerId: string): Members =>
    Object.fromEntries(
      modules.map((module) => [module.name, showModule(module, members[module.name], links, ownerId)]),
    );

function showModule({ show }: Module, value: unknown, links: Links, ownerId: string): Members | null {
  if (!value) return null;
  return show ? show(value as Members, links, ownerId) : (value as Members);
}

export interface ModuleOwner {
  /** Path of the object that has the module. */
  readonly path: string;
  readonly find: (call: Call) => Row;
}

export function moduleRoutes(owner: ModuleOwner, module: Module, documented: readonly ModuleVerb[]): Route[] {
  const { name, check } = module;
  const path = `${owner.path}/${name}`;
  const unset = (row: Row) => notFound(`${row.id} has no ${name} module`);
  const answer = (row: Row, { view, world }: Call) => {
    const shown = showModule(module, row.members[name], view, row.id);
    return shown && world.settings.echo ? { ...shown, ...echoOf(row) } : shown;
  };
  const routes: Route[] = [
    {
      method: "PUT",
      path,
      takes: "members",
      handle(call) {
        const row = owner.find(call);
        const value = check(call.body, "", call.world.store) as Members;
        const after = updateRow(row, { [name]: value }, call.world);
        return { status: 200, body: answer(after, call) };
      },
    },
    {
      method: "GET",
      path,
      takes: "nothing",
      handle(call) {
        const row = owner.find(call);
        if (!row.members[name] && call.world.settings.unsetModule === 404) throw unset(row);
        return { status: 200, body: answer(row, call) };
      },
    },
    {
      method: "DELETE",
      path,
      takes: "nothing",
      handle(call) {
        const row = owner.find(call);
        if (!row.members[name]) throw unset(row);
        updateRow(row, { [name]: null }, call.world);
        return { status: 204 };
      },
    },
  ];
  return routes.map((route) => ({
    ...route,
    ...(!documented.includes(route.method as ModuleVerb) && { undocumented: true as const }),
  }));
}
