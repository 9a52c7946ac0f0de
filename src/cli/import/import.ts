import { join } from "node:path";
import { readAccountConfig } from "../../config.ts";
import { moduleOwnerOf } from "../../gateway/path.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import { kinds } from "../../kinds/index.ts";
import { type ManagedObject, typeOf } from "../../objects/object.ts";
import { ownerMarkOf, parseMark } from "../../objects/ownership.ts";
import { isKindAbsent } from "../../runtime/connection/errors.ts";
import { customResourceOf } from "../../schema/common.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { counted } from "../../schema/nouns.ts";
import { type AccountFlags, findCredentials } from "../account/credentials.ts";
import { withMetadata } from "../account/listed-metadata.ts";
import { AccountFailure, AccountReader } from "../account/reader.ts";
import { connect, isNamedCluster } from "../cluster/connect.ts";
import { messageForUser } from "../cluster/failure.ts";
import { commentedOut, linesOf, streamOf } from "../terminal/kubernetes-yaml.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";
import { writeFiles } from "./files.ts";
import { type Imported, type Manifest, manifestsOf, secretsYAML } from "./manifest.ts";
import { nameSourceOf, namesOf } from "./names.ts";
import { type Filters, type Selection, selectionOf } from "./select.ts";
import { readTerraform, removedBlocks, type TerraformState } from "./terraform.ts";

export interface ImportFlags extends AccountFlags, Filters {
  output?: string;
  nameFrom: string;
  mark: boolean;
  /** With `output`: replace files that have another text. */
  overwrite?: boolean;
  /** A file of Terraform with the resources to import. */
  terraform?: string;
}

/**
 * `import`: writes manifests for remotes of the account. It only reads the account. If something cannot be read or
 * written, the command says so and its exit code is 1.
 */
export async function importAccount(args: readonly string[], flags: ImportFlags, terminal: Terminal): Promise<number> {
  const state = flags.terraform === undefined ? undefined : await readTerraform(flags.terraform, kinds);
  const given = state && namesIn(state);
  const source = given ? { names: given } : nameSourceOf(flags.nameFrom);
  const selection = selectionOf([...args, ...(given?.keys() ?? [])], flags, kinds);
  const credentials = await findCredentials(flags);
  await using reader = new AccountReader(credentials);
  const problems: string[] = [];
  const found = await readSelected(reader, selection, { terminal, problems });
  const wanted = [...found].flatMap(([kind, remotes]) =>
    remotes.some((remote) => selection.matches(kind, remote)) ? [kind] : [],
  );
  const existing = await objectsInNamespace(wanted, flags, problems);
  const imported = [...found].flatMap(([kind, remotes]): Imported[] => {
    const chosen = remotes.filter((remote) => selection.matches(kind, remote));
    const leftOut = remotes.filter((remote) => !selection.matches(kind, remote));
    const objects = existing.get(kind);
    const taken = objects ? namesOfOthers(objects, chosen) : namesInMarks(leftOut, flags);
    const names = namesOf(kind, chosen, source, taken);
    const named = chosen.map((remote) => ({ kind, remote, name: names.get(remote.id) ?? remote.id }));
    return named.sort((one, other) => (one.name < other.name ? -1 : 1));
  });
  const { namespace, mark } = flags;
  const account = credentials.gatewayAccount?.name;
  const options = { namespace, mark, accountRef: account === DEFAULT_ACCOUNT ? undefined : account };
  const { manifests, refused } = manifestsOf(imported, options);
  problems.push(
    ...refused.map(({ kind, name, refusal }) => `${kind}/${name} is left out: no object can be like it: ${refusal}`),
    ...manifests.flatMap(({ kind, name, leftOut }) =>
      leftOut.map((path) => `${kind}/${name}: spec.${path} is left out: no spec can have its value`),
    ),
  );
  const removed = state ? blocksFor(state, found) : "";
  if (flags.output === undefined) await print(manifests, flags, terminal);
  else await writeFiles(flags.output, filesOf(manifests, removed, flags), flags.overwrite === true);
  if (state) tellOfTerraform(state, removed, flags, terminal);
  const managed = [...found].flatMap(([kind, remotes]) =>
    remotes.filter((remote) => selection.isManaged(kind, remote)),
  );
  return report({ manifests, managed: managed.length, problems }, flags, terminal);
}

