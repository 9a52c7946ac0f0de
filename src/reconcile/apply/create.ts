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
import { idFromSpec } from "../../objects/identity.ts";
import { type Intent, type SignedIntent, sendWindowMs, signedIntentOf } from "../../objects/intent.ts";
import { retiringIDs } from "../../objects/object.ts";
import { originOfMarked } from "../../objects/origin.ts";
import { isMarkOf, ownerMarkOf, withOwnerMark } from "../../objects/ownership.ts";
import { Blocked, Outdated, Retry } from "../../objects/reconcile-error.ts";
import { type Body, createDefaults } from "../../schema/wire/request.ts";
import {
  changeOptions,
  creatableRemotesOf,
  ensureAccountKnown,
  has,
  now,
  type ReconcileContext,
  readRemote,
  remotesOf,
  requestOptions,
  retire,
  retiringOf,
  serviceNow,
} from "../context.ts";
import { isUnclaimed, refuseForeignMark } from "../decide/conflicts.ts";
import { refuseOtherHolder } from "../decide/holders.ts";
import { ensureCreatable } from "../decide/may-create.ts";
import { ensureTakeable } from "../decide/may-take.ts";
import type { Desired } from "../desired/desired.ts";
import { appliedFields } from "../desired/desired.ts";
import { forgetCopiedOwner } from "../find/recorded-owner.ts";
import { findInterruptedCreate } from "../find/ways/by-intent.ts";
import { findByNaturalKey } from "../find/ways/by-natural-key.ts";
import { isPreexisting, noteEntryOrigin } from "../use/sharing.ts";
import { checkpointID } from "./checkpoint.ts";
import { keepShownOnce } from "./output-secret.ts";
import { refusedBefore } from "./refused-request.ts";

/**
 * Creates the remote of an object in such a way that no crash can lose it: the finalizer and the intent are stored
 * before the request is sent, and while there is an intent without an id, each reconcile searches before it creates
 * (find.ts). `old`: id of the remote that the new one replaces. It is then deleted as soon as nothing uses it.
 */
export async function create(context: ReconcileContext, desired: Desired, old?: string): Promise<Remote> {
  const { account, object } = context;
  const remotes = creatableRemotesOf(context);
  const refused = refusedBefore(context);
  if (refused) throw refused;
  // The intent that this create replaces may be all that shows a remote which has to be deleted.
  const written = [object.status?.id, ...retiringIDs(object.status)];
  if (retiringOf(context).some((id) => !written.includes(id))) await checkpointID(context, "Replacing the resource");
  const body = createBodyOf(context, desired.body);
  const open = createBodyOf(context, desired.open);
  await ensureCreatable(context);
  await remotes.admit(requestOptions(context), body);
  const [startedAt, startedOn] = [context.clock.now(), now(context)];
  const intent = await recordIntentOfKnownAccount(context, open);
  // The longer of both clocks: the calendar may be set back, and the monotonic clock stops while the machine sleeps.
  const elapsed = Math.max(context.clock.now() - startedAt, now(context) - startedOn);
  if (elapsed > sendWindowMs(account.deadlineMs)) {
    context.record.recordFutileCreate(intent);
    throw new Retry(
      "Creating",
      "Waiting to try again, no action is needed: recording the create took longer than it may",
    );
  }
  const sending = { remotes, body, intent, options: changeOptions(context, desired) };
  const remote = await sendCreate(context, sending, old);
  // From here on, both ids reach the status even when a later step fails.
  context.state.remote = remote;
  forgetCopiedOwner(context, remote);
  if (has(context, "Created")) context.state.appliedSecrets = desired.secrets;
  if (old !== undefined) retire(context, old);
  await keepShownOnce(context, remote);
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
  intent: Intent;
  options: RequestOptions;
}

async function sendCreate(context: ReconcileContext, sending: Sending, old?: string): Promise<Remote> {
  context.state.sent = true;
  try {
    return noteCreated(context, await sending.remotes.create(sending.body, sending.options), old);
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    // The answer cannot be read but has an id, so the remote was created.
    if (error.id !== undefined) return noteCreated(context, { id: error.id }, old);
    return await handleFailure(context, sending, error);
  }
}

function noteCreated({ state, changes, kind }: ReconcileContext, remote: Remote, replaces?: string): Remote {
  changes.push({ type: "Created", id: remote.id, replaces });
  state.origin = "Created";
  if (kind.location.type === "entry") state.preexisting = false;
  return remote;
}

/** The members that a create accepts, with the owner mark in the metadata. */
function createBodyOf({ kind, owner, object }: ReconcileContext, wanted: Body): Body {
  const accepted = kind.resource.create;
  const members = Object.entries({ ...createDefaults(kind.spec), ...wanted });
  const body = Object.fromEntries(members.filter(([member]) => accepted.includes(member)));
  const metadata = withOwnerMark(object.spec["metadata"] as string | undefined, owner);
  return accepted.includes("metadata") && metadata ? { ...body, metadata } : body;
}

