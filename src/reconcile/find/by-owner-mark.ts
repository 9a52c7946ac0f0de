import type * as z from "zod";
import type { Row } from "../../account/inventory.ts";
import { ownerIn, ownerText } from "../../objects/ownership.ts";
import { traitsOf } from "../../schema/traits.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { type Pass, remotesOf, sending } from "../context.ts";
import { plan } from "../desired/plan.ts";
import { wantedOf } from "../desired/wanted.ts";

/**
 * A remote that an object of this name has left in the account, because it was to be retained or was released, or
 * because what was written down about it is lost: it has the mark of this object, and a second one is not made. Takes
 * one list of the resource in the life of a process.
 */
export async function leftBehind(pass: Pass): Promise<Row | undefined> {
  const { kind, owner, findings } = pass;
  // a value that is shown once is lost by now, and whoever has it still needs it
  if (kind.output?.once || !kind.remote.create.includes("metadata")) return undefined;
  const remotes = remotesOf(pass);
  await remotes.listed(0, pass.lane);
  const marked = remotes.ownedBy(ownerText(owner)).filter((row) => isFree(pass, row) && hasSameKey(pass, row));
  if (marked.length === 0) return undefined;
  const { body } = await wantedOf(pass);
  const fitting = marked.filter((row) => fits(pass, row, body));
  const row = first(pass, fitting);
  if (!row) return undefined;
  const now = await remotes.find(row.id, sending(pass), true);
  if (!now || ownerIn(now) !== ownerText(owner)) return undefined;
  findings.adopted = true;
  return now;
}

/** What cannot be changed in place is as wanted: with other values it is not what this object stands for. */
const fits = ({ kind }: Pass, row: Row, wanted: Parameters<typeof plan>[1]["wanted"]): boolean =>
  plan(kind, { wanted, seen: fromAnswer(kind.spec, row), applied: [], renewed: [] }).frozen.length === 0;

/** No other object has it. */
export const isFree = ({ account, cluster, kind, object }: Pass, { id }: Row): boolean =>
  cluster.othersWithID(kind, id, object).length === 0 && !account.isReserved(id, object);

/** Whether a row has the natural key of the spec; true where the kind has none. */
export function hasSameKey({ kind, object }: Pass, row: Row): boolean {
  const { naturalKey, spec } = kind;
  if (!naturalKey) return true;
  const { normalize = (value: unknown) => value } = traitsOf(spec.shape[naturalKey] as z.ZodType);
  return normalize(row[naturalKey]) === normalize(object.spec[naturalKey]);
}

/** Of several that may be this object's the oldest. The others stay, and are told. */
export function first({ findings }: Pass, rows: readonly Row[]): Row | undefined {
  const time = (row: Row) => Date.parse(String(row["created_at"])) || 0;
  const [oldest, ...others] = rows.toSorted((a, b) => time(a) - time(b));
  if (others.length > 0) findings.doubles = others.map(({ id }) => id);
  return oldest;
}
