import { Outdated, Waiting } from "../../objects/reconcile-error.ts";
import { visible } from "../../schema/wire/applied.ts";
import { has, now, type ReconcileContext } from "../context.ts";
import { nextStatus } from "../status/report.ts";

/**
 * Puts into the status, before an update is sent, what whoever comes next has to know of it: that a field was set which
 * a later spec may set no more, and of what an interrupted create has made the id, since a remote that bears no mark is
 * known by what it is like, and changes. What a create sends is in its intent.
 */
export async function checkpointUpdate(context: ReconcileContext): Promise<void> {
  const { kind, object, cluster, state } = context;
  const { status = {} } = object;
  if (has(context, "Created")) return;
  if (has(context, "Recovered") && status.id !== state.remote?.id) await checkpointID(context, "Updating the resource");
  const { appliedFields = [] } = state;
  if (visible(appliedFields).every((field) => status.appliedFields?.includes(field))) return;
  await cluster.writeStatus(kind, object, { ...status, appliedFields });
  const { namespace, name, uid, generation } = object.metadata;
  const written = cluster.get(kind.kind, namespace, name);
  if (written?.metadata.uid !== uid || written.metadata.generation !== generation)
    throw new Outdated("the object has changed");
  context.object = written;
}

/** Writes down the id of the remote, with all that is known of it, and leaves the rest to the next reconcile. */
export async function checkpointID(context: ReconcileContext, message: string): Promise<never> {
  const error = new Waiting("Updating", message);
  await context.cluster.writeStatus(
    context.kind,
    context.object,
    nextStatus(context, { type: "unfinished", error }, now(context)),
  );
  throw new Outdated("the id was written down");
}
