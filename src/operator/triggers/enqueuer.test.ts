import { expect, it } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import { Store } from "../../runtime/cache/store.ts";
import type { AddOptions } from "../../runtime/controller/queue.ts";
import { type Informers, indexersOf } from "../kubernetes/indexes.ts";
import { Enqueuer } from "./enqueuer.ts";
import { priorities } from "./priority.ts";

it("spreads objects that are enqueued together over some seconds, at the priority of retries", () => {
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
  });
  enqueuer.enqueueUnfinished();
  expect(new Set(added.map(({ priority }) => priority))).toEqual(new Set([priorities.retry]));
  const seconds = added.map(({ afterSeconds = 0 }) => afterSeconds);
  expect(seconds[0]).toBe(0);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(10);
  const perSecond = Array.from({ length: 10 }, (_, second) => seconds.filter((at) => Math.floor(at) === second).length);
  expect(Math.max(...perSecond)).toBeLessThanOrEqual(50);
});

it("enqueues the objects of remotes that a list showed changed or gone, and those that are about to adopt one", () => {
  const store = new Store<ManagedObject>({ indexers: indexersOf(IPPolicy) });
  const put = (name: string, adopt: string | undefined, id?: string) =>
    store.put({
      apiVersion: "tunnelgateway.dev/v1",
      kind: "IPPolicy",
      spec: adopt ? { adopt: { id: adopt } } : {},
      metadata: { namespace: "n", name, uid: name, generation: 1, resourceVersion: "1" },
      ...(id && { status: { id } }),
    });
  put("holder", undefined, "ipp_1");
  put("adopter", "ipp_1");
  put("other", "ipp_2");
  const woken: string[] = [];
  const enqueuer = new Enqueuer({
    informers: new Map([["IPPolicy", { store }]]) as unknown as Informers,
    accountStore: { by: () => [] },
    controllers: new Map([["IPPolicy", { enqueue: (key) => void woken.push(key) }]]),
  });
  enqueuer.enqueueListed({ changed: ["ipp_1"], absent: [] });
  expect(woken.toSorted()).toEqual(["n/adopter", "n/holder"]);
  enqueuer.enqueueListed({ changed: [], absent: ["ipp_2"] });
  expect(woken.at(-1)).toBe("n/other");
});

it("enqueues the objects that a failing list shows until they say so, and again when it succeeds", () => {
  const store = new Store<ManagedObject>({ indexers: indexersOf(IPPolicy) });
  const put = (name: string, synced: "True" | "False", id?: string) =>
    store.put({
      apiVersion: "tunnelgateway.dev/v1",
      kind: "IPPolicy",
      spec: {},
      metadata: { namespace: "n", name, uid: name, generation: 1, resourceVersion: "1" },
      status: {
        ...(id && { id }),
        conditions: [{ type: "Synced", status: synced, reason: "Any", message: "", lastTransitionTime: "" }],
      },
    });
  put("synced", "True", "ipp_1");
  put("told", "False", "ipp_2");
  put("without", "True");
  const added: string[] = [];
  const enqueuer = new Enqueuer({
    informers: new Map([["IPPolicy", { store }]]) as unknown as Informers,
    accountStore: { by: () => [] },
    controllers: new Map([["IPPolicy", { enqueue: (key) => void added.push(key) }]]),
  });
  const problem = new Retry("ServiceUnavailable", "It is away");
  enqueuer.enqueueUnlisted(IPPolicy.resource, [IPPolicy], problem);
  expect(added.splice(0)).toEqual(["n/synced"]);
  enqueuer.enqueueUnlisted(IPPolicy.resource, [IPPolicy], undefined);
  expect(added).toEqual(["n/told"]);
});
