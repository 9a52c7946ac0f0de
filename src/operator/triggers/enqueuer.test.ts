import { expect, it } from "vitest";
import type { AddOptions } from "../../runtime/controller/queue.ts";
import type { Informers } from "../kubernetes/indexes.ts";
import { Enqueuer } from "./enqueuer.ts";
import { priorities } from "./priority.ts";

it("spreads the objects that are woken together over some seconds, at the priority of retries", () => {
  const objects = Array.from({ length: 500 }, (_, index) => ({
    metadata: { namespace: "n", name: `object-${index}`, uid: String(index) },
    spec: {},
  }));
  const store = { list: () => objects };
  const added: AddOptions[] = [];
  const enqueuer = new Enqueuer({
    informers: new Map([["IPPolicy", { store }]]) as unknown as Informers,
    accountStore: { by: () => [] },
    controllers: new Map([["IPPolicy", { enqueue: (_key, options = {}) => void added.push(options) }]]),
    enqueueAccount: () => {},
  });
  enqueuer.enqueueUnfinished();
  expect(new Set(added.map(({ priority }) => priority))).toEqual(new Set([priorities.retry]));
  const seconds = added.map(({ afterSeconds = 0 }) => afterSeconds);
  expect(seconds[0]).toBe(0);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(10);
  const perSecond = Array.from({ length: 10 }, (_, second) => seconds.filter((at) => Math.floor(at) === second).length);
  expect(Math.max(...perSecond)).toBeLessThanOrEqual(50);
});
