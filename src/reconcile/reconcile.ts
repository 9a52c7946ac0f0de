import type { Row } from "../account/inventory.ts";
import { delayOf, fateOf } from "../objects/map-error.ts";
import { conditionOf, isDeleting, isObserveOnly, isPaused } from "../objects/object.ts";
import { Retry, type Unfinished } from "../objects/reconcile-error.ts";
import { FINALIZER } from "../schema/contract.ts";
import { listOf } from "../schema/define.ts";
import { fromAnswer } from "../schema/wire/answer.ts";
import { needsOf } from "../schema/wire/needs.ts";
import { create } from "./apply/create.ts";
import { remove } from "./apply/delete.ts";
import { delivered } from "./apply/output-secret.ts";
import { replace, retire } from "./apply/replace.ts";
import { update } from "./apply/update.ts";
import { appliedOf, now, type Pass } from "./context.ts";
import { type Desired, desire, openPart } from "./desired/desired.ts";
import { plan } from "./desired/plan.ts";
import { locate } from "./find/locate.ts";
import { notices } from "./status/events.ts";
import { appliedFields, type Ending, isSame, nextStatus } from "./status/report.ts";

/** When the object is due again, apart from what wakes it. Null: not before something happens. */
export type Visit =
  | { afterSeconds: number }
  /** With an error where the status cannot tell of it. */
  | { backoff: true; atLeastSeconds?: number; error?: unknown }
  | { soon: true }
  | null;

/** How soon a remote that was replaced is looked at again; it costs no request while something refers to it. */
const RETIRING_SECONDS = 2;

export interface Routine {
  /** How often what only a read can show is looked at again, such as a Secret that may not be watched. Seconds. */
  resyncSeconds: number;
  /** A watch tells of Secrets that come, change or go, so that one which is missing need not be asked for. */
  secretsWatched?: boolean;
}

/**
 * Brings the remote of one object to the object's spec, whatever state either is in, and tells the outcome in the
 * status. May be ended at any point and started anew: each step finds what the one before left (docs/architecture.md).
 */
export async function reconcile(pass: Pass, routine: Routine): Promise<Visit> {
  try {
    const ending = await outcome(pass);
    if (ending === "gone") return null;
    await report(pass, ending);
    return nextVisit(pass, ending, routine);
  } catch (error) {
    // the status could not be written; the next pass finds the same, and writes it
    return fateOf(error) ? { backoff: true, error } : { soon: true };
  }
}

async function outcome(pass: Pass): Promise<Ending | "gone"> {
  if (isPaused(pass.object)) return { end: "paused" };
  try {
    if (!isDeleting(pass.object)) return settled(pass, await converge(pass));
    await remove(pass);
    return "gone";
  } catch (error) {
    const fate = fateOf(error) ?? (pass.findings.created && unfinishedCreate());
    if (!fate) throw error;
    return { end: "unfinished", fate };
  }
}

/** An id that is not written down has to be sought, so it is told whatever comes after the create. */
const unfinishedCreate = (): Retry => new Retry("Creating", "Going on with what was created");

async function converge(pass: Pass): Promise<Row> {
  const { findings, kind } = pass;
  const found = await locate(pass);
  // an object that has an id, and no finalizer, leaves its remote behind when it goes
  if (found && (isObserveOnly(pass.object) || hasFinalizer(pass.object))) findings.remote = found;
  if (isObserveOnly(pass.object)) return compared(pass, found);
  const desired = await desire(kind, pass.object, pass.cluster);
  if (found) {
    await ensureFinalizer(pass);
    findings.remote = found;
    await retire(pass);
  }
  const applied = appliedFields(kind, pass.object.spec);
  // sent from here on, whether the answer arrives or not
  findings.appliedFields = [...new Set([...appliedOf(pass), ...applied])];
  const made = found ?? (await create(pass, desired));
  findings.remote = made;
  findings.remote = await update(pass, desired, await current(pass, desired, made));
  findings.appliedFields = applied;
  findings.appliedSecrets = desired.secrets;
  findings.appliedDigest = desired.digest;
  return findings.remote as Row;
}

/** The remote to go on with: the one that was found, or a new one where it runs out or its one-time value is lost. */
async function current(pass: Pass, desired: Desired, row: Row): Promise<Row> {
  const renewsAt = pass.kind.renewsAt(row, pass.object.spec);
  const due = renewsAt !== undefined && now(pass) >= renewsAt;
  if (!due && (await delivered(pass, row))) return row;
  const next = await replace(pass, desired, row);
  await delivered(pass, next);
  return next;
}

