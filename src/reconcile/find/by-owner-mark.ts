import type { Remote } from "../../gateway/resource.ts";
import { originOfMarked } from "../../objects/origin.ts";
import { ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import type { Body } from "../../schema/wire/request.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { expectedOf } from "../desired/expected.ts";
import { plan } from "../desired/plan.ts";
import { hasNaturalKey } from "./by-natural-key.ts";
import { isUnclaimed, oldestOf } from "./conflicts.ts";

/**
 * A remote with this object's mark that an earlier object of the same name left in the account, because it was retained
 * or orphaned, or because its status and intent were lost. Taking it prevents a duplicate. Costs one list of the
 * resource in the life of a process, or two that have several pages, and a GET when there is such a remote.
 */
export async function findByOwnerMark(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, owner, changes } = context;
  // The token of an API key is shown once: it is lost here, and whoever has it still needs the key.
  if (kind.output?.shownOnce || !kind.resource.create.includes("metadata")) return undefined;
  const remotes = remotesOf(context);
  const listed = await remotes.search(0, () => findFitting(context), requestOptions(context));
  if (!listed) return undefined;
  const remote = await remotes.read(listed.id, requestOptions(context));
  if (!remote || ownerMarkOf(remote) !== ownerMark(owner)) return undefined;
  changes.push({ type: "Adopted", id: remote.id });
  context.state.origin = originOfMarked(context.object);
  return remote;
}

async function findFitting(context: ReconcileContext): Promise<Remote | undefined> {
  const marked = remotesOf(context)
    .ownedBy(ownerMark(context.owner))
    .filter((remote) => isUnclaimed(context, remote) && hasNaturalKey(context, remote));
  if (marked.length === 0) return undefined;
  const { body } = await expectedOf(context);
  const fitting = marked.filter((remote) => hasSameIdentity(context, remote, body));
  return oldestOf(context, fitting);
}

/** With another value in a field that cannot be updated, a remote is not the one that this object asks for. */
const hasSameIdentity = ({ kind }: ReconcileContext, remote: Remote, wanted: Body): boolean =>
  plan(kind, { wanted, seen: fromAnswer(kind.spec, remote), applied: [], renewed: [] }).frozen.length === 0;
