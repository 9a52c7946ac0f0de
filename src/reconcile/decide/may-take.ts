import type { Remote } from "../../gateway/resource.ts";
import { adoptedMissing } from "../../objects/errors/ownership.ts";
import { isMarkOf, ownerMarkOf } from "../../objects/ownership.ts";
import { refuse } from "../../objects/reconcile-error.ts";
import { type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { unseenHolder } from "../unseen.ts";
import { type Check, firstRefusal, type Way } from "./check.ts";
import { foreignMark, refusalToAdopt, seeRemoteOfOwner } from "./conflicts.ts";
import { handoverSource } from "./handover.ts";
import { earlierHolder } from "./holders.ts";
import { readMark } from "./unlisted-marks.ts";

/** A remote that an object does not hold, and that becomes its own. */
export interface Taking {
  id: string;
  way: WayToTake;
  /** If an answer has shown it. */
  found?: Remote | undefined;
}

type WayToTake = "adopted" | "observed" | "set" | "held" | "shared";

type Name = "heldByNobodyElse" | "isThere" | "markedByNobodyElse" | "mayAdopt" | "holderIsSeen";

const remoteOf = (context: ReconcileContext, { id, found = { id } }: Taking): Remote =>
  remotesOf(context).cached(id) ?? found;

/** What an object takes passes these checks, in this order. */
export const mayTake: readonly Check<Taking, Name>[] = [
  {
    name: "heldByNobodyElse",
    why: "Another object has the remote, or has asked for it earlier.",
    refuse: (context, { id }) => earlierHolder(context, id),
  },
  {
    name: "isThere",
    why: "A wrong id is told, and never recorded.",
    refuse: async (context, { id, found }) =>
      (found ?? (await remotesOf(context).read(id, requestOptions(context))))
        ? undefined
        : adoptedMissing({ title: context.kind.resource.title, id }),
  },
  {
    name: "markedByNobodyElse",
    why: "What bears the owner mark of another object or cluster is theirs.",
    refuse: async (context, taking) => {
      await readMark(context, taking.id);
      await seeRemoteOfOwner(context, remoteOf(context, taking));
      return foreignMark(context, remoteOf(context, taking));
    },
  },
  {
    name: "mayAdopt",
    why: "Rights in Kubernetes end at the namespace, and the account does not.",
    refuse: (context, taking) => {
      // What was handed over, or created for this object, is not adopted.
      const isOwn =
        context.object.status?.origin === "Created" ||
        isMarkOf(ownerMarkOf(remoteOf(context, taking)), context.owner) ||
        handoverSource(context, taking.id) !== undefined;
      return isOwn ? undefined : refusalToAdopt(context, taking.id);
    },
  },
  {
    name: "holderIsSeen",
    why: "An object that cannot be read may have it.",
    refuse: (context, { id }) =>
      handoverSource(context, id) ? undefined : unseenHolder(context, id, "OwnershipConflict"),
  },
];

export const waysToTake: Record<WayToTake, Way<Name>> = {
  adopted: { when: "`spec.adopt` names it." },
  observed: {
    when: "The object only observes it, which changes nothing.",
    leavesOut: {
      heldByNobodyElse: "Several objects may look at one remote.",
      markedByNobodyElse: "It is not changed.",
      mayAdopt: "To look needs no right.",
      holderIsSeen: "It is not changed.",
    },
  },
  set: {
    when: "The object sets modules of a route, which is a taking with the first PUT.",
    leavesOut: {
      isThere: "The first PUT tells.",
      markedByNobodyElse: "No answer shows an owner mark of a route.",
      mayAdopt: "Each module has an origin of its own, and what was there stays with the object's end.",
    },
  },
  held: {
    when: "The object has set modules of the route before, or sets none.",
    leavesOut: {
      isThere: "The first PUT tells.",
      markedByNobodyElse: "No answer shows an owner mark of a route.",
      mayAdopt: "It takes nothing more.",
      holderIsSeen: "What is held goes on.",
    },
  },
  shared: {
    when: "A new object stands for an entry that is there.",
    leavesOut: {
      heldByNobodyElse: "Several objects share an entry.",
      isThere: "A list has shown it.",
      markedByNobodyElse: "An entry has no owner mark.",
      mayAdopt: "It is asked for the remote with the list, before the entry is looked for.",
    },
  },
};

/** Throws the error of the first check that refuses. */
export async function ensureTakeable(context: ReconcileContext, taking: Taking): Promise<void> {
  refuse((await firstRefusal(mayTake, waysToTake[taking.way], context, taking))?.error);
}
