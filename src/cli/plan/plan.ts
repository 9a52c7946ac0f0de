import { type AccountConfig, readAccountConfig } from "../../config.ts";
import type { Remote } from "../../gateway/resource.ts";
import { kinds } from "../../kinds/index.ts";
import { conditionOf, keyWithKindOf, type ManagedObject } from "../../objects/object.ts";
import { type Block, blocksOf } from "../../plan/blocks.ts";
import { type PlanInput, type PlannedObject, planChanges } from "../../plan/planner.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { API_VERSION } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { selects } from "../../schema/label-selector.ts";
import { counted } from "../../schema/nouns.ts";
import { type AccountFlags, findCredentials, sharersOf } from "../account/credentials.ts";
import { AccountReader } from "../account/reader.ts";
import { connect } from "../cluster/connect.ts";
import { isNamespaceAbsent, refuseAbsentNamespace } from "../cluster/namespace.ts";
import { reportPartial } from "../cluster/partial.ts";
import { includes, placeOf, type Scope, scopeOf } from "../cluster/scope.ts";
import { copyOf } from "../diff/diff.ts";
import { accountOf, membersOf, namespacesWithDefault } from "../graph/accounts.ts";
import { neededClusterID, readObjects, readRemotes } from "../graph/load.ts";
import { resourceName } from "../graph/output.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";
import { leftBlocks } from "./left.ts";
import { isNamespace, type Manifest, type ManifestFlags, type Manifests, readManifests } from "./manifests.ts";
import { overlay } from "./overlay.ts";
import { renderPlan, sumsOf } from "./render.ts";
import { accountSource, clusterSource } from "./sources.ts";

export interface PlanFlags extends AccountFlags, ManifestFlags, OutputFlags {
  /** With manifests: also what does not follow from them. */
  all?: boolean;
  detailedExitcode?: boolean;
}

/** With `--detailed-exitcode`. */
const HAS_CHANGES = 2;

/** `plan`: what the operator will do in the account after the manifests are applied. Read-only. */
export async function plan(flags: PlanFlags, terminal: Terminal): Promise<number> {
  const isGiven = flags.filename !== undefined || flags.kustomize !== undefined;
  const planned = await planOf(await readManifests(flags), { ...flags, isGiven }, terminal);
  show(planned, flags, terminal);
  return exitCode(planned, flags);
}

interface Planned {
  blocks: readonly Block[];
  /** How many other blocks do not follow from the manifests. */
  others: number;
  /** One line for each thing that could not be read. If there is one, the plan is incomplete. */
  problems: readonly string[];
  /** All objects, as they are once the manifests are applied. */
  objects: readonly ManagedObject[];
  /** Namespaces of the manifests that neither the cluster nor the manifests have. */
  absent: readonly string[];
  /** One line for each manifest that is of another API. */
  leftOut: readonly string[];
}

/**
 * Plans the manifests. `isGiven`: a person has named manifests, and wants to see what they change, or everything with
 * `all`; otherwise what the operator is about to do. Throws CommandError.
 */
