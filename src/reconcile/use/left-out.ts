import type { Remote } from "../../gateway/resource.ts";
import type { Kind } from "../../schema/define.ts";
import { isExposedWithout, membersReferringTo } from "../../schema/wire/uses.ts";
import { type ReconcileContext, requestOptions } from "../context.ts";

/** How many remotes are read one by one, at most, to find the users of a remote. */
const MOST_READ = 20;

interface Completed {
  remotes: readonly Remote[];
  /** False when lists leave out members that only further reads would show. */
  areAllSeen: boolean;
}

/**
 * The listed remotes of a kind, complete enough to see which of them refer to a remote of the kind `target`. A list
 * shows an unset member as null. A row that lacks the member is read if the remote would be open to everybody without
 * the target. Callers in the same burst of deletions share these reads.
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
  // If a GET leaves out these members as well, the service leaves out members that are not set.
  const showsMore = answers.some((remote) => members.some((member) => remote[member] !== undefined));
  return {
    remotes: [...listed.filter((remote) => !first.includes(remote)), ...answers],
    areAllSeen: incomplete.length === first.length || !showsMore,
  };
}
