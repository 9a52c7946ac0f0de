import { expect, test } from "vitest";
import { KubeError } from "../../runtime/connection/errors.ts";
import { eventsOf } from "./events.ts";

const object = { metadata: { namespace: "shop", name: "db", uid: "u1" } };
const answering = (items: object[]) => ({ listAll: async () => ({ items, resourceVersion: "1" }) as never });

test("events are newest first, whichever form their time has", async () => {
  const problems: string[] = [];
  const client = answering([
    { metadata: {}, reason: "Third", eventTime: "2026-01-10T11:00:00.000000Z" },
    { metadata: {}, reason: "Second", lastTimestamp: "2026-01-10T11:30:00Z", count: 3 },
    {
      metadata: {},
      reason: "First",
      eventTime: "2026-01-10T10:00:00.000000Z",
      series: { count: 2, lastObservedTime: "2026-01-10T11:40:00.000000Z" },
    },
  ]);
  const events = await eventsOf(client, object, problems);
  expect(events.map(({ reason, count }) => [reason, count])).toEqual([
    ["First", 2],
    ["Second", 3],
    ["Third", 1],
  ]);
  expect(problems).toEqual([]);
});

test("without the right to list events, that right is named", async () => {
  const problems: string[] = [];
  const forbidden = new KubeError({ status: 403, message: "no", reason: "Forbidden" });
  expect(await eventsOf({ listAll: () => Promise.reject(forbidden) }, object, problems)).toEqual([]);
  expect(problems).toEqual(["You need the right to list events in namespace shop"]);
});