/** Only observed: what differs is shown, nothing is written, and no Secret is read. */
async function compared(pass: Pass, found: Row | undefined): Promise<Row> {
  const { kind, object, findings, cluster } = pass;
  if (!found) throw new TypeError(`${kind.kind} ${object.metadata.name} is only observed and was not found`);
  const wanted = await openPart(kind, object, cluster);
  const { fields, frozen } = plan(kind, { wanted, seen: fromAnswer(kind.spec, found), applied: [], renewed: [] });
  const differing = [...frozen, ...fields];
  if (differing.length > 0) {
    const message = `Change ${differing.map((field) => `spec.${field}`).join(", ")} to match, or ignore it: the account has other values`;
    findings.drift = { fields: differing, reason: "RemoteDiffers", message };
  }
  return found;
}

const hasFinalizer = ({ metadata }: Pass["object"]): boolean => metadata.finalizers?.includes(FINALIZER) === true;

async function ensureFinalizer(pass: Pass): Promise<void> {
  if (hasFinalizer(pass.object)) return;
  pass.object = await pass.cluster.annotate(pass.kind, pass.object, { finalizer: true });
}

function settled(pass: Pass, remote: Row): Ending {
  const { usability, conditions = [] } = pass.kind.judge(remote, now(pass));
  return { end: "settled", usability, conditions };
}

/** One write at most, and none when the status says all this already. */
async function report(pass: Pass, ending: Ending): Promise<void> {
  const before = pass.object;
  const status = nextStatus(pass, ending, now(pass));
  if (!isSame(before.status, status)) await pass.cluster.writeStatus(pass.kind, before, status);
  for (const notice of notices(before, status, pass.findings)) pass.cluster.emit(before, notice);
}

function nextVisit(pass: Pass, ending: Ending, routine: Routine): Visit {
  if (ending.end === "paused") return null;
  if (ending.end === "unfinished") return afterFate(pass, ending.fate, routine);
  const due = [ending.usability.afterSeconds, ...errands(pass, routine)].filter((seconds) => seconds !== undefined);
  return due.length > 0 ? { afterSeconds: Math.min(...due) } : null;
}

/** What a settled object has to be looked at for, each in so many seconds. */
function errands(pass: Pass, { resyncSeconds }: Routine): (number | undefined)[] {
  const { kind, object, findings } = pass;
  const renewsAt = findings.remote && kind.renewsAt(findings.remote, object.spec);
  const reads = kind.output !== undefined || listOf(kind) === undefined || readsOthers(pass);
  return [
    isRetiring(pass) ? RETIRING_SECONDS : undefined,
    renewsAt === undefined ? undefined : Math.max((renewsAt - now(pass)) / 1000, 1),
    reads ? resyncSeconds : undefined,
  ];
}

/** A change of what it reads of Kubernetes is told by nothing. */
const readsOthers = ({ kind, object }: Pass): boolean =>
  needsOf(kind.spec, object.spec).some(
    ({ sort }) => sort === "configMap" || (sort === "secret" && !isObserveOnly(object)),
  );

const isRetiring = ({ findings, object }: Pass): boolean =>
  !findings.retired && (findings.retiring ?? object.status?.retiring) !== undefined;

function afterFate(pass: Pass, fate: Unfinished, { resyncSeconds, secretsWatched }: Routine): Visit {
  if (fate.reason === "SecretNotReady") return { afterSeconds: secretsWatched ? resyncSeconds : secretDelay(pass) };
  const seconds = delayOf(fate);
  if (seconds === undefined) return { backoff: true };
  if (fate instanceof Retry) return { backoff: true, atLeastSeconds: seconds };
  // what a person has to mend may be in a Secret
  return { afterSeconds: readsOthers(pass) ? Math.min(seconds, resyncSeconds) : seconds };
}

/** Nothing tells of a new Secret where Secrets may not be watched; reads are cheap at first and rarer with time. */
function secretDelay(pass: Pass): number {
  const since = Date.parse(conditionOf(pass.object.status, "Ready")?.lastTransitionTime ?? "") || now(pass);
  return Math.min(Math.max((now(pass) - since) / 4000, 1), 30);
}
