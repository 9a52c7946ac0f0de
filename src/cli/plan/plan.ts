import { readAccountConfig } from "../../config.ts";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { type Block, blocksOf } from "../../plan/blocks.ts";
import { planChanges } from "../../plan/planner.ts";
import { selects } from "../../schema/label-selector.ts";
import { type AccountFlags, findCredentials, namespaceOfFlags, sharersOf } from "../account/credentials.ts";
import { AccountReader } from "../account/reader.ts";
import { connect } from "../cluster/connect.ts";
import { reportPartial } from "../cluster/partial.ts";
import { accountOf, membersOf, namespacesWithDefault } from "../graph/accounts.ts";
import { clusterIDOf, readObjects, readRemotes } from "../graph/load.ts";
import { formatOf, structured } from "../terminal/structured.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";
import { type Manifest, type ManifestFlags, type Manifests, readManifests } from "./manifests.ts";
import { overlay, overlayKey } from "./overlay.ts";
import { renderPlan, sumsOf } from "./render.ts";
import { accountSource, clusterSource } from "./sources.ts";

export interface PlanFlags extends AccountFlags, ManifestFlags {
  output?: string;
  detailedExitcode?: boolean;
}

/** With `--detailed-exitcode`. */
const HAS_CHANGES = 2;

/** `plan`: what the operator will do in the account after the manifests are applied. Read-only. */
export async function plan(flags: PlanFlags, terminal: Terminal): Promise<number> {
  formatOf(flags.output);
  const isGiven = flags.filename !== undefined || flags.kustomize !== undefined;
  const { blocks, problems } = await planOf(await readManifests(flags), { ...flags, isGiven }, terminal);
  print(blocks, problems, flags, terminal);
  return exitCode(blocks, problems, flags);
}

interface Planned {
  blocks: readonly Block[];
  /** One line for each thing that could not be read. If there is one, the plan is incomplete. */
  problems: readonly string[];
  /** All objects, as they are once the manifests are applied. */
  objects: readonly ManagedObject[];
}

/**
 * Plans the manifests. `isGiven`: a person has named manifests, and wants to see what they change; otherwise what the
 * operator is about to do. Throws CommandError.
 */
export async function planOf(
  { manifests, problems }: Manifests,
  flags: AccountFlags & { isGiven: boolean },
  terminal: Terminal,
): Promise<Planned> {
  const { isGiven } = flags;
  if (isGiven && manifests.length === 0)
    throw new CommandError(problems[0] ?? "Give other files: there are no manifests in these", {
      details: problems.slice(1),
    });
  const credentials = await findCredentials(flags);
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  await using cluster = connect({ ...config, context: flags.context });
  await using reader = new AccountReader(credentials);
  const where = { namespace: flags.namespace ?? cluster.namespace };
  const scope = { ...where, namespaces: config.watchNamespaces };
  const read = await readObjects(cluster.client, scope, problems);
  const present = [...read.objects.values()].flat();
  const { objects, described } = await overlay(cluster.client, present, { manifests, ...where, problems });
  const clusterID = config.clusterID ?? (await clusterIDOf(cluster.client));
  if (clusterID === undefined)
    throw new CommandError("Set CLUSTER_ID as the operator has it, or get the right to get the namespace kube-system");
  const remotes = await readRemotes(credentials, terminal, problems);
  const defaults = read.defaults.union(defaultsIn(manifests, where.namespace));
  const sharers = await sharersOf(credentials, read.accounts, { client: cluster.client, flags });
  const isInAccount = membersOf({ sharers, objects: read.objects, remotes, defaults });
  const planned = await planChanges({
    kinds,
    objects,
    isInAccount,
    clusterID,
    isClusterIDSet: config.clusterID !== undefined,
    account: accountSource(
      reader,
      new Map([...remotes].map(([{ resource }, rows]) => [resource.name, rows])),
      problems,
    ),
    cluster: clusterSource(cluster.client, { manifests, ...where, problems }),
    accountNameOf: (object) => accountOf(object, defaults),
    mayAdopt: () => true,
    undocumented: true,
    onProgress: (done, all) => terminal.progress?.(`Planning: ${done} of ${all}`),
  });
  terminal.progress?.("");
  const meant = isGiven ? undefined : namespaceOfFlags(flags);
  const isNews = (block: Block, object: ManagedObject) =>
    selects(config.watchSelector, object.metadata.labels) &&
    (isGiven
      ? !isUnfinished(block) || described.has(overlayKey(object))
      : meant === undefined || object.metadata.namespace === meant);
  const blocks = [...blocksOf(planned)].flatMap(([{ before }, block]) => (isNews(block, before) ? [block] : []));
  problems.push(
    ...inOtherAccounts(
      objects.filter((object) => described.has(overlayKey(object))),
      isInAccount,
    ),
  );
  return { blocks, problems, objects };
}

/** The namespaces to which the manifests add a GatewayAccount called `default`. */
const defaultsIn = (manifests: readonly Manifest[], namespace: string): Set<string> =>
  namespacesWithDefault(
    manifests
      .filter(({ object }) => object.kind === "GatewayAccount")
      .map(({ object }) => ({ ...object, metadata: { namespace, ...object.metadata } })),
  );

/** Objects that belong to another account, or are to move to one. The plan leaves them out. */
const inOtherAccounts = (
  objects: readonly ManagedObject[],
  isInAccount: (object: ManagedObject) => boolean,
): string[] =>
  objects.flatMap((object) => {
    const { kind, metadata, spec, status } = object;
    const title = `${kind}/${metadata.name}`;
    if (!isInAccount(object)) return `${title} is in another account: name it with --account`;
    const isMoved = status?.id !== undefined && (spec.accountRef?.name ?? status.account) !== status.account;
    return isMoved ? `${title} has its remote in another account than spec.accountRef names` : [];
  });

const isUnfinished = ({ action }: Block): boolean => action === "blocked" || action === "waiting";

function print(blocks: readonly Block[], problems: readonly string[], flags: PlanFlags, terminal: Terminal): void {
  const complete = problems.length === 0;
  const output = { complete, sums: sumsOf(blocks), changes: blocks };
  const format = formatOf(flags.output);
  terminal.say(format ? structured(output, format) : renderPlan(blocks, terminal));
  reportPartial(problems, terminal);
  if (blocks.some(({ action }) => action === "adopt") && flags.account === undefined)
    terminal.warn("An object adopts only if the operator allows it in its namespace: see AdoptionNotAllowed");
}

function exitCode(blocks: readonly Block[], problems: readonly string[], { detailedExitcode }: PlanFlags): number {
  if (problems.length > 0 || blocks.some(({ action }) => action === "blocked")) return 1;
  return detailedExitcode && blocks.some((block) => !isUnfinished(block)) ? HAS_CHANGES : 0;
}
