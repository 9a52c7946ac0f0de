import type * as z from "zod";
import type { Remote } from "../../account/inventory.ts";
import { ownerMark, ownerMarkOf } from "../../objects/ownership.ts";
import { traitsOf } from "../../schema/traits.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { plan } from "../desired/plan.ts";
import { expectedOf } from "../desired/wanted.ts";

/**
 * A remote that an object of this name has left in the account, because it was to be retained or was released, or
 * because what was written down about it is lost: it has the mark of this object, and a second one is not made. Takes
 * one list of the resource in the life of a process.
 */
export async function findByOwnerMark(context: ReconcileContext): Promise<Remote | undefined> {
  const { kind, owner, changes } = context;
  // a value that is shown once is lost by now, and whoever has it still needs it
  if (kind.output?.once || !kind.remote.create.includes("metadata")) return undefined;
  const remotes = remotesOf(context);
  await remotes.listed(0, context.lane);
  const marked = remotes
    .ownedBy(ownerMark(owner))
    .filter((row) => isUnclaimed(context, row) && hasSameKey(context, row));
  if (marked.length === 0) return undefined;
  const { body } = await expectedOf(context);
  const fitting = marked.filter((row) => fits(context, row, body));
  const row = oldestOf(context, fitting);
  if (!row) return undefined;
  const now = await remotes.find(row.id, requestOptions(context), true);
  if (!now || ownerMarkOf(now) !== ownerMark(owner)) return undefined;
  changes.push({ type: "Adopted", id: now.id });
  return now;
}

/** What cannot be changed in place is as wanted: with other values it is not what this object stands for. */
const fits = ({ kind }: ReconcileContext, row: Remote, wanted: Parameters<typeof plan>[1]["wanted"]): boolean =>
  plan(kind, { wanted, seen: fromAnswer(kind.spec, row), applied: [], renewed: [] }).frozen.length === 0;

/** No other object has it. */
export const isUnclaimed = ({ account, cluster, kind, object }: ReconcileContext, { id }: Remote): boolean =>
  cluster.othersWithRemoteID(kind, id, object).length === 0 && !account.isReserved(id, object);

/** Whether a row has the natural key of the spec; true where the kind has none. */
export function hasSameKey({ kind, object }: ReconcileContext, row: Remote): boolean {
  const { naturalKey, spec } = kind;
  if (!naturalKey) return true;
  const { normalize = (value: unknown) => value } = traitsOf(spec.shape[naturalKey] as z.ZodType);
  return normalize(row[naturalKey]) === normalize(object.spec[naturalKey]);
}

/** Of several that may be this object's the oldest. The others stay, and are told. */
export function oldestOf({ changes }: ReconcileContext, rows: readonly Remote[]): Remote | undefined {
  const time = (row: Remote) => Date.parse(String(row["created_at"])) || 0;
  const [oldest, ...others] = rows.toSorted((a, b) => time(a) - time(b));
  if (others.length > 0) changes.push({ type: "Duplicates", ids: others.map(({ id }) => id) });
  return oldest;
}
