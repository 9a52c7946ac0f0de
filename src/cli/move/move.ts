import { readAccountConfig } from "../../config.ts";
import { kinds } from "../../kinds/index.ts";
import { type ManagedObject, typeOf } from "../../objects/object.ts";
import { AccountChanges } from "../../plan/account-changes.ts";
import { customResourceOf } from "../../schema/common.ts";
import { durationPattern, durationSeconds } from "../../schema/duration.ts";
import { objectName } from "../../schema/fields.ts";
import { type AccountFlags, findCredentials } from "../account/credentials.ts";
import { AccountReader } from "../account/reader.ts";
import { connect } from "../cluster/connect.ts";
import { scopeOf } from "../cluster/scope.ts";
import { shownOn, WaitTimeout, waitAtMost } from "../cluster/wait.ts";
import { neededClusterID } from "../graph/load.ts";
import { kindNamed, unknownKind } from "../graph/named.ts";
import { kubernetesYAML, linesOf } from "../terminal/kubernetes-yaml.ts";
import { CommandError, type Terminal, UsageError } from "../terminal/terminal.ts";
import { isNear, type Move, type Place } from "./manifest.ts";
import { handOverToCluster } from "./other-cluster.ts";
import { rewriteManifests } from "./rewrite.ts";
import {
  deleteOldObject,
  handOver,
  type MoveParts,
  type Prepared,
  prepareMove,
  type Referrer,
  referrersOf,
  titleOf,
} from "./steps.ts";

interface Flags extends AccountFlags {
  timeout: string;
  toContext?: string;
  dryRun?: boolean;
  rewrite?: boolean;
  filename?: string[];
  recursive?: boolean;
}

/**
 * `move`: a new object of the same kind takes the remote of this one, which is then deleted. If the command is
 * interrupted at any point, the next run goes on. Exit code 1 while other objects still refer to the old object, which
 * stays until then.
 */
export async function move(kind: string, from: string, to: string, flags: Flags, terminal: Terminal): Promise<number> {
  const seconds = checked(flags);
  const known = kindNamed(kind);
  if (!known) throw unknownKind(kind);
  const { kubeconfig, context, toContext } = flags;
  const config = readAccountConfig({ KUBECONFIG: kubeconfig });
  await using cluster = connect({ ...config, context });
  await using other = toContext === undefined ? undefined : connect({ ...config, context: toContext });
  const { namespace } = scopeOf(flags, cluster.namespace);
  const given: Move = { kind: known, from: placeOf(from, namespace), to: placeOf(to, namespace), toContext };
  if (!other && titleOf(given, given.from) === titleOf(given, given.to))
    throw new UsageError("Give two different names");
  const wait = shownOn(terminal, waitAtMost(seconds));
  const { client } = cluster;
  const parts: MoveParts = { client, there: other?.client ?? client, move: given, wait, tell: terminal.say };
  try {
    return await (flags.dryRun ? show(parts, flags, terminal) : carryOut(parts, { ...flags, namespace }, terminal));
  } catch (error) {
    if (!(error instanceof WaitTimeout)) throw error;
    throw new CommandError(`${error.message}. Run this again to go on`);
  }
}

async function prepare(parts: MoveParts): Promise<Prepared | undefined> {
  const prepared = await prepareMove(parts);
  if (prepared && prepared.next?.metadata.uid === prepared.old.metadata.uid)
    throw new CommandError(`Give another context: this one leads to the same ${titleOf(parts.move, parts.move.from)}`);
  return prepared;
}

/** Prints the new object. Changes nothing. */
async function show(parts: MoveParts, flags: Flags, terminal: Terminal): Promise<number> {
  const prepared = await prepare(parts);
  if (prepared) terminal.say(linesOf(kubernetesYAML(prepared.manifest)));
  return report(await referrersOf(parts), parts, flags, terminal);
}

