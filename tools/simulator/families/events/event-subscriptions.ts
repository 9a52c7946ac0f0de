import { conflict, invalid, notFound } from "../../http/refusal.ts";
import type { Call, Route } from "../../http/route.ts";
import { defineCollection, type Links, type Row } from "../../resource/collection.ts";
import { rowOf } from "../../resource/crud.ts";
import { updateRow } from "../../resource/lifecycle.ts";
import { type Check, created, object, updated } from "../../shape/check.ts";
import type { Members } from "../../shape/members.ts";
import { reference } from "../../shape/references.ts";
import { list, matching } from "../../shape/scalars.ts";
import { textsInCharacters } from "../../shape/texts.ts";

const type = matching(/^[a-z][a-z0-9_]*\.v\d+$/, "an event type such as ip_policy_created.v0");
const entries = list(object({ type: { check: type, required: true } }));

/** Sources are stored as the list of their types. */
const sources: Check = (value, at, store) => {
  const types = (entries(value, at, store) as { type: string }[]).map((entry) => entry.type);
  const twice = types.find((name, index) => types.indexOf(name) !== index);
  if (twice) throw invalid(`${at}: ${twice} is given twice`);
  return types;
};

const shown = (id: string, name: string, { origin }: Links): Members => ({
  type: name,
  uri: `${origin}/event_subscriptions/${id}/sources/${name}`,
});

export const eventSubscriptions = defineCollection({
  name: "event_subscriptions",
  prefix: "esb",
  unset: ["null", "null"],
  fields: {
    ...textsInCharacters,
    sources: { check: sources, initial: [] },
    destination_ids: { check: list(reference("ed")), initial: [] },
  },
  uses: ({ destination_ids: ids }) => ids as string[],
  show: ({ sources: types, destination_ids: ids, ...members }, links, id) => ({
    ...members,
    sources: (types as string[]).map((name) => shown(id, name, links)),
    destinations: links.refs(ids),
  }),
});

const path = "/event_subscriptions/{subscription_id}/sources";
const fields = { type: { check: type, required: true as const } };

const subscriptionOf = (call: Call): Row => rowOf(eventSubscriptions, call, "subscription_id");
const typesOf = (row: Row): readonly string[] => row.members.sources as string[];

function existing(call: Call): [row: Row, type: string] {
  const row = subscriptionOf(call);
  const name = call.params.type ?? "";
  if (!typesOf(row).includes(name)) throw notFound(`${row.id} has no source ${name}`);
  return [row, name];
}

export const eventSourceRoutes: readonly Route[] = [
  {
    method: "POST",
    path,
    takes: "members",
    handle(call) {
      const row = subscriptionOf(call);
      const name = String(created(fields, call.body, call.world.store).type);
      if (typesOf(row).includes(name)) throw conflict(`type: ${row.id} already has ${name}`);
      updateRow(row, { sources: [...typesOf(row), name] }, call.world);
      return { status: 201, body: shown(row.id, name, call.view) };
    },
  },
  {
    method: "GET",
    path,
    takes: "nothing",
    handle(call) {
      const row = subscriptionOf(call);
      const all = typesOf(row).map((name) => shown(row.id, name, call.view));
      return { status: 200, body: { sources: all, uri: `${call.view.origin}/event_subscriptions/${row.id}/sources` } };
    },
  },
  {
    method: "GET",
    path: `${path}/{type}`,
    takes: "nothing",
    handle(call) {
      const [row, name] = existing(call);
      return { status: 200, body: shown(row.id, name, call.view) };
    },
  },
  {
    method: "PATCH",
    path: `${path}/{type}`,
    takes: "members",
    handle(call) {
      const [row, name] = existing(call);
      const given = updated(fields, call.body, call.world.store);
      if (given.type !== undefined && given.type !== name) throw invalid("type: cannot be changed");
      return { status: 200, body: shown(row.id, name, call.view) };
    },
  },
  {
    method: "DELETE",
    path: `${path}/{type}`,
    takes: "nothing",
    handle(call) {
      const [row, name] = existing(call);
      updateRow(row, { sources: typesOf(row).filter((other) => other !== name) }, call.world);
      return { status: 204 };
    },
  },
];
