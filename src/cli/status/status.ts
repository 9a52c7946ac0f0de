import { setTimeout as sleep } from "node:timers/promises";
import { readAccountConfig } from "../../config.ts";
import { isForbidden, isKindAbsent } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { type ClusterFlags, type Connected, connect } from "../cluster/connect.ts";
import { refuseAbsentNamespace } from "../cluster/namespace.ts";
import { operatorLeases } from "../cluster/operators.ts";
import { outageOf } from "../cluster/outage.ts";
import { reportPartial } from "../cluster/partial.ts";
import { includes, placeOf, type Scope, type ScopeFlags, scopeOf, whichOf } from "../cluster/scope.ts";
import { type Lister, readObjects } from "../graph/load.ts";
import { resourceName } from "../graph/output.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { conclusionOf, renderStatus } from "./render.ts";
import { type Observed, summaryOf } from "./summary.ts";

interface Flags extends ClusterFlags, ScopeFlags, OutputFlags {
  watch?: boolean;
}

/** How often `--watch` reads. */
const EVERY_MS = 5_000;

/** `status`: operators, accounts and objects on one screen. Reads the cluster only. */
export async function status(
  flags: Flags,
  terminal: Terminal,
  pause: () => Promise<void> = () => sleep(EVERY_MS),
): Promise<number> {
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  await using cluster = connect({ ...config, context: flags.context });
  const shown = () => show(cluster, flags, terminal);
  if (!flags.watch) return await shown();
  for (;;) {
    await shown().catch((error: unknown) => {
      // With --watch, go on: somebody may be watching just because the cluster is in trouble.
      const outage = outageOf(error);
      if (outage === undefined) throw error;
      terminal.warn(outage);
    });
    await pause();
  }
}

/** Resolves with the exit code. */
async function show({ client, namespace }: Connected, flags: Flags, terminal: Terminal): Promise<number> {
  const problems: string[] = [];
  const now = Date.now();
  const scope = scopeOf(flags, namespace);
  const observed = await observe(client, scope, { now, problems, terminal });
  await refuseAbsentNamespace(client, scope, [...observed.objects.values(), observed.accounts].flat());
  const summary = summaryOf(observed);
  if (flags.watch) terminal.clear?.();
  print(
    {
      value: () => summary,
      names: () => [...summary.attention, ...summary.waiting, ...summary.unsynced].map(resourceName),
      lines: (screen) => [
        ...renderStatus(summary, now, screen),
        ...(problems.length === 0 ? conclusionOf(summary, placeOf(scope)) : []),
      ],
    },
    flags,
    terminal,
  );
  return reportPartial(problems, terminal);
}

interface Reading {
  now: number;
  problems: string[];
  terminal?: Pick<Terminal, "progress">;
}

/** Reads what `summaryOf` sums up. */
export async function observe(client: Lister, scope: Scope, { now, problems, terminal }: Reading): Promise<Observed> {
  const attempt = async <T>(what: string, read: () => Promise<T[]>): Promise<T[]> => {
    try {
      return await read();
    } catch (error) {
      if (isKindAbsent(error)) return [];
      if (!isForbidden(error)) throw error;
      problems.push(`You need the right to list ${what}: ${textOf(error)}`);
      return [];
    }
  };
  const { objects, accounts } = await readObjects(client, whichOf(scope), problems, terminal);
  const isMeant = ({ metadata }: KubeObject) => includes(scope, metadata.namespace);
  return {
    now,
    leases: await attempt("leases", () => operatorLeases(client)),
    accounts: accounts.filter(isMeant) as Observed["accounts"],
    objects: new Map([...objects].map(([kind, list]) => [kind, list.filter(isMeant)])),
  };
}
