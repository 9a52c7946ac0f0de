import { isGatewayError, isNotFound } from "../../gateway/errors.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { fieldsReferringTo } from "../../schema/wire/uses.ts";
import { type ReconcileContext, requestOptions, updatableRemotesOf } from "../context.ts";
import { plan } from "../desired/plan.ts";
import { inUseErrorOf } from "../use/refusal.ts";

/** Removes all references to other remotes from a remote, so that those can be deleted before it. */
export async function emptyRemote(context: ReconcileContext, id: string): Promise<void> {
  const { kind, changes } = context;
  const remotes = updatableRemotesOf(context);
  try {
    const remote = await remotes.get(id, requestOptions(context));
    if (!remote) return;
    const applied = fieldsReferringTo(kind.spec).map(([field]) => field);
    const { body, fields } = plan(kind, { wanted: {}, seen: fromAnswer(kind.spec, remote), applied, renewed: [] });
    if (fields.length === 0) return;
    await remotes.update(id, body, requestOptions(context));
    changes.push({ type: "Updated", id, fields, drifted: false });
  } catch (error) {
    if (isNotFound(error)) return;
    throw isGatewayError(error) ? (inUseErrorOf(context, error) ?? error) : error;
  }
}
