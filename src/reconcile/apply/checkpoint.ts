import type { Remote } from "../../gateway/resource.ts";
import { createContinued, type Step, updateUnderWay } from "../../objects/errors/change.ts";
import { intentOf } from "../../objects/intent.ts";
import type { SecretVersion, Status } from "../../objects/object.ts";
import { isMarkOf, ownerMarkOf } from "../../objects/ownership.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { areSameVersions, keptWhileSending } from "../../objects/secret-versions.ts";
import { withoutHidden } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import { appliedSecretsOf, epochMs, has, type ReconcileContext, serviceEpochMs } from "../context.ts";
import { changeEvents } from "../status/events.ts";
import { nextStatus } from "../status/report.ts";

/**
 * Writes into the status, before an update is sent, what the next process needs if this one dies:
 *
 * - the fields that are about to be set, so that they are cleared when a later spec drops them, and the origin of their
 *   modules;
 * - Secret values that are about to be replaced by those of other keys, so that they are sent again when a later spec
 *   goes back to them;
 * - the id of a remote that an interrupted create made.
 *
 * A create needs no checkpoint, because its fields are in its intent.
 */
export async function checkpointUpdate(context: ReconcileContext, secrets: readonly SecretVersion[]): Promise<void> {
  const { object, state } = context;
  const { status = {} } = object;
  if (has(context, "Created")) return;
  if (has(context, "Recovered") && status.id !== state.remote?.id) await checkpointID(context, "Updating the resource");
  const { appliedFields = [], moduleOrigins } = state.next;
  const applied = appliedSecretsOf(context);
  const appliedSecrets = keptWhileSending(applied, secrets);
  const keepsSecrets = areSameVersions(appliedSecrets, applied);
  if (keepsSecrets && withoutHidden(appliedFields).every((field) => status.appliedFields?.includes(field))) return;
  const checkpoint = {
    ...status,
    appliedFields,
    ...(moduleOrigins && { moduleOrigins }),
    ...(!keepsSecrets && { appliedSecrets }),
  };
  if (!(await writeCheckpoint(context, checkpoint))) throw new Outdated("the object has changed");
}

/**
 * Writes down, before an update takes the owner mark off, which remote the object has: into the status, and into the
 * annotation, which a backup keeps without the status.
 */
export async function checkpointMark(context: ReconcileContext, remote: Remote, { metadata }: Body): Promise<void> {
  const owner = ownerMarkOf(remote);
  if (metadata === undefined || !isMarkOf(owner, context.owner) || ownerMarkOf({ metadata }) !== undefined) return;
  if (has(context, "Created")) await checkpointCreated(context);
  else if (context.object.status?.id !== remote.id) await checkpointID(context, "Updating the resource");
  const before = intentOf(context.object);
  if (before?.unmarked?.id === remote.id && before.unmarked.owner === owner) return;
  const intent = { ...before, unmarked: { id: remote.id, owner } };
  context.object = await context.cluster.annotate(context.kind, context.object, { intent });
}

/**
 * Writes what is known of a remote that was created right now into the status, and says nothing else there yet. Throws
 * Outdated if the object is gone. If somebody has edited the object meanwhile, the reconcile goes on with the object as
 * it was.
 */
export async function checkpointCreated(context: ReconcileContext): Promise<void> {
  const { conditions, observedGeneration, columns } = context.object.status ?? {};
  const error = createContinued({});
  const next = nextStatus(context, { type: "unfinished", error }, epochMs(context), serviceEpochMs(context));
  const fields = Object.entries({ ...next, conditions, observedGeneration, columns });
  const status = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  await writeCheckpoint(context, status);
}

/**
 * Writes this status, and goes on with the object as it is then. Resolves with false if somebody has edited the object
 * meanwhile. Throws Outdated if it is gone.
 */
export async function writeCheckpoint(context: ReconcileContext, status: Status): Promise<boolean> {
  const { kind, object, cluster } = context;
  if (!(await cluster.writeStatus(kind, object, status))) throw new Outdated("the object is gone");
  const { namespace, name, uid, generation } = object.metadata;
  const written = cluster.get(kind.kind, namespace, name);
  if (written?.metadata.uid !== uid || written.metadata.generation !== generation) return false;
  context.object = written;
  return true;
}

/** Writes the id of the remote into the status and throws Outdated. The next reconcile continues from there. */
export async function checkpointID(context: ReconcileContext, step: Step): Promise<never> {
  const { kind, object, cluster } = context;
  const error = updateUnderWay({ step });
  const status = nextStatus(context, { type: "unfinished", error }, epochMs(context), serviceEpochMs(context));
  await cluster.writeStatus(kind, object, status);
  // The next reconcile knows nothing of what this one has found.
  for (const event of changeEvents(object, context)) cluster.emit(object, event);
  throw new Outdated("the id was written down");
}
