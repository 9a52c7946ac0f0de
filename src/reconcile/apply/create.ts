import type { CreatableRemotes } from "../../account/remotes/remotes.ts";
import type { RequestOptions } from "../../account/requests/calls.ts";
import {
  type GatewayError,
  isGatewayError,
  isLimited,
  isUnauthorized,
  mayArriveLate,
  mayBeCarriedOut,
} from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { createNotRecorded } from "../../objects/errors/change.ts";
import { nameTaken } from "../../objects/errors/ownership.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { intentOf, sendWindowMs } from "../../objects/intent.ts";
import { retiringIDs } from "../../objects/object.ts";
import { createIn, isMarkOf, metadataWithMark, ownerMarkOf } from "../../objects/ownership.ts";
import { Outdated, refuse } from "../../objects/reconcile-error.ts";
import { type Body, createDefaults } from "../../schema/wire/request.ts";
import {
  changeOptions,
  creatableRemotesOf,
  ensureAccountKnown,
  epochMs,
  has,
  noteOrigin,
  noteOriginOfMarked,
  type ReconcileContext,
  readRemote,
  remotesOf,
  requestOptions,
  retire,
  retiringOf,
  serviceEpochMs,
} from "../context.ts";
import { foreignMark, isHeldByNoOther } from "../decide/conflicts.ts";
import { earlierHolder } from "../decide/holders.ts";
import { ensureCreatable } from "../decide/may-create.ts";
import { ensureTakeable } from "../decide/may-take.ts";
import { appliedFields, type Desired } from "../desired/desired.ts";
import { type EntryContext, hasOutput, isEntry } from "../features.ts";
import { forgetCopiedOwner } from "../find/recorded-owner.ts";
import { findInterruptedCreate } from "../find/ways/by-create.ts";
import { findByNaturalKey } from "../find/ways/by-natural-key.ts";
import { noteEntryOrigin } from "../use/sharing.ts";
import { checkpointID } from "./checkpoint.ts";
import { keepShownOnce } from "./output-secret.ts";
import { refusedBefore } from "./refused-request.ts";

/**
 * Creates the remote of an object in such a way that no crash can lose it: the finalizer and the intent are stored
 * before the request is sent, and while there is an intent without an id, each reconcile searches before it creates
 * (find.ts). `old`: id of the remote that the new one replaces. It is then deleted as soon as nothing uses it.
 */
export async function create(context: ReconcileContext, desired: Desired, old?: string): Promise<Remote> {
  const { object } = context;
  const remotes = creatableRemotesOf(context);
  const refused = refusedBefore(context);
  if (refused) throw refused;
  // The intent that this create replaces may be all that shows a remote which has to be deleted.
  const written = [object.status?.id, ...retiringIDs(object.status)];
  if (retiringOf(context).some((id) => !written.includes(id))) return checkpointID(context, "Replacing the resource");
  await ensureCreatable(context);
  await remotes.admit(requestOptions(context), desired.body);
  const [startedAt, startedOn] = [context.clock.now(), epochMs(context)];
  const creation = await recordIntentOfKnownAccount(context);
  // The longer of both clocks: the calendar may be set back, and the monotonic clock stops while the machine sleeps.
  const elapsed = Math.max(context.clock.now() - startedAt, epochMs(context) - startedOn);
  if (elapsed > sendWindowMs(context.record.deadlineMs)) {
    context.record.recordFutileCreate(creation);
    throw createNotRecorded({});
  }
  const body = createBodyOf(context, desired.body, creation);
  const sending = { remotes, body, create: creation, options: changeOptions(context, desired) };
  const remote = await sendCreate(context, sending, old);
  // From here on, both ids reach the status even when a later step fails.
  context.state.remote = remote;
  forgetCopiedOwner(context, remote);
  if (has(context, "Created")) context.state.next.appliedSecrets = desired.secrets;
  if (old !== undefined) retire(context, old);
  if (hasOutput(context)) await keepShownOnce(context, remote);
  // An unreadable answer gives nothing but the id.
  return Object.keys(remote).length > 1 ? remote : await readBack(context, remote.id);
}

async function readBack(context: ReconcileContext, id: string): Promise<Remote> {
  const remote = await remotesOf(context).read(id, requestOptions(context));
  if (!remote) throw new Outdated(`${id} is gone`);
  return remote;
}

/**
 * A create that is about to be sent. `remotes`: those of the account that it goes to, even if the object moves to another
 * account meanwhile.
 */
interface Sending {
  remotes: CreatableRemotes;
  body: Body;
  /** See objects/intent.ts. */
  create: string;
  options: RequestOptions;
}

async function sendCreate(context: ReconcileContext, sending: Sending, old?: string): Promise<Remote> {
  context.state.sent = true;
  try {
    return noteCreated(context, await sending.remotes.create(sending.body, sending.options), sending, old);
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    // The answer cannot be read but has an id, so the remote was created, unless it was there before.
    const isNew = ownerMarkOf(sending.body) === undefined || sending.remotes.cached(error.id ?? "") === undefined;
    if (error.id !== undefined && isNew) return noteCreated(context, { id: error.id }, sending, old);
    return await handleFailure(context, sending, error);
  }
}