export async function planOf(
  { manifests, problems, leftOut }: Manifests,
  flags: AccountFlags & { isGiven: boolean; all?: boolean },
  terminal: Terminal,
): Promise<Planned> {
  const { isGiven } = flags;
  if (isGiven) refuseNoManifests(manifests, [...problems, ...leftOut]);
  const credentials = await findCredentials(flags);
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  await using cluster = connect({ ...config, context: flags.context });
  const { client } = cluster;
  await using reader = new AccountReader(credentials);
  const scope = scopeOf(flags, cluster.namespace);
  const { namespace } = scope;
  const read = await readObjects(client, { namespace, namespaces: config.watchNamespaces }, problems, terminal);
  const present = [...read.objects.values()].flat();
  if (!isGiven && problems.length === 0) await refuseNone(client, present, scope);
  const given = {
    manifests: flags.namespace ? ofNamespace(manifests, namespace, problems) : manifests,
    namespace,
    problems,
  };
  const { objects, described } = await overlay(client, present, given);
  const absent = await namespacesToCreate(client, given.manifests, { namespace, present });
  const settings = await settingsOf(config, client);
  const remotes = await readRemotes(credentials, terminal, problems);
  const sharers = await sharersOf(credentials, read.accounts, { client, flags });
  const account = accountSource(reader, rowsOf(remotes), problems);
  const refused = namespacesWithoutRight(present);
  const planFor = async (those: readonly ManagedObject[], files: readonly Manifest[]) => {
    const defaults = read.defaults.union(defaultsIn(files, namespace));
    const isInAccount = membersOf({ sharers, objects: read.objects, remotes, defaults });
    const source = clusterSource(client, { ...given, manifests: files });
    const planned = await planChanges({
      kinds,
      objects: those,
      isInAccount,
      ...settings,
      account,
      cluster: source,
      accountNameOf: (object) => accountOf(object, defaults),
      mayAdopt: (place) => !refused.has(place),
      onProgress: (done, all) => terminal.progress?.("Planning", { done, all }),
    });
    return { planned, isInAccount, source };
  };
  const { planned, isInAccount, source } = await planFor(objects, manifests);
  const isMeant = ({ metadata }: ManagedObject) =>
    selects(config.watchSelector, metadata.labels) && (isGiven || includes(scope, metadata.namespace));
  const isDescribed = (object: ManagedObject) => described.has(keyWithKindOf(object));
  const found = new Map([...blocksOf(planned)].filter(([{ before }]) => isMeant(before)));
  const settled = planned.filter(
    (one) => !found.has(one) && isMeant(one.before) && (!isGiven || isDescribed(one.before)),
  );
  const copy = copyOf(objects, isInAccount, source);
  for (const [one, block] of await leftBlocks(settled, { reader, copy, problems, remotes })) found.set(one, block);
  const blocks = [...found.values()];
  problems.push(...inOtherAccounts(objects.filter(isDescribed), isInAccount));
  const others = [...found].filter(([{ before }]) => isGiven && !flags.all && !isDescribed(before));
  if (others.length === 0) return { blocks, others: 0, problems, objects, absent, leftOut };
  const without = blocksByKey((await planFor(present, [])).planned);
  const isTheSame = ([one, block]: [PlannedObject, Block]) =>
    JSON.stringify(block) === JSON.stringify(without.get(keyWithKindOf(one.before)));
  const unrelated = new Set(others.filter(isTheSame).map(([, block]) => block));
  const related = blocks.filter((block) => !unrelated.has(block));
  return { blocks: related, others: unrelated.size, problems, objects, absent, leftOut };
}

type Settings = Pick<PlanInput, "clusterID" | "formerClusterIDs" | "isClusterIDSet" | "undocumented">;

/** What decides a plan, of what the environment has of the operator's settings. */
const settingsOf = async (config: AccountConfig, client: KubeClient): Promise<Settings> => ({
  clusterID: await neededClusterID(config, client),
  formerClusterIDs: config.formerClusterIDs,
  isClusterIDSet: config.clusterID !== undefined,
  undocumented: config.undocumentedOperations,
});

/**
 * The namespaces that may not adopt, as far as their objects tell: one that asked for it in vain says so. Which others may
 * is a setting of the operator, which the cluster does not show.
 */
export function namespacesWithoutRight(objects: readonly ManagedObject[]): Set<string> {
  const isRefused = ({ status, metadata: { generation } }: ManagedObject) => {
    const stalled = conditionOf(status, "Stalled");
    return stalled?.reason === "AdoptionNotAllowed" && stalled.observedGeneration === generation;
  };
  return new Set(objects.filter(isRefused).map(({ metadata }) => metadata.namespace));
}

