import { readAccountConfig } from "../../config.ts";
import type { Remote } from "../../gateway/resource.ts";
import { kinds } from "../../kinds/index.ts";
import { idFromSpec, listedID } from "../../objects/identity.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { readRemote } from "../../plan/account-of-copy.ts";
import { ClusterCopy, type ClusterSource } from "../../plan/cluster-copy.ts";
import { compareWithRemote } from "../../plan/comparison.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import { type AccountFlags, findCredentials, sharersOf } from "../account/credentials.ts";
import { AccountReader } from "../account/reader.ts";
import { connect } from "../cluster/connect.ts";
import { reportPartial } from "../cluster/partial.ts";
import { scopeOf, whichOf } from "../cluster/scope.ts";
import { membersOf } from "../graph/accounts.ts";
import { findNodes } from "../graph/find.ts";
import { graphOf, type Node, readyOf, titleOf } from "../graph/graph.ts";
import { readObjects } from "../graph/load.ts";
import { wantedBy } from "../graph/named.ts";
import { resourceName } from "../graph/output.ts";
import { accountSource, clusterSource } from "../plan/sources.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";
import { type ComparedObject, renderDiff } from "./render.ts";

interface Flags extends AccountFlags, OutputFlags {
  detailedExitcode?: boolean;
}

/** With `--detailed-exitcode`. */
const DIFFERS = 2;

/** `diff`: compares an object with its remote, as both are now. Read-only. */
export async function diff(words: readonly string[], flags: Flags, terminal: Terminal): Promise<number> {
  const wanted = wantedBy(words);
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  const credentials = await findCredentials(flags);
  await using cluster = connect({ ...config, context: flags.context });
  await using reader = new AccountReader(credentials);
  const problems: string[] = [];
  const scope = scopeOf(flags, cluster.namespace);
  const { namespace } = scope;
  const read = await readObjects(cluster.client, whichOf(scope), problems, terminal);
  const { objects, defaults, accounts } = read;
  const found = findNodes(graphOf(new Map(), objects), wanted, scope, problems).filter(hasObject);
  const sharers = await sharersOf(credentials, accounts, { client: cluster.client, flags });
  const isInAccount = membersOf({ sharers, objects, remotes: new Map(), defaults });
  const source = clusterSource(cluster.client, { manifests: [], namespace, problems });
  const copy = copyOf([...objects.values()].flat(), isInAccount, source);
  const compared: ComparedObject[] = [];
  for (const node of found) {
    if (!isInAccount(node.object))
      throw new CommandError(`${titleOf(node)} is in another account: name it with --account`);
    terminal.progress?.(`Reading the remote of ${titleOf(node)}`);
    compared.push(await compare(node.kind, node.object, { reader, copy, problems, missing: problems }));
  }
  return show(compared, problems, flags, terminal);
}

const hasObject = (node: Node): node is Node & { object: ManagedObject } => node.object !== undefined;

/** The objects of a cluster, for a comparison with remotes of the account that `isInAccount` tells. */
export function copyOf(
  objects: readonly ManagedObject[],
  isInAccount: (object: ManagedObject) => boolean,
  source: ClusterSource,
): ClusterCopy {
  const isSame = (one: ManagedObject, other: ManagedObject) => [one, other].every(isInAccount);
  return new ClusterCopy({
    kinds,
    objects,
    source,
    isSameAccount: isSame,
    isSameInventory: isSame,
    mayAdopt: () => true,
  });
}

export interface Sides {
  reader: AccountReader;
  copy: ClusterCopy;
  problems: string[];
  /** What specs refer to and does not exist is told here. Fields that need it are not compared. */
  missing: string[];
  /** Remotes that a list has shown, by kind. One that is not among them is read. */
  remotes?: ReadonlyMap<Kind, readonly Remote[]>;
}

/** Compares an object with its remote, field by field. */
export async function compare(kind: Kind, object: ManagedObject, sides: Sides): Promise<ComparedObject> {
  const { copy } = sides;
  const id = object.status?.id ?? idFromSpec(kind, object, copy) ?? object.spec.adopt?.id;
  const { namespace, name } = object.metadata;
  const about = { kind: kind.kind, namespace, name, ...(id !== undefined && { id }) };
  const remote = id === undefined ? undefined : await remoteOf(kind, id, sides);
  if (!remote) {
    const { reason, message } = readyOf({ object });
    return { ...about, inAccount: false, ...(reason && { reason, message }), fields: [] };
  }
  const { fields, problems } = await compareWithRemote(kind, object, remote, copy);
  sides.missing.push(...problems.map((problem) => `${kind.kind}/${name}: ${problem}`));
  return { ...about, inAccount: true, fields };
}

/** Reads the remote. For an entry: the remote that has the list. For modules: the remote that has the modules. */
async function remoteOf(kind: Kind, id: string, { reader, problems, remotes }: Sides) {
  const resource = listOf(kind);
  const listed = listedID(kind, id);
  const known = [...(remotes ?? [])].find(([{ resource: one }]) => one === resource)?.[1];
  const row = known?.find((one) => one.id === listed) ?? (resource && (await reader.get(resource, listed)));
  const rows = new Map(resource ? [[resource.name, row ? [row] : []]] : []);
  return readRemote(accountSource(reader, rows, problems), kind, id);
}

function show(
  objects: readonly ComparedObject[],
  problems: readonly string[],
  flags: Flags,
  terminal: Terminal,
): number {
  const complete = problems.length === 0;
  const differing = objects.filter(
    ({ inAccount, fields }) => !inAccount || fields.some(({ state }) => state === "differs"),
  );
  print(
    {
      value: () => ({ complete, objects }),
      names: () => differing.map(resourceName),
      lines: (screen) => renderDiff(objects, screen),
    },
    flags,
    terminal,
  );
  if (!complete) return reportPartial(problems, terminal);
  return flags.detailedExitcode && differing.length > 0 ? DIFFERS : 0;
}
