import { stringify } from "yaml";
import { readAccountConfig } from "../../config.ts";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { customResourceOf } from "../../schema/common.ts";
import { durationPattern, durationSeconds } from "../../schema/duration.ts";
import { type ClusterFlags, connect } from "../cluster/connect.ts";
import { typeOf } from "../cluster/objects.ts";
import { shownOn, WaitTimeout, waitAtMost } from "../cluster/wait.ts";
import { isKind } from "../graph/find.ts";
import { CommandError, type Terminal, UsageError } from "../terminal/terminal.ts";
import type { Move, Place } from "./manifest.ts";
import { rewriteManifests } from "./rewrite.ts";
import { handOver, letGo, type MoveParts, prepareMove, type Referrer, referrersOf, titleOf } from "./steps.ts";

interface Flags extends ClusterFlags {
  namespace?: string;
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
  const { kubeconfig, context } = flags;
  await using cluster = connect({ ...readAccountConfig({ KUBECONFIG: kubeconfig }), context });
  const namespace = flags.namespace ?? cluster.namespace;
  const { client } = cluster;
  const given: Move = { kind: kindNamed(kind), from: placeOf(from, namespace), to: placeOf(to, namespace) };
  if (titleOf(given, given.from) === titleOf(given, given.to)) throw new UsageError("Give two different names");
  const parts: MoveParts = { client, move: given, wait: shownOn(terminal, waitAtMost(seconds)), tell: terminal.say };
  try {
    const prepared = await prepareMove(parts);
    if (flags.dryRun) {
      if (prepared) terminal.say(stringify(prepared.manifest, { lineWidth: 0 }).trimEnd());
      return report(await referrersOf(parts), parts, flags, terminal);
    }
    await handOver(parts, prepared);
    if (flags.rewrite) await rewrite(parts, namespace, flags, terminal);
    const referrers = await referrersOf(parts);
    if (referrers.length > 0) return report(referrers, parts, flags, terminal);
    await letGo(parts);
    return 0;
  } catch (error) {
    if (!(error instanceof WaitTimeout)) throw error;
    throw new CommandError(`${error.message}. Run this again to go on`);
  }
}

/** The timeout in seconds. Throws UsageError for flags that do not fit. */
function checked({ timeout, toContext, rewrite, filename, dryRun }: Flags): number {
  // An operator writes to nothing that carries the mark of another cluster, and no object can give that mark away.
  if (toContext !== undefined)
    throw new UsageError(`Follow "To another cluster" in docs/how-to/move.md: this command moves within one cluster`);
  if (!durationPattern.test(timeout)) throw new UsageError("--timeout must be a duration, such as 90s, 4m or 1h");
  if (rewrite && dryRun) throw new UsageError("Choose one: --rewrite or --dry-run");
  if (rewrite !== (filename !== undefined) && (rewrite || filename))
    throw new UsageError("Give --rewrite and -f together: -f says which manifests are rewritten");
  if (filename?.includes("-")) throw new UsageError("-f must be files or folders, which are written");
  return durationSeconds(timeout);
}

function kindNamed(text: string): Move["kind"] {
  const kind = kinds.find((one) => isKind(one, text));
  if (kind) return kind;
  throw new UsageError(`There is no kind ${text}`);
}

function placeOf(text: string, namespace: string): Place {
  const [first = "", second, ...rest] = text.split("/");
  if (first === "" || second === "" || rest.length > 0) throw new UsageError(`Give NAMESPACE/NAME, not ${text}`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

async function rewrite({ client, move: given }: MoveParts, namespace: string, flags: Flags, terminal: Terminal) {
  const next = await client.get<ManagedObject>(typeOf(customResourceOf(given.kind)), given.to);
  const rewriting = { move: given, next, namespace };
  const files = await rewriteManifests(flags.filename ?? [], flags.recursive === true, rewriting);
  for (const file of files) terminal.say(`Rewrote ${file}`);
}

/** Prints which objects still refer to the old object, and what to do about it. */
function report(referrers: readonly Referrer[], parts: MoveParts, flags: Flags, terminal: Terminal): number {
  const { from, to } = parts.move;
  for (const { kind, name, path } of referrers) terminal.warn(`${kind}/${name} refers to ${from.name}: spec.${path}`);
  if (flags.dryRun || referrers.length === 0) return 0;
  const way = from.namespace === to.namespace ? `by name: ${to.name}` : "by id";
  const done = flags.rewrite ? "Apply the manifests" : `Let them refer to the new object ${way}`;
  terminal.warn(`${titleOf(parts.move, from)} stays until nothing refers to it. ${done}, then run this again`);
  return 1;
}