async function namespacesToCreate(
  client: KubeClient,
  manifests: readonly Manifest[],
  { namespace, present }: { namespace: string; present: readonly ManagedObject[] },
): Promise<string[]> {
  const objects = manifests.map(({ object }) => object);
  const created = objects.filter(isNamespace).map(({ metadata }) => metadata.name);
  const used = objects.filter((one) => !isNamespace(one)).map(({ metadata }) => metadata.namespace ?? namespace);
  const known = new Set([...created, ...present.map(({ metadata }) => metadata.namespace)]);
  const asked = [...new Set(used).difference(known)];
  const answers = await Promise.all(asked.map((name) => isNamespaceAbsent(client, name)));
  return asked.filter((_, index) => answers[index]);
}

const rowsOf = (remotes: ReadonlyMap<Kind, readonly Remote[]>): ReadonlyMap<string, readonly Remote[]> =>
  new Map([...remotes].map(([{ resource }, rows]) => [resource.name, rows]));

const blocksByKey = (planned: readonly PlannedObject[]): Map<string, Block> =>
  new Map([...blocksOf(planned)].map(([{ before }, block]) => [keyWithKindOf(before), block]));

function refuseNoManifests(manifests: readonly Manifest[], problems: readonly string[]): void {
  if (!manifests.every(({ object }) => isNamespace(object))) return;
  const nothing = `Give other files: there are no manifests of ${API_VERSION} in these`;
  const [problem = nothing, ...details] = problems;
  throw new CommandError(problem, { details });
}

/** A name that is wrong is no reason to say that there is nothing to do. */
async function refuseNone(client: KubeClient, objects: readonly ManagedObject[], scope: Scope): Promise<void> {
  await refuseAbsentNamespace(client, scope, objects);
  if (!scope.isAll && !objects.some(({ metadata }) => includes(scope, metadata.namespace)))
    throw new CommandError(`There are no objects in ${placeOf(scope)}: name another one with -n, or see -A`);
}

/** As kubectl: a manifest of another namespace than `-n` names is a mistake. */
function ofNamespace(manifests: readonly Manifest[], namespace: string, problems: string[]): Manifest[] {
  return manifests.filter(({ where, object }) => {
    const other = object.metadata.namespace;
    if (other === undefined || other === namespace) return true;
    problems.push(
      `${where}: ${object.kind}/${object.metadata.name} is of namespace ${other}, and -n names ${namespace}`,
    );
    return false;
  });
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

/** Whether nothing is sent for it. */
const isIdle = ({ action }: Block): boolean => action === "blocked" || action === "waiting" || action === "left";

function show({ blocks, others, problems, objects, ...more }: Planned, flags: PlanFlags, terminal: Terminal): void {
  const complete = problems.length === 0;
  print(
    {
      value: () => ({ complete, sums: sumsOf(blocks), changes: blocks }),
      names: () => blocks.map(resourceName),
      lines: (screen) => renderPlan(blocks, screen, { complete, count: objects.length, others }),
    },
    flags,
    terminal,
  );
  for (const note of notesOf({ blocks, others, ...more }, flags)) terminal.warn(note);
  reportPartial(problems, terminal);
}

/** What people should know beside the plan. `seeAll`: how to see the other changes. */
export function notesOf(
  { absent, leftOut, others, blocks }: Pick<Planned, "absent" | "leftOut" | "others" | "blocks">,
  { account }: Pick<PlanFlags, "account">,
  seeAll = ": see --all",
): string[] {
  const what = counted(others, "other object changes or waits", "other objects change or wait");
  const adopts = blocks.some(({ action }) => action === "adopt") && account === undefined;
  return [
    ...absent.map((name) => `Create namespace ${name} first: there is none, and these manifests make none`),
    ...leftOut,
    ...(others > 0 ? [`${what}, whatever these manifests say${seeAll}`] : []),
    ...(adopts ? ["An object adopts only if the operator allows it in its namespace: see AdoptionNotAllowed"] : []),
  ];
}

function exitCode({ blocks, problems, absent }: Planned, { detailedExitcode }: PlanFlags): number {
  if (problems.length + absent.length > 0 || blocks.some(({ action }) => action === "blocked")) return 1;
  return detailedExitcode && blocks.some((block) => !isIdle(block)) ? HAS_CHANGES : 0;
}
