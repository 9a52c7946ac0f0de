import { beforeEach, expect, it } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { EndedObjects } from "./ended-objects.ts";

const HOUR = 3_600_000;
const web = { namespace: "team-a", name: "web" };

let clock: VirtualClock;
let existing: Set<string>;
let watched: Set<string>;
let ended: EndedObjects;

beforeEach(() => {
  clock = new VirtualClock();
  existing = new Set();
  watched = new Set(["team-a"]);
  ended = new EndedObjects({
    clock,
    watches: (kind, namespace) => kind !== "TLSEdge" && watched.has(namespace),
    exists: (kind, key) => existing.has(`${kind}/${key}`),
  });
});

const has = () => ended.has("IPPolicy", web);

it("knows an object whose deletion it saw", () => {
  ended.record("IPPolicy", web);
  expect(has()).toBe(true);
  expect(ended.has("TCPEdge", web)).toBe(false);
  expect(ended.has("IPPolicy", { ...web, name: "other" })).toBe(false);
});

it("takes an object for deleted that was absent for an hour since the first question", async () => {
  await clock.advance(2 * HOUR);
  expect(has()).toBe(false);
  await clock.advance(HOUR - 1);
  expect(has()).toBe(false);
  await clock.advance(1);
  expect(has()).toBe(true);
});

it("begins the hour anew when the object existed in between", async () => {
  expect(has()).toBe(false);
  await clock.advance(HOUR / 2);
  existing.add("IPPolicy/team-a/web");
  expect(has()).toBe(false);
  existing.clear();
  await clock.advance(HOUR / 2);
  expect(has()).toBe(false);
  await clock.advance(HOUR);
  expect(has()).toBe(true);
});

it("does not take an existing object for deleted, although an earlier one of its name was", () => {
  ended.record("IPPolicy", web);
  existing.add("IPPolicy/team-a/web");
  expect(has()).toBe(false);
});

it("never takes an object for deleted in a namespace that is not watched", async () => {
  watched.clear();
  ended.record("IPPolicy", web);
  expect(has()).toBe(false);
  await clock.advance(5 * HOUR);
  expect(has()).toBe(false);
});