async function carryOut(
  parts: MoveParts,
  flags: Flags & Required<Pick<Flags, "namespace">>,
  terminal: Terminal,
): Promise<number> {
  const prepared = await prepare(parts);
  await (parts.move.toContext === undefined ? handOver(parts, prepared) : handOverByAccount(parts, prepared, flags));
  if (flags.rewrite) await rewrite(parts, flags.namespace, flags, terminal);
  const referrers = await referrersOf(parts);
  if (referrers.length > 0) return report(referrers, parts, flags, terminal);
  await deleteOldObject(parts);
  return 0;
}

/** The timeout in seconds. Throws UsageError for flags that do not fit. */
function checked({ timeout, rewrite, filename, dryRun }: Flags): number {
  if (!durationPattern.test(timeout)) throw new UsageError("--timeout must be a duration, such as 90s, 4m or 1h");
  if (rewrite && dryRun) throw new UsageError("Choose one: --rewrite or --dry-run");
  if (rewrite !== (filename !== undefined) && (rewrite || filename))
    throw new UsageError("Give --rewrite and -f together: -f says which manifests are rewritten");
  if (filename?.includes("-")) throw new UsageError("-f must be files or folders, which are written");
  return durationSeconds(timeout);
}

function placeOf(text: string, namespace: string): Place {
  const [first = "", second, ...rest] = text.split("/");
  if (first === "" || second === "" || rest.length > 0) throw new UsageError(`Give NAMESPACE/NAME, not ${text}`);
  const place = second === undefined ? { namespace, name: first } : { namespace: first, name: second };
  const wrong = Object.values(place).find((name) => !objectName.safeParse(name).success);
  if (wrong === undefined) return place;
  const rule = "names have lower-case letters, digits, - and ., with a letter or digit at both ends";
  throw new UsageError(`Give another name than ${wrong}: ${rule}`);
}

/** With the key of the account that the old object uses. */
async function handOverByAccount(parts: MoveParts, prepared: Prepared | undefined, flags: Flags): Promise<void> {
  const { namespace } = parts.move.from;
  const used = prepared?.old.status?.account || undefined;
  const account = flags.account ?? used;
  const credentials = await findCredentials({ ...flags, namespace, ...(account !== undefined && { account }) });
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  const clusterID = await neededClusterID(config, parts.client);
  const { deletesPerMinute, dnsResolvers, undocumentedOperations: undocumented } = config;
  await using reader = new AccountReader(credentials);
  await using changes = new AccountChanges({
    ...credentials,
    deletesPerMinute,
    undocumented,
    dnsResolvers,
    kinds,
    clusterID,
  });
  await handOverToCluster(parts, prepared, {
    clusterID,
    get: (resource, id) => reader.get(resource, id),
    removeOwnerMark: (...given) => changes.removeOwnerMark(...given),
  });
}

async function rewrite({ there, move: given }: MoveParts, namespace: string, flags: Flags, terminal: Terminal) {
  const next = await there.get<ManagedObject>(typeOf(customResourceOf(given.kind)), given.to);
  const rewriting = { move: given, next, namespace };
  const files = await rewriteManifests(flags.filename ?? [], flags.recursive === true, rewriting);
  for (const file of files) terminal.say(`Rewrote ${file}`);
}

/** Prints which objects still refer to the old object, and what to do about it. */
function report(referrers: readonly Referrer[], parts: MoveParts, flags: Flags, terminal: Terminal): number {
  const { from, to } = parts.move;
  for (const { kind, name, path } of referrers) terminal.warn(`${kind}/${name} refers to ${from.name}: spec.${path}`);
  if (flags.dryRun || referrers.length === 0) return 0;
  const way = isNear(parts.move) ? `by name: ${to.name}` : "by id";
  const done = flags.rewrite ? "Apply the manifests" : `Let them refer to the new object ${way}`;
  terminal.warn(`${titleOf(parts.move, from)} stays until nothing refers to it. ${done}, then run this again`);
  return 1;
}
