import type { Resource } from "../gateway/resource.ts";
import { askedAt, asksForLook, conditionOf, isDeleting, type ManagedObject } from "../objects/object.ts";
import { Blocked } from "../objects/reconcile-error.ts";
import { objectsInAccount, type ReconcileContext, remotesOf } from "../reconcile/context.ts";
import type { Clock } from "../runtime/clock.ts";

/** Fewer than this may well have been deleted by somebody. */
const FEWEST = 5;
const SHARE = 0.1;

/** So many deletions of one kind a process may have under way when it is killed; its successor finds them done. */
const UNDER_WAY = 32;

/** How soon one of what is missing is asked for, at first and at the longest: the right key may be back any moment. */
const FIRST_RECHECK_MS = 2_000;
const LONGEST_RECHECK_MS = 20_000;

/** An object that is blocked is looked at more often than this, and suspects its account anew. */
const SUSPICION_MS = 60 * 60_000;

/** A remote that is missing, to be asked for until it is back. */
export interface Suspect {
  resource: Resource;
  id: string;
}

export interface Loss {
  missing: number;
  total: number;
}

interface Suspicion extends Suspect {
  loss: Loss;
  since: number;
  askAt: number;
  delayMs: number;
}

export interface MassLossGuardOptions {
  clock: Clock;
  /** Told when the account comes under suspicion, and when it is cleared of all. */
  onChange?: (suspected: boolean) => void;
}

/** What is remembered of an account that is suspected of being another one than before. */
export class MassLossGuard {
  readonly #options: MassLossGuardOptions;
  readonly #suspicions = new Map<string, Suspicion>();
  readonly #confirmed = new Map<string, string | undefined>();

  constructor(options: MassLossGuardOptions) {
    this.#options = options;
  }

  suspect({ resource, id }: Suspect, loss: Loss): void {
    const now = this.#options.clock.now();
    const { askAt = now + FIRST_RECHECK_MS, delayMs = FIRST_RECHECK_MS } = this.#suspicions.get(resource.name) ?? {};
    const first = this.#suspicions.size === 0;
    this.#suspicions.set(resource.name, { resource, id, loss, since: now, askAt, delayMs });
    if (first) this.#options.onChange?.(true);
  }

  isSuspected({ name }: Resource): boolean {
    return this.#suspicions.has(name);
  }

  /** What is missing of one resource; undefined when nothing is suspected. */
  get problem(): (Loss & { resource: Resource }) | undefined {
    const [first] = this.#suspicions.values();
    return first && { resource: first.resource, ...first.loss };
  }

  clear({ name }: Resource): void {
    if (this.#suspicions.delete(name) && this.#suspicions.size === 0) this.#options.onChange?.(false);
  }

  /** One remote of each resource, each once in a while. */
  due(): Suspect[] {
    const now = this.#options.clock.now();
    for (const { resource, since } of [...this.#suspicions.values()])
      if (now - since > SUSPICION_MS) this.clear(resource);
    const due = [...this.#suspicions.values()].filter(({ askAt }) => now >= askAt);
    for (const suspicion of due) {
      suspicion.delayMs = Math.min(suspicion.delayMs * 2, LONGEST_RECHECK_MS);
      suspicion.askAt = now + suspicion.delayMs;
    }
    return due;
  }

  /**
   * Whether a person has asked for a look after having been told; a wish from before means nothing of the kind.
   * Remembered, since the status tells of other things by the time the remote is made.
   */
  isConfirmed(object: ManagedObject): boolean {
    const asked = askedAt(object);
    const { uid } = object.metadata;
    if (!asksForLook(object)) return false;
    const told = conditionOf(object.status, "Synced")?.reason === "AccountMismatch";
    if (told) this.#confirmed.set(uid, asked);
    return this.#confirmed.get(uid) === asked;
  }

  forget(uid: string): void {
    this.#confirmed.delete(uid);
  }
}

/**
 * Stops where so much of what objects stand for is missing that the account is more likely another one: the key of
 * the wrong account must neither create everything a second time, nor take every deletion for done. A person confirms
 * by asking for a look, on the objects that are meant.
 */
export function refuseMassLoss(context: ReconcileContext): void {
  if (context.account.lossGuard.isConfirmed(context.object)) return;
  const loss = lossOf(context, (object) => !isDeleting(object));
  if (isMass(loss)) throw mismatch(context, loss);
}

/**
 * The same for a deletion that found nothing to delete. `surprising`: it was there, and no deletion of it was begun.
 * Otherwise, and unless the account is suspected already, what is missing of objects that are being deleted may have
 * been deleted by a process that was killed.
 */
export function refuseHollowDeletion(context: ReconcileContext, surprising: boolean): void {
  const { lossGuard } = context.account;
  if (lossGuard.isConfirmed(context.object)) return;
  refuseMassLoss(context);
  const loss = lossOf(context, () => true);
  const few = surprising || lossGuard.isSuspected(suspectOf(context).resource) ? FEWEST - 1 : UNDER_WAY;
  if (loss.missing === loss.total && loss.missing > few) throw mismatch(context, loss);
}

/** Nothing is made in an account that turned out to have nothing of what objects stand for. */
export function refuseStrangeAccount(context: ReconcileContext): void {
  const { lossGuard } = context.account;
  if (!lossGuard.isSuspected(suspectOf(context).resource) || lossGuard.isConfirmed(context.object)) return;
  const loss = lossOf(context, (object) => !isDeleting(object));
  // no list wakes what is not in the account yet
  if (isMass(loss) && loss.missing === loss.total) throw mismatch(context, loss, LONGEST_RECHECK_MS / 1000);
}

function lossOf(context: ReconcileContext, counts: (object: ManagedObject) => boolean): Loss {
  const remotes = remotesOf(context);
  const ids = objectsInAccount(context, context.kind)
    .filter(counts)
    .flatMap(({ status }) => status?.id ?? []);
  return { missing: ids.filter((id) => remotes.isMissing(id)).length, total: ids.length };
}

const isMass = ({ missing, total }: Loss): boolean => missing >= FEWEST && missing > total * SHARE;

function mismatch(context: ReconcileContext, loss: Loss, afterSeconds?: number): Blocked {
  const suspect = suspectOf(context);
  if (suspect.id !== "") context.account.lossGuard.suspect(suspect, loss);
  return new Blocked(
    "AccountMismatch",
    `Check the API key: ${loss.missing} of ${loss.total} are not in the account. If they were deleted there, set the annotation reconcile-requested-at`,
    afterSeconds === undefined ? {} : { afterSeconds },
  );
}

/** What to ask for: of an entry, the resource in whose list it is. */
function suspectOf({ kind, object }: ReconcileContext): Suspect {
  const id = object.status?.id ?? "";
  if (kind.location.type !== "entry") return { resource: kind.remote, id };
  return { resource: kind.location.parent.remote, id: id.slice(0, Math.max(id.indexOf("/"), 0)) };
}
