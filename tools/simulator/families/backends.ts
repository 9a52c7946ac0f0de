import { invalid } from "../http/refusal.ts";
import { defineCollection } from "../resource/collection.ts";
import { anyBackend } from "../shape/references.ts";
import { integer, list, map, string } from "../shape/scalars.ts";
import { texts } from "../shape/texts.ts";

export const tunnelGroupBackends = defineCollection({
  name: "backends/tunnel_group",
  prefix: "bkdtg",
  listKey: "backends",
  unset: ["missing", "missing"],
  fields: { ...texts, labels: { check: map(string), initial: {} } },
  compute: () => ({ tunnels: [] }),
});

export const httpResponseBackends = defineCollection({
  name: "backends/http_response",
  prefix: "bkdhr",
  listKey: "backends",
  unset: ["null", "null"],
  nextPage: "path",
  fields: {
    ...texts,
    body: { check: string, initial: "" },
    headers: {
      check: map(string, (name) => String(name).toLowerCase()),
      initial: null,
    },
    status_code: { check: integer(100, 599), initial: 200 },
  },
});

function notItself(ids: readonly string[], id: string | undefined): void {
  if (id && ids.includes(id)) throw invalid("backends: a backend cannot contain itself");
}

export const weightedBackends = defineCollection({
  name: "backends/weighted",
  prefix: "bkdwd",
  listKey: "backends",
  unset: ["empty", "null"],
  // an update that leaves the map out empties it
  fields: { ...texts, backends: { check: map(integer(0, 10_000), anyBackend), initial: {}, whenOmitted: {} } },
  rule: (_, { backends }, id) => notItself(Object.keys(backends as object), id),
  uses: ({ backends }) => Object.keys(backends as object),
});

export const failoverBackends = defineCollection({
  name: "backends/failover",
  prefix: "bkdfo",
  listKey: "backends",
  unset: ["null", "missing"],
  nextPage: "path",
  // an update that leaves the list out empties it
  fields: { ...texts, backends: { check: list(anyBackend), initial: [], whenOmitted: [] } },
  rule: (_, { backends }, id) => notItself(backends as string[], id),
  uses: ({ backends }) => backends as string[],
});
