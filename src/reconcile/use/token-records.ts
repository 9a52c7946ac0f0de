import type { Remote } from "../../gateway/resource.ts";
import type { ReconcileContext } from "../context.ts";
import type { OutputContext } from "../features.ts";

// Which id has which token is known only while the token is in its Secret. So a digest of the token is in the status,
// made with a secret of the operator, from before the token is stored anywhere until its remote is gone. The next process
// then knows which key the operator sends with, although the Secret may be lost.

/** Nobody was ever given the token: the process ended before it was stored, or the answer did not show it. */
const NOBODY = "";

/** The record of a token; NOBODY if there never was one to use. Undefined: the token is unknown, and may be used. */
const tokenRecordOf = ({ state, object }: Pick<ReconcileContext, "state" | "object">, id: string) =>
  (state.next.tokenDigests ?? object.status?.tokenDigests)?.[id];

/** The record of a token, if the operator can compare it with others, or NOBODY. Undefined: nothing is known of the token. */
export function usableRecordOf(context: ReconcileContext, id: string): string | undefined {
  const record = tokenRecordOf(context, id);
  if (record === undefined || record === NOBODY || context.cluster.accounts.isTokenRecord(record)) return record;
  return undefined;
}

/** Records the token of a remote that this process has seen. Call it before the token is stored. */
export function recordToken({ memory, cluster, state, object }: ReconcileContext, { id }: Remote, token: string): void {
  note({ state, object }, id, cluster.accounts.tokenRecordOf(memory.recordToken(id, token)));
}

/**
 * Call it when the token of a remote is not in its Secret, or its object goes. If an interrupted create made the remote and its
 * token has no record, the token was never stored, so nobody has it.
 */
export function recordLostToken(context: OutputContext, remote: Remote): void {
  const { memory } = context;
  if (memory.tokenDigestOf(remote.id) !== undefined || tokenRecordOf(context, remote.id) !== undefined) return;
  const isRecovered = context.changes.some((one) => one.type === "Recovered" && one.id === remote.id);
  if (isRecovered) note(context, remote.id, NOBODY);
}

/** Records that the answer to the create of a remote, which alone shows its token, did not show it. */
export const recordUnseenToken = (context: OutputContext, { id }: Remote): void => note(context, id, NOBODY);

/** Whether nobody was ever given the token of a remote. */
export const isUnseenToken = (context: Pick<ReconcileContext, "state" | "object">, id: string): boolean =>
  tokenRecordOf(context, id) === NOBODY;

function note({ state, object }: Pick<ReconcileContext, "state" | "object">, id: string, record: string): void {
  const known = state.next.tokenDigests ?? object.status?.tokenDigests ?? {};
  if (known[id] !== record) state.next.tokenDigests = { ...known, [id]: record };
}