/** The names of objects, by the ids of their remotes. */
const namesIn = ({ resources }: TerraformState): Map<string, string> =>
  new Map(resources.map(({ id, name }) => [id, name]));

/** How Terraform forgets the resources that were found, including those that an object manages already. */
function blocksFor({ resources }: TerraformState, found: ReadonlyMap<Kind, readonly Remote[]>): string {
  const ids = new Set([...found.values()].flatMap((remotes) => remotes.map(({ id }) => id)));
  return removedBlocks(resources.filter(({ id }) => ids.has(id)));
}

function tellOfTerraform(
  { others }: TerraformState,
  removed: string,
  { output }: ImportFlags,
  terminal: Terminal,
): void {
  if (output === undefined)
    terminal.warn([
      "Add to the configuration of Terraform, in place of the resources:",
      ...removed.split("\n").map((text) => ({ text, isWhole: true as const })),
    ]);
  else if (removed !== "")
    terminal.warn(`Move ${join(output, "removed.tf")} to the configuration of Terraform, in place of the resources`);
  if (others.length > 0) terminal.warn(`Not of this service, and left to Terraform: ${others.join(", ")}`);
}

/**
 * The objects of these kinds in the namespace that the manifests are for, else in that of the kubeconfig context. A kind
 * that cannot be read is left out and becomes a problem, and so the command works without a cluster. It is no problem if
 * there is no kubeconfig, or if the cluster does not know the kind. Throws CommandError if the flags name a cluster that
 * is in no kubeconfig.
 */
async function objectsInNamespace(
  of: readonly Kind[],
  flags: ImportFlags,
  problems: string[],
): Promise<ReadonlyMap<Kind, readonly ManagedObject[]>> {
  const { context, kubeconfig } = flags;
  const found = new Map<Kind, readonly ManagedObject[]>();
  const failures = new Set<string>();
  try {
    await using cluster = connect({ ...readAccountConfig({ KUBECONFIG: kubeconfig }), context });
    const where = { namespace: flags.namespace ?? cluster.namespace, deadlineSeconds: 5 };
    const read = async (kind: Kind): Promise<void> => {
      const { items } = await cluster.client.listAll<ManagedObject>(typeOf(customResourceOf(kind)), where);
      found.set(kind, items);
    };
    await Promise.all(of.map((kind) => read(kind).catch((error: unknown) => noteFailure(error, failures))));
  } catch (error) {
    if (!(error instanceof CommandError) || isNamedCluster(flags)) throw error;
  }
  problems.push(...failures);
  return found;
}

/** Throws the error again if no user can do something about it. */
function noteFailure(error: unknown, failures: Set<string>): void {
  if (isKindAbsent(error)) return;
  const message = messageForUser(error);
  if (message === undefined) throw error;
  failures.add(`Another object may have the name of one of these: ${message}`);
}

/** Names of objects that have or adopt none of these remotes. */
function namesOfOthers(objects: readonly ManagedObject[], chosen: readonly Remote[]): Set<string> {
  const ids = new Set<unknown>(chosen.map(({ id }) => id));
  const others = objects.filter(({ spec, status }) => !ids.has(status?.id) && !ids.has(spec.adopt?.id));
  return new Set(others.map(({ metadata }) => metadata.name));
}

/** Names of objects whose remotes are left out, from the owner marks of these remotes. */
function namesInMarks(leftOut: readonly Remote[], { namespace }: ImportFlags): Set<string> {
  const marks = leftOut.flatMap((remote) => parseMark(ownerMarkOf(remote)) ?? []);
  const near = marks.filter((mark) => namespace === undefined || mark.namespace === namespace);
  return new Set(near.map(({ name }) => name));
}

interface Reading {
  terminal: Terminal;
  problems: string[];
}

/**
 * The remotes of each kind whose list could be read, and those that no list shows. What cannot be read becomes a
 * problem, and so does an id that the account does not have. Throws CommandError if the account cannot be read at all.
 */
