import { setTimeout as sleep } from "node:timers/promises";
import { readAccountConfig } from "../../config.ts";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { isForbidden, isKindAbsent } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";
import { leases } from "../../runtime/process/lease.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";
import { namespaceOfFlags } from "../account/credentials.ts";
import { type ClusterFlags, type Connected, connect } from "../cluster/connect.ts";
import { typeOf } from "../cluster/objects.ts";
import { outageOf } from "../cluster/outage.ts";
import { reportPartial } from "../cluster/partial.ts";
import { type Lister, readObjects } from "../graph/load.ts";
import { type Format, formatOf, structured } from "../terminal/structured.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { renderStatus } from "./render.ts";
import { type Observed, summaryOf } from "./summary.ts";

interface Flags extends ClusterFlags {
  namespace?: string;
  allNamespaces?: boolean;
  /** False: no headings. */
  headers?: boolean;
  output?: string;
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
  const format = formatOf(flags.output);
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  await using cluster = connect({ ...config, context: flags.context });
  const shown = () => show(cluster, { ...flags, format }, terminal);
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
async function show(
  { client, namespace }: Connected,
  flags: Flags & { format: Format | undefined },
  terminal: Terminal,
): Promise<number> {
  const problems: string[] = [];
  const now = Date.now();
  const summary = summaryOf(await observe(client, flags, { now, own: namespace, problems }));
  const screen = flags.format
    ? structured(summary, flags.format)
    : renderStatus(summary, now, { ...terminal, noHeaders: flags.headers === false });
  if (flags.watch) terminal.clear?.();
  terminal.say(screen);
  return reportPartial(problems, terminal);
}

/** A name with a dot is that of a copy. */
const isOperatorLease = ({ metadata: { name } }: KubeObject): boolean =>
  name === OPERATOR_NAME || (name.startsWith(`${OPERATOR_NAME}-`) && !name.includes("."));

interface Reading {
  now: number;
  /** The namespace of the kubeconfig context. */
  own: string;
  problems: string[];
}

/** Reads what `summaryOf` sums up. */
export async function observe(
  client: Lister,
  flags: Pick<Flags, "namespace" | "allNamespaces">,
  { now, own, problems }: Reading,
): Promise<Observed> {
  const namespace = namespaceOfFlags(flags);
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
  const { objects } = await readObjects(client, { namespace: namespace ?? own }, problems);
  const isNear = ({ metadata }: KubeObject) => namespace === undefined || metadata.namespace === namespace;
  return {
    now,
    // The operator may be in another namespace than its objects.
    leases: (await read(leases, undefined)).filter(isOperatorLease),
    accounts: (await read(typeOf(GatewayAccount), namespace)).filter(isNear) as Observed["accounts"],
    objects: new Map([...objects].map(([kind, list]) => [kind, list.filter(isNear)])),
  };
}
