import { withArticle } from "../../schema/nouns.ts";
import { blocked, waiting } from "./declare.ts";
import { unreadText } from "./unread.ts";
import type { Identified } from "./values.ts";

// Whose a remote is. `id`: of the remote. `owner`: an owner mark without its create.

const ID = "ipp_fWNEZiPdf4orD9OoCthd3tP0Xey";
const DOMAIN_ID = "rd_wlL73KcnnymXvPaRzfdI1VWX3WR";
const CLUSTER = "62bec61b-39da-4e9d-8c93-41dcbe06fd19";

export const nameTaken = blocked(
  "AlreadyExists",
  ({ id, mayAdopt }: Identified & { mayAdopt: boolean }) =>
    mayAdopt
      ? `To take over ${id}, add to the spec: adopt: {id: ${id}}`
      : `Choose another name, or see AdoptionNotAllowed to take over ${id}, which has this one`,
  { id: DOMAIN_ID, mayAdopt: true },
  { id: DOMAIN_ID, mayAdopt: false },
);

export const statusLost = blocked(
  "AlreadyExists",
  ({ id }: Identified) =>
    `Add to the spec: adopt: {id: ${id}}, or remove the annotation create-intent to have another one created: this object had ${id} before its status was lost, and spec.metadata leaves no room for an owner mark that says so`,
  { id: ID },
);

/** `what`: an id, or what is found by a name. */
export const adoptionNotAllowed = blocked(
  "AdoptionNotAllowed",
  ({ namespace, what }: { namespace: string; what: string }) =>
    `Ask the administrator of the operator to set adoption.namespaces: ["${namespace}"], or ["*"] for a cluster with one team: this namespace may not take over ${what}`,
  { namespace: "demo", what: ID },
);

export const adoptionChanged = blocked(
  "ImmutableField",
  ({ id, asked }: Identified & { asked: string }) =>
    `Set spec.adopt.id back to ${id}, which this object has adopted, or create another object for ${asked}`,
  { id: ID, asked: "ipp_2b7Kq" },
);

export const adoptionNeedsID = blocked(
  "RemoteMissing",
  ({ title }: { title: string }) => `Set spec.adopt.id: ${withArticle(title)} can only be found by its id`,
  { title: "IP policy" },
);

export const adoptedMissing = blocked(
  "RemoteMissing",
  ({ title, id }: Identified & { title: string }) => `Correct spec.adopt.id: the account has no ${title} ${id}`,
  { title: "IP policy", id: "ipp_none" },
);

/** `what`: an id or a name. `mayCreate`: whether the object could have it created. */
export const remoteMissing = blocked(
  "RemoteMissing",
  ({ title, what, mayCreate }: { title: string; what: string; mayCreate: boolean }) =>
    mayCreate
      ? `Set driftPolicy: Correct to have it created again, or delete this object: the account has no ${title} ${what}`
      : `Correct the spec, or delete this object: the account has no ${title} ${what}, and the operator does not create it`,
  { title: "IP policy", what: ID, mayCreate: true },
  { title: "reserved domain", what: "shop.example.com", mayCreate: false },
);

interface Held extends Identified {
  kind: string;
  /** `<namespace>/<name>` of the object that has the remote. */
  holder: string;
}

const who = ({ kind, holder, id }: Held): string => `${kind} ${holder}, which has ${id}`;

const HELD: Held = { id: ID, kind: "IPPolicy", holder: "demo/office" };

export const heldByOther = blocked(
  "OwnershipConflict",
  (held: Held) => `Delete this object, or ask for a release by ${who(held)}`,
  HELD,
);

/** The spec names the object that has the remote, and that one does not hand it over yet. `name`: of this object. */
export const notReleased = blocked(
  "OwnershipConflict",
  ({ why, name, ...held }: Held & { why: "otherAccount" | "replacing" | "unasked"; name: string }) => {
    if (why === "otherAccount") return `Use the account of ${who(held)}`;
    return why === "replacing"
      ? `Wait until nothing is left to delete of what was replaced by ${who(held)}`
      : `Set the annotation tunnelgateway.dev/release-to: ${name} on ${who(held)}`;
  },
  { ...HELD, why: "unasked", name: "team-b/office" },
  { ...HELD, why: "replacing", name: "team-b/office" },
  { ...HELD, why: "otherAccount", name: "team-b/office" },
);

interface Marked extends Identified {
  owner: string;
  /** The cluster that the mark names, if that is another one. */
  cluster: string | undefined;
}

const formerly = ({ cluster }: Marked): string =>
  cluster === undefined ? "" : ` (if ${cluster} was this cluster: add it to formerClusterIDs)`;

export const markedByOther = blocked(
  "OwnershipConflict",
  (marked: Marked) =>
    `Ask the owner to take its mark out of the metadata of ${marked.id} first: it belongs to ${marked.owner}${formerly(marked)}`,
  { id: ID, owner: `${CLUSTER}/demo/office`, cluster: CLUSTER },
);

/** `mark`: a text that names no object. */
export const markUnreadable = blocked(
  "OwnershipConflict",
  ({ id, mark }: Identified & { mark: string }) =>
    `Ask who wrote it to take the owner mark out of the metadata of ${id} first: ${JSON.stringify(mark)} names no object`,
  { id: ID, mark: "team-b" },
);

export const statusCopied = blocked(
  "OwnershipConflict",
  (marked: Marked) =>
    `Create this object anew: its status was copied from ${marked.owner}, which has ${marked.id}${formerly(marked)}`,
  { id: ID, owner: `${CLUSTER}/demo/office`, cluster: undefined },
);

/** `own`: the id of this cluster. */
export const clusterUnknown = blocked(
  "OwnershipConflict",
  ({ id, owner, cluster, own }: Marked & { own: string }) =>
    `Set formerClusterIDs: ["${cluster}"] if that was this cluster, or clusterID: "${own}" if it is another one: ${id} belongs to ${owner}`,
  { id: ID, owner: `${CLUSTER}/demo/office`, cluster: CLUSTER, own: "c4d9a3b1-8a40-4f1c-9d5e-0c5b1f0e7a52" },
);

export const holderUnread = waiting("OwnershipConflict", unreadText, {
  kind: "IPPolicy",
  namespaces: ["demo"],
  why: `one of them may have ${ID}`,
});

/** `to`: `<namespace>/<name>` of the object that takes it. */
export const takeoverAwaited = waiting(
  "Released",
  ({ kind, to, id }: Identified & { kind: string; to: string }) =>
    `Look at ${kind} ${to}: it has not taken ${id} over yet`,
  { kind: "IPPolicy", to: "team-b/office", id: ID },
);
