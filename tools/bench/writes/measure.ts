import type { Status } from "../../../src/objects/object.ts";
import { KubeClient } from "../../../src/runtime/connection/client.ts";
import { loadConnection } from "../../../src/runtime/connection/kubeconfig.ts";
import { Transport } from "../../../src/runtime/connection/transport.ts";
import type { KubeObject } from "../../../src/runtime/object.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { concurrently } from "../phases/concurrently.ts";
import { apiServerAt, threadMilliseconds } from "../processes.ts";
import { Watcher } from "../watcher.ts";
import type { Variant } from "./variants.ts";
import type { Written } from "./written.ts";

/** What is written at a time, as by two kinds with few workers. */
const CONCURRENCY = 4;

export interface Subject {
  variant: Variant;
  written: Written;
}

/** CPU milliseconds of the API server for one object. */
export interface Cost {
  create: number;
  patch: number;
  status: number;
}

export interface MeasureOptions {
  rounds: number;
  /** Objects of each kind in a round. */
  batch: number;
}

type Object = KubeObject & { status?: Status };

/**
 * Writes as the operators do, a few objects of each subject in turn, so that whatever else the machine does falls on all
 * alike. Resolves with the costs in each round. As beside an operator in the bench, two clients watch.
 */
export async function measure(
  { kubeconfig, url }: Pick<Cluster, "kubeconfig" | "url">,
  subjects: readonly Subject[],
  { namespace, rounds, batch }: MeasureOptions & { namespace: string },
): Promise<Map<Variant, Cost[]>> {
  const pid = await apiServerAt(url);
  const transport = new Transport(loadConnection({ kubeconfig }), { userAgent: "bench" });
  const clientOf = (fieldManager: string) => new KubeClient(transport, { fieldManager });
  const clients = { user: clientOf("bench"), operator: clientOf("operator") };
  const types = subjects.map(({ written }) => written.type);
  const watchers = await Promise.all([1, 2].map(() => Watcher.start(kubeconfig, namespace, types)));
  const costs = new Map<Variant, Cost[]>();
  let made = 0;
  const costOf = async (work: () => Promise<void>): Promise<number> => {
    const before = await threadMilliseconds(pid);
    await work();
    return ((await threadMilliseconds(pid)) - before) / batch;
  };
  // the first round warms up
  for (let round = 0; round <= rounds; round++) {
    for (const { variant, written } of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const all = Array.from({ length: batch }, () => ({ ...named(written, namespace, ++made), now: {} as Object }));
      const { type } = written;
      const create = await costOf(() =>
        concurrently(all, CONCURRENCY, async (one) => {
          one.now = await clients.user.create(type, one.created);
        }),
      );
      const patch = await costOf(() =>
        concurrently(all, CONCURRENCY, async (one) => {
          const { resourceVersion } = one.now.metadata;
          const change = { metadata: { resourceVersion, ...one.metadata } };
          one.now = await clients.operator.patchMerge(type, one.created.metadata, change);
        }),
      );
      const status = await costOf(() =>
        concurrently(all, CONCURRENCY, async (one) => {
          if (variant.of === "ours") await clients.operator.replaceStatus(type, one.now, one.status);
          else await clients.operator.patchMerge(type, one.created.metadata, { status: one.status }, STATUS);
        }),
      );
      if (round > 0) costs.set(variant, [...(costs.get(variant) ?? []), { create, patch, status }]);
    }
  }
  await Promise.all([...watchers.map((watcher) => watcher.stop()), transport.close()]);
  return costs;
}

const STATUS = { subresource: "status" } as const;

/** The same for an object of another name. */
function named({ type, created, metadata, status }: Written, namespace: string, number: number) {
  const name = `object-${String(number).padStart(5, "0")}`;
  const text = JSON.stringify({ created, metadata, status }).replaceAll(created.metadata.name, name);
  const copy = JSON.parse(text) as Pick<Written, "created" | "metadata" | "status">;
  const apiVersion = `${type.group}/${type.version}`;
  return { ...copy, created: { ...copy.created, apiVersion, metadata: { namespace, name } } };
}