function noteCreated(context: ReconcileContext, remote: Remote, { create }: Sending, replaces?: string): Remote {
  context.changes.push({ type: "Created", id: remote.id, replaces });
  noteOrigin(context, "Created", create);
  return remote;
}

/**
 * The members that a create accepts, with the owner mark in the metadata. If the text of the spec leaves no room for the
 * mark, the mark goes alone, and an update sends the text once the status has the id.
 */
function createBodyOf({ kind, owner, object }: ReconcileContext, wanted: Body, create: string): Body {
  const accepted = kind.resource.create;
  const members = Object.entries({ ...createDefaults(kind.spec), ...wanted });
  const body = Object.fromEntries(members.filter(([member]) => accepted.includes(member)));
  const metadata = metadataWithMark(object.spec["metadata"] as string | undefined, { ...owner, create });
  return accepted.includes("metadata") && metadata ? { ...body, metadata } : body;
}

/** Resolves with what identifies the create. */
async function recordIntent(context: ReconcileContext): Promise<string> {
  const { kind, object, accountName: account } = context;
  const time = serviceEpochMs(context);
  const before = intentOf(object)?.create;
  // The clock of the service may be set back, or give the same time twice.
  const [create, next] = [time, time + 1].map((one) => new Date(one).toISOString()) as [string, string];
  const intent = { create: create === before ? next : create, account, fields: appliedFields(kind, object.spec) };
  context.object = await context.cluster.annotate(context.kind, context.object, { finalizer: true, intent });
  // Had anybody recorded a create since the search, this write would have been refused.
  context.record.recordSettled();
  return intent.create;
}

/**
 * Records the intent while the API server is asked for the GatewayAccount of the object, since both take a while. Throws
 * when the object belongs to another account: this process then knows that nothing was sent to the account of the intent.
 * If the process ends before, the next one has to search there.
 */
async function recordIntentOfKnownAccount(context: ReconcileContext): Promise<string> {
  const [known, recorded] = await Promise.allSettled([ensureAccountKnown(context), recordIntent(context)]);
  if (recorded.status === "rejected") throw recorded.reason;
  if (known.status === "fulfilled") return recorded.value;
  context.record.recordFutileCreate(recorded.value);
  throw known.reason;
}

/**
 * A failure proves nothing if the create was sent. Throws the error, and leaves the create open, until it can be searched
 * for: after an answer that has ended it, one list is enough. That list is read at once, so that no object reports a
 * refusal while its remote exists.
 */
async function handleFailure(context: ReconcileContext, { create }: Sending, error: GatewayError): Promise<Remote> {
  if (!mayBeCarriedOut(error)) context.record.recordFutileCreate(create);
  if (mayArriveLate(error) || !mayBeCarriedOut(error)) throw error;
  const [answeredAt, { status = 0, kind: failure }] = [context.clock.now(), error];
  context.record.recordSettled();
  // A list would have to wait, or be refused, as well. The next reconcile reads it before it creates.
  if (isLimited(error) || isUnauthorized(error)) throw error;
  const mayBeTaken = context.kind.naturalKey !== undefined && (TAKEN.has(status) || failure === "unreadable");
  const existing = isEntry(context)
    ? await findEntry(context, create)
    : await (mayBeTaken
        ? adoptNamed(context, error, { create, answeredAt })
        : findInterruptedCreate(context, create, { settledAt: answeredAt }));
  if (existing) return existing;
  context.record.recordFutileCreate(create);
  throw error;
}

/** Services have several status codes for a name that is taken. */
const TAKEN: ReadonlySet<number> = new Set([400, 409, 422]);

/** An entry has no owner, so an entry that somebody else has created meanwhile will do. */
async function findEntry(context: EntryContext, create: string): Promise<Remote | undefined> {
  const id = idFromSpec(context.kind, context.object, context.cluster);
  const remote = id === undefined ? undefined : await readRemote(context, id);
  if (!remote) return undefined;
  await ensureTakeable(context, { id: remote.id, way: "shared" });
  noteEntryOrigin(context, remote.id, create);
  return remote;
}

/**
 * Adopts the remote that has the natural key of the spec, when it carries this object's owner mark: an earlier object
 * of the same name left it, or this create has made it. Throws Blocked when the remote is somebody else's, and returns
 * undefined when there is none. Lists that began before `answeredAt` do not count.
 */
async function adoptNamed(
  context: ReconcileContext,
  error: GatewayError,
  { create, answeredAt }: { create: string; answeredAt: number },
): Promise<Remote | undefined> {
  const remote = await findByNaturalKey(context, answeredAt);
  if (!remote) return undefined;
  if (isMarkOf(ownerMarkOf(remote), context.owner) && isHeldByNoOther(context, remote)) {
    const type = createIn(remote, context.owner) === create ? "Recovered" : "Adopted";
    context.changes.push({ type, id: remote.id });
    noteOriginOfMarked(context, remote);
    return remote;
  }
  context.record.recordFutileCreate(create);
  refuse(await earlierHolder(context, remote.id));
  refuse(foreignMark(context, remote));
  throw nameTaken({ id: remote.id, mayAdopt: context.cluster.accounts.mayAdopt(context.object) }, { cause: error });
}
