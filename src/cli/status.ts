import { setTimeout as sleep } from "node:timers/promises";
import { readAccountConfig } from "../config.ts";
import { GatewayAccount } from "../kinds/gateway-account.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isForbidden, isKindAbsent } from "../runtime/connection/errors.ts";
import { textOf } from "../runtime/log.ts";
import type { KubeObject, ResourceType } from "../runtime/object.ts";
import { leases } from "../runtime/process/lease.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";
import { type Connected, connect } from "./connect.ts";
import { readObjects } from "./graph/load.ts";
import { typeOf } from "./objects.ts";
import { renderStatus } from "./status/render.ts";
import { type Observed, summaryOf } from "./status/summary.ts";
import { type Terminal, UsageError } from "./terminal.ts";

interface Flags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  output?: string;
  watch?: boolean;
}

/** How often `--watch` reads. */
const EVERY_MS = 5_000;

const CLEAR = "\x1b[H\x1b[2J";

/** `status`: operators, accounts and objects on one screen. Reads the cluster only. */
export async function status(flags: Flags, terminal: Terminal): Promise<number> {
  if (flags.output !== undefined && flags.output !== "json") throw new UsageError("-o must be json");
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  await using cluster = connect({ ...config, context: flags.context });
  for (;;) {
    const problems = await show(cluster, flags, terminal);
    if (!flags.watch) return problems > 0 ? 1 : 0;
    await sleep(EVERY_MS);
  }
}

/** Resolves with how many things could not be read. */
async function show({ client, namespace }: Connected, flags: Flags, terminal: Terminal): Promise<number> {
  const problems: string[] = [];
  const now = Date.now();
  const summary = summaryOf(await observe(client, flags, { now, own: namespace, problems }));
  const screen = flags.output ? JSON.stringify(summary, undefined, 2) : renderStatus(summary, now, terminal);
  terminal.say(flags.watch && terminal.columns ? `${CLEAR}${screen}` : screen);
  for (const problem of problems) terminal.warn(problem);
  return problems.length;
}

interface Reading {
  now: number;
  /** The namespace of the context. */
  own: string;
  problems: string[];
}

async function observe(client: KubeClient, { namespace }: Flags, { now, own, problems }: Reading): Promise<Observed> {
  const read = async <T extends KubeObject>(type: ResourceType, where: string | undefined): Promise<T[]> => {
    try {
      return (await client.listAll<T>(type, { namespace: where })).items;
    } catch (error) {
      if (isKindAbsent(error)) return [];
      if (!isForbidden(error)) throw error;
      problems.push(`You need the right to list ${type.plural}: ${textOf(error)}`);
      return [];
    }
  };
  const objects = await readObjects(client, { namespace: namespace ?? own }, problems);
  const isNear = ({ metadata }: KubeObject) => namespace === undefined || metadata.namespace === namespace;
  return {
    now,
    // The operator may be in another namespace than its objects.
    leases: (await read(leases, undefined)).filter(({ metadata }) => metadata.name === OPERATOR_NAME),
    accounts: (await read(typeOf(GatewayAccount), namespace)).filter(isNear) as Observed["accounts"],
    objects: new Map([...objects].map(([kind, list]) => [kind, list.filter(isNear)])),
  };
}