/** `open`: the body without the values of Secrets, because many people may read annotations. */
async function recordIntent(context: ReconcileContext, open: Body): Promise<SignedIntent> {
  const { kind, object, owner } = context;
  const before = signedIntentOf(object);
  const time = serviceNow(context);
  // The time identifies an intent. The clock of the service may be set back, or give the same time twice.
  const last = time === before?.last ? time + 1 : time;
  const isRecognisable = isMarkOf(ownerMarkOf(open), owner);
  const intent: SignedIntent = {
    signed: true,
    first: before && !hasMadeNothing(context, before) ? before.first : last,
    last,
    account: context.accountName,
    old: object.status?.id ?? before?.old,
    fields: appliedFields(kind, object.spec),
    sent: isRecognisable ? undefined : open,
  };
  context.memory.createSettlement.recordIntent(object, intent, context.clock.now());
  context.object = await context.cluster.annotate(context.kind, context.object, { finalizer: true, intent });
  return intent;
}

/**
 * Records the intent while the API server is asked for the GatewayAccount of the object, since both take a while. Throws
 * when the object belongs to another account: this process then knows that nothing was sent to the account of the intent.
 * If the process ends before, the next one has to search there.
 */
async function recordIntentOfKnownAccount(context: ReconcileContext, open: Body): Promise<SignedIntent> {
  const [known, recorded] = await Promise.allSettled([ensureAccountKnown(context), recordIntent(context, open)]);
  if (recorded.status === "rejected") throw recorded.reason;
  if (known.status === "fulfilled") return recorded.value;
  context.record.recordFutileCreate(recorded.value);
  throw known.reason;
}

/**
 * Whether it is certain that no create of this object has made anything. What the account has by now then belongs to
 * somebody else.
 */
const hasMadeNothing = ({ record, object }: ReconcileContext, before: SignedIntent): boolean =>
  object.status?.id === undefined && before.old === undefined && record.isCreateFutile(before);

/**
 * A failure proves nothing if the create was sent. Throws the error, and leaves the create open, until it can be searched
 * for: after an answer that has ended it, one list is enough. That list is read at once, so that no object reports a
 * refusal while its remote exists.
 */
async function handleFailure(context: ReconcileContext, { intent }: Sending, error: GatewayError): Promise<Remote> {
  if (!mayBeCarriedOut(error)) context.record.recordFutileCreate(intent);
  if (mayArriveLate(error) || !mayBeCarriedOut(error)) throw error;
  const [answeredAt, { status = 0 }] = [context.clock.now(), error];
  context.memory.createSettlement.recordAnswer(context.object, intent);
  // A list would have to wait, or be refused, as well. The next reconcile reads it before it creates.
  if (isLimited(error) || isUnauthorized(error)) throw error;
  const { location, naturalKey } = context.kind;
  const mayBeTaken = naturalKey !== undefined && TAKEN.has(status);
  const existing =
    location.type === "entry"
      ? await findEntry(context)
      : await (mayBeTaken ? adoptNamed(context, error, answeredAt) : findInterruptedCreate(context, intent));
  if (existing) return existing;
  context.record.recordFutileCreate(intent);
  throw error;
}

/** Services have several status codes for a name that is taken. */
const TAKEN: ReadonlySet<number> = new Set([400, 409, 422]);

/** An entry has no owner, so an entry that somebody else has created meanwhile will do. */
async function findEntry(context: ReconcileContext): Promise<Remote | undefined> {
  const id = idFromSpec(context.kind, context.object, context.cluster);
  const remote = id === undefined ? undefined : await readRemote(context, id);
  if (!remote) return undefined;
  await ensureTakeable(context, { id: remote.id, way: "shared" });
  noteEntryOrigin(context, isPreexisting(context, remote.id));
  return remote;
}

/**
 * Adopts the remote that has the natural key of the spec, when it carries this object's owner mark: an earlier object
 * of the same name left it, or this create has made it. Throws Blocked when the remote is somebody else's, and returns
 * undefined when there is none. `since`: lists that began earlier do not count.
 */
async function adoptNamed(context: ReconcileContext, error: GatewayError, since: number): Promise<Remote | undefined> {
  const remote = await findByNaturalKey(context, since);
  if (!remote) return undefined;
  if (isMarkOf(ownerMarkOf(remote), context.owner) && isUnclaimed(context, remote)) {
    context.changes.push({ type: "Adopted", id: remote.id });
    context.state.origin = originOfMarked(context.object);
    return remote;
  }
  // A refusal and a name without a mark: somebody else has it. A later search must not take it for this create's.
  const { intent } = context.object;
  if (intent) context.record.recordFutileCreate(intent);
  await refuseOtherHolder(context, remote.id);
  refuseForeignMark(context, remote);
  const way = context.cluster.mayAdopt(context.object)
    ? `To take over ${remote.id}, add to the spec: adopt: {id: ${remote.id}}`
    : `Choose another name, or see AdoptionNotAllowed to take over ${remote.id}, which has this one`;
  throw new Blocked("AlreadyExists", way, { cause: error });
}