async function readSelected(
  reader: AccountReader,
  selection: Selection,
  { terminal, problems }: Reading,
): Promise<Map<Kind, Remote[]>> {
  const found = new Map<Kind, Remote[]>();
  const attempt = async (kind: Kind, read: () => Promise<readonly Remote[]>): Promise<void> => {
    try {
      found.set(kind, [...(found.get(kind) ?? []), ...(await read())]);
    } catch (error) {
      const isFatal = error instanceof AccountFailure && found.size === 0;
      if (isFatal || !(error instanceof CommandError)) throw error;
      problems.push(error.message);
    }
  };
  for (const kind of selection.kinds) {
    const show = (count: number) => terminal.progress?.(`Reading ${kind.resource.path}: ${count}`);
    // A manifest has the metadata, and the names of what is managed already are those in the owner marks.
    await attempt(kind, async () =>
      withMetadata(kind.resource, await reader.list(kind.resource, show), { reader, terminal }, () => true),
    );
  }
  for (const { kind, id } of selection.unlisted) await attempt(kind, () => readModules(reader, kind, id, problems));
  // A list that failed may have the id.
  if (!selection.kinds.every((kind) => found.has(kind))) return found;
  const ids = new Set([...found.values()].flatMap((remotes) => remotes.map(({ id }) => id)));
  const missing = [...selection.ids].filter((id) => !ids.has(id));
  problems.push(...missing.map((id) => `Give another id: the account has no ${id}`));
  return found;
}

/** A remote that consists of modules, each with a path of its own. None when no module is set. */
async function readModules(reader: AccountReader, kind: Kind, id: string, problems: string[]): Promise<Remote[]> {
  const answers: [string, object][] = [];
  for (const [member, module] of Object.entries<Module>(kind.modules)) {
    const answer = await reader.module(module, moduleOwnerOf(module, id));
    if (answer) answers.push([member, answer]);
  }
  if (answers.length > 0) return [{ id, ...Object.fromEntries(answers) }];
  problems.push(`The ${kind.resource.title} ${id} has no modules, or does not exist`);
  return [];
}

async function print(manifests: readonly Manifest[], { namespace }: ImportFlags, terminal: Terminal): Promise<void> {
  const secrets = secretsYAML(
    manifests.flatMap((manifest) => manifest.secrets),
    namespace,
  );
  const hint = "# Fill in these Secrets, and apply them.\n";
  const end = secrets === "" ? [] : [`${hint}${commentedOut(secrets.trimEnd())}\n`];
  const text = streamOf([...manifests.map(({ yaml }) => yaml), ...end]).trimEnd();
  if (text !== "") terminal.say(linesOf(text));
}

/** One file for each object, and one that `kubectl apply` does not read until it is filled in and renamed. */
function filesOf(manifests: readonly Manifest[], removed: string, { namespace }: ImportFlags): Map<string, string> {
  const files = manifests.map(({ kind, name, yaml }): [string, string] => [`${kind.toLowerCase()}-${name}.yaml`, yaml]);
  const secrets = manifests.flatMap((manifest) => manifest.secrets);
  const hint = "# Fill in what is empty, then: kubectl apply -f secrets.yaml.example\n";
  if (secrets.length > 0) files.push(["secrets.yaml.example", hint + secretsYAML(secrets, namespace)]);
  if (removed !== "") files.push(["removed.tf", removed]);
  return new Map(files);
}

interface Written {
  manifests: readonly Manifest[];
  /** How many remotes were left out for their owner marks alone. */
  managed: number;
  problems: readonly string[];
}

function report({ manifests, managed, problems }: Written, { output }: ImportFlags, terminal: Terminal): number {
  const secrets = manifests.flatMap((manifest) => manifest.secrets).length;
  const where = output === undefined ? "" : ` to ${output}`;
  terminal.warn(
    `${counted(manifests.length, "object")} written${where}${problems.length > 0 ? "; this is not all:" : ""}`,
  );
  if (secrets > 0)
    terminal.warn(
      `${counted(secrets, "of them is", "of them are")} only observed until you fill in ${secrets === 1 ? "its Secret" : "their Secrets"}${output ? ": see secrets.yaml.example there" : ", at the end"}`,
    );
  for (const problem of problems) terminal.warn(problem);
  if (managed > 0)
    terminal.warn(
      `${counted(managed, "has an owner mark and is", "have an owner mark and are")} left out: see --no-exclude-managed`,
    );
  return problems.length > 0 ? 1 : 0;
}
