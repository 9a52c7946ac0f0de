import type { Remote } from "../../gateway/resource.ts";
import type { Kind } from "../../schema/define.ts";
import { isExposedWithout, membersReferringTo } from "../../schema/wire/uses.ts";
import { type ReconcileContext, requestOptions } from "../context.ts";

/** As many remotes are read one by one to see what uses a remote. */
const MOST_READ = 20;

interface Completed {
  remotes: readonly Remote[];
  /** False when the list leaves out what only more reads than that would show. */
  areAllSeen: boolean;
}

/**
 * The listed remotes of a kind, to see which of them have a remote of the kind `target` in them. A member that is not set
 * is null in a list. Where a row leaves it out, and the remote would be open to others without the target, it is read.
 * Callers in the same burst of deletions share these reads.
 */
export async function completed(context: ReconcileContext, kind: Kind, target: Kind): Promise<Completed> {
  const { account } = context;
  const collection = account.collection(kind.resource);
  const listed = collection.allCached();
  if (!isExposedWithout(kind.spec, target.kind)) return { remotes: listed, areAllSeen: true };
  const members = membersReferringTo(kind.spec, target.kind);
  const incomplete = listed.filter((remote) => members.some((member) => remote[member] === undefined));
  const since = account.deletionBurst.beganAt;
  const first = incomplete.slice(0, MOST_READ);
  const read = ({ id }: Remote) => collection.readSince(id, since, requestOptions(context));
  const answers = (await Promise.all(first.map(read))).flatMap((remote) => remote ?? []);
  // Where a GET leaves these members out as well, the service does so with what is not set.
  const showsMore = answers.some((remote) => members.some((member) => remote[member] !== undefined));
  return {
    remotes: [...listed.filter((remote) => !first.includes(remote)), ...answers],
    areAllSeen: incomplete.length === first.length || !showsMore,
  };
}
