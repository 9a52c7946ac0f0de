import type { RequestOptions } from "../../account/requests/calls.ts";
import { deleteNotTaken, deleteUnsupported, wantedByOther } from "../../objects/errors/deletion.ts";
import { Outdated, type ReconcileError } from "../../objects/reconcile-error.ts";
import type { Kind } from "../../schema/define.ts";
import { assertSameAccount, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { hasOutput, isEntry, isOfModules } from "../features.ts";
import { unseenHolder, unseenUser } from "../unseen.ts";
import { isReferredTo, refusalOfUsers } from "../use/in-use.ts";
import { refusalOfKeyUsers } from "../use/key-in-use.ts";
import { modulesWantedByOthers } from "../use/left-modules.ts";
import { isKeptForOthers } from "../use/sharing.ts";
import { asks, type Check, firstRefusal, type Refusal, type Way } from "./check.ts";
import { foreignMark, isKnownForeign } from "./conflicts.ts";
import { holdingOther } from "./holders.ts";
import { readMark } from "./unlisted-marks.ts";

/** What is to be deleted: a remote, an entry of a list, or modules of a remote. */
export interface Deletion {
  id: string;
  way: WayToDelete;
  /** The fields of the modules. */
  fields?: readonly string[];
  /** If it is not of the kind of the object. */
  kind?: Kind;
}

export type WayToDelete = "ended" | "recreated" | "replaced" | "leftover" | "dropped" | "released" | "edited";

type Name =
  | "heldByNobodyElse"
  | "markedByNobodyElse"
  | "holderIsSeen"
  | "wantedByNobodyElse"
  | "userIsSeen"
  | "usedByNobody"
  | "keyIsUnused"
  | "operationExists";

export type DeletionRefusal = Refusal<Name>;

/** A request may wait for the budget. After this time, everything is asked again. */
const VALID_MS = 30_000;

const isWantedByOthers = (context: ReconcileContext, { id, fields }: Deletion): boolean =>
  fields
    ? isOfModules(context) && modulesWantedByOthers(context, id).some((field) => fields.includes(field))
    : isEntry(context) && isKeptForOthers(context, id);

/** Everything that is deleted in an account passes these checks, in this order. */
export const mayDelete: readonly Check<Deletion, Name>[] = [
  {
    name: "heldByNobodyElse",
    why: "Another object that has the remote goes on with it.",
    refuse: (context, { id }) => holdingOther(context, id),
  },
  {
    name: "markedByNobodyElse",
    why: "What bears the owner mark of another object or cluster is theirs.",
    refuse: async (context, { id }) => {
      const remotes = remotesOf(context);
      await remotes.listed(0, requestOptions(context));
      if (remotes.isMissing(id)) return undefined;
      await readMark(context, id);
      return foreignMark(context, remotes.cached(id) ?? { id });
    },
    stillHolds: (context, { id }) => !isKnownForeign(context, id),
  },
  {
    name: "holderIsSeen",
    why: "An object that cannot be read may have it.",
    refuse: (context, { id, kind }) => unseenHolder(context, id, "InUse", kind),
  },
  {
    name: "wantedByNobodyElse",
    why: "An entry of a list, or a module of a route, stays for others that want it too.",
    refuse: (context, deletion) =>
      isWantedByOthers(context, deletion) ? wantedByOther({ id: deletion.id }) : undefined,
    stillHolds: (context, deletion) => !isWantedByOthers(context, deletion),
  },
  {
    name: "userIsSeen",
    why: "An object that cannot be read may use it, or send its requests with it.",
    refuse: (context, { id }) => unseenUser(context, id),
  },
  {
    name: "usedByNobody",
    why: "What uses it, with or without an object, would fail or be open to everybody.",
    refuse: (context, { id }) => refusalOfUsers(context, id),
    stillHolds: (context, { id }) => !isReferredTo(context, id),
  },
  {
    name: "keyIsUnused",
    why: "Without the key that the operator or a GatewayAccount sends with, nothing could be changed any more.",
    refuse: (context, { id }) => (hasOutput(context) ? refusalOfKeyUsers(context, id) : undefined),
  },
  {
    name: "operationExists",
    why: "The service may have no operation that deletes it, and then a person has to.",
    refuse: async (context, { id, way }) => {
      const { account, kind } = context;
      if (account.operations.mayTry(kind.resource, "delete")) return undefined;
      // A person may have deleted it by hand.
      const isThere = (await remotesOf(context).read(id, requestOptions(context))) !== undefined;
      return isThere ? refusalToDelete(context, id, way) : undefined;
    },
  },
];

const PART = "It is a part of a remote, and nothing refers to a part.";
const CHANGE = "A part is removed by a change of the remote, or switched off.";

export const waysToDelete: Record<WayToDelete, Way<Name>> = {
  ended: { when: "The object is deleted, and its remote with it." },
  recreated: { when: "The remote cannot be changed in place, and the spec says `replacement: Recreate`." },
  replaced: { when: "The object has another remote in its place." },
  leftover: { when: "No object needs it, and a person asks for it with the command `orphans`." },
  dropped: {
    when: "The object no longer lists an entry that it has added to its list.",
    leavesOut: {
      heldByNobodyElse: "The object has the remote with the list, and the entry is its own.",
      markedByNobodyElse: "An entry has no owner mark, and that of the remote is asked before any change.",
      wantedByNobodyElse: "The change keeps the entries that others want.",
      userIsSeen: PART,
      usedByNobody: PART,
      keyIsUnused: PART,
      operationExists: CHANGE,
    },
  },
  released: {
    when: "The object that has set modules of a route ends, or sets none any more.",
    leavesOut: {
      heldByNobodyElse: "Several objects may have set modules of one route, each its own.",
      userIsSeen: PART,
      usedByNobody: PART,
      keyIsUnused: PART,
      operationExists: CHANGE,
    },
  },
  edited: {
    when: "The object has the remote and no longer sets a module of it.",
    leavesOut: {
      heldByNobodyElse: "The object has the remote, which was asked when it took it.",
      holderIsSeen: "The object has the remote, and what is held goes on.",
      wantedByNobodyElse: "While the object has the remote, others wait for it.",
      userIsSeen: PART,
      usedByNobody: PART,
      keyIsUnused: PART,
      operationExists: CHANGE,
    },
  },
};

/** What the checks have allowed to delete. Nothing else is deleted: a DELETE takes its id and its options from here. */
export class Permit {
  readonly id: string;
  /** Right before the first byte: throws Outdated when the object has another account, or what was asked may not hold. */
  readonly request: RequestOptions;

  constructor(context: ReconcileContext, deletion: Deletion) {
    const { clock } = context;
    const { id, way } = deletion;
    const askedAt = clock.now();
    this.id = id;
    const assertValid = () => {
      assertSameAccount(context);
      const asked = mayDelete.filter((one) => asks(waysToDelete[way], one));
      if (clock.now() - askedAt > VALID_MS || asked.some((one) => one.stillHolds?.(context, deletion) === false))
        throw new Outdated(`${id} may have to stay by now`);
    };
    this.request = { ...requestOptions(context), assertValid };
    // An id of the service is used once, so a late DELETE changes nothing of the remote that took the place.
    if (way === "replaced" && !isEntry(context)) this.request.onUnanswered = () => {};
  }
}

/** Whether it may be deleted. */
export async function permitDeletion(context: ReconcileContext, deletion: Deletion): Promise<Permit | DeletionRefusal> {
  const refusal = await firstRefusal(mayDelete, waysToDelete[deletion.way], context, deletion);
  return refusal ?? new Permit(context, deletion);
}

/** Like `permitDeletion`, and throws the error of a refusal. */
export async function ensureDeletable(context: ReconcileContext, deletion: Deletion): Promise<Permit> {
  const answer = await permitDeletion(context, deletion);
  if (answer instanceof Permit) return answer;
  throw answer.error;
}

/**
 * The error when the service has no operation that deletes such a remote. A single refusal may come from a gateway in
 * maintenance, so it is Retry until that is certain, and then Blocked.
 */
export function refusalToDelete({ account, kind }: ReconcileContext, id: string, way: WayToDelete): ReconcileError {
  const { title } = kind.resource;
  if (account.operations.of(kind.resource, "delete") === "unsupported") return deleteUnsupported({ id, way, title });
  const afterSeconds = Math.max(account.operations.secondsUntilTry(kind.resource, "delete"), 1);
  return deleteNotTaken({ title }, { afterSeconds });
}
