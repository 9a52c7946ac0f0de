import { annotations } from "../../schema/contract.ts";
import { type DNSRecord, recordText } from "../../schema/dns.ts";
import { withArticle } from "../../schema/nouns.ts";
import { blocked, retry, waiting } from "./declare.ts";
import { sentence } from "./sentence.ts";
import { unreadText } from "./unread.ts";
import type { Identified, Titled } from "./values.ts";

// Why a remote, or an object, is not deleted yet. `title`: of the resource. `id`: of the remote.

/** What uses a remote. */
interface Use {
  /** Of the object whose remote is used. */
  kind: string;
  /** How each user is named in a sentence: the users that stay come first. */
  names: readonly string[];
  users: readonly object[];
}

const their = ({ users, kind }: Use): string => `${users.length > 1 ? "they use" : "it uses"} this ${kind}`;

/** `isOurs`: all that stay are in the namespace of the object. */
export const stillUsed = waiting(
  "InUse",
  ({ isOurs, ...use }: Use & { isOurs: boolean }) =>
    isOurs
      ? sentence("Delete or change ", use.names, ` first: ${their(use)}`)
      : sentence("Ask who runs ", use.names, ` to change ${use.users.length > 1 ? "them" : "it"} first: ${their(use)}`),
  { kind: "ReservedAddress", names: ['TCPEdge "ssh"'], users: [{}], isOurs: true },
  { kind: "ReservedAddress", names: ["TCPEdge team-b/ssh"], users: [{}], isOurs: false },
);

/** `isCycle`: whether it and all that uses it are being deleted, and wait for each other. */
export const usersGoing = waiting(
  "Deleting",
  (use: Use & { isCycle: boolean }) => sentence("Waiting for ", use.names, ` to be deleted first: ${their(use)}`),
  { kind: "ReservedAddress", names: ['TCPEdge "ssh"'], users: [{}], isCycle: false },
);

/** `titles`: what may use it. */
interface Unknown {
  titles: string;
  kind: string;
}

export const usersForbidden = blocked(
  "Forbidden",
  ({ titles, kind }: Unknown) => `Allow the API key to read ${titles}: whether they use this ${kind} is unknown`,
  { titles: "TCP edges", kind: "IPPolicy" },
);

export const usersUnlisted = retry(
  "UnexpectedResponse",
  ({ titles, kind }: Unknown) =>
    `Check the state of the service: not all ${titles} can be read, and they may use this ${kind}`,
  { titles: "TCP edges", kind: "IPPolicy" },
);

export const userUnread = waiting("InUse", unreadText, {
  kind: "TCPEdge",
  namespaces: ["demo"],
  why: "they may use this IPPolicy",
});

export const usedInAccount = waiting(
  "InUse",
  ({ title, answer }: Titled & { answer: string }) =>
    `Find and change what still uses this ${title} in the account: ${answer}`,
  { title: "IP policy", answer: "ip policy is in use" },
);

/** `users`: the credentials that send with the key. `isUnknown`: nobody knows which key has this id. */
export const keyUsed = waiting(
  "InUse",
  ({ users, id, isUnknown }: Identified & { users: string; isUnknown: boolean }) =>
    isUnknown
      ? `Delete ${id} in the account by hand, if nobody uses it: its token is unknown, and ${users} may send with it`
      : `Give ${users} another key first: it uses ${id}`,
  { users: "GatewayAccount demo/staging", id: "ak_2b7Kq", isUnknown: false },
  { users: "GatewayAccount demo/staging", id: "ak_2b7Kq", isUnknown: true },
);

export const keyUsersGoing = waiting(
  "Deleting",
  ({ users }: { users: string }) => `Waiting for ${users} to be deleted first: it sends its requests with this key`,
  { users: "GatewayAccount demo/staging" },
);

export const wantedByOther = waiting(
  "InUse",
  ({ id }: Identified) => `Leaving ${id}: another object wants it, or somebody added it by hand`,
  { id: "esb_2b7Kq/ip_policy_created.v0" },
);

/** `perMinute`: how many. */
export const turnAwaited = waiting(
  "Deleting",
  ({ perMinute }: { perMinute: number }) =>
    `Waiting for its turn: at most ${perMinute} are deleted in a minute (MAX_DELETES_PER_MINUTE, in the chart gateway.maxDeletesPerMinute)`,
  { perMinute: 60 },
);

export const changesUnsettled = waiting(
  "Deleting",
  () => "Waiting until it is certain that no interrupted change arrives any more",
  {},
);

export const foreignFinalizers = waiting(
  "Deleting",
  ({ finalizers }: { finalizers: readonly string[] }) =>
    `Ask who has set these finalizers, nothing else holds this object: ${finalizers.join(", ")}`,
  { finalizers: ["example.com/backup"] },
);

/** `why`: why it stays. */
export const leftBehind = waiting(
  "LeftBehind",
  ({ what, why }: { what: string; why: string }) =>
    `Leaving ${what} in the account: ${why}, and the operator is being uninstalled`,
  { what: "ipp_2b7Kq", why: 'TCPEdge "kept" uses it and stays' },
);

/** `way`: of `waysToDelete`. */
export const deleteUnsupported = blocked(
  "DeleteUnsupported",
  ({ id, way, title }: Identified & Titled & { way: string }) => {
    if (way === "recreated")
      return `Delete ${id} by hand, and it is created anew: the service can neither update nor delete ${withArticle(title)}`;
    const then = way === "ended" ? `, then set the annotation ${annotations.orphan}: "true"` : "";
    return `Delete ${way === "leftover" ? "it" : id} by hand${then}: the service cannot delete ${withArticle(title)}`;
  },
  { id: "edgtls_5Hn2c", way: "ended", title: "TLS edge" },
  { id: "edgtls_5Hn2c", way: "recreated", title: "TLS edge" },
  { id: "edgtls_5Hn2c", way: "replaced", title: "TLS edge" },
  { id: "edgtls_5Hn2c", way: "leftover", title: "TLS edge" },
);

export const deleteNotTaken = retry(
  "DeleteUnsupported",
  ({ title }: Titled) =>
    `Waiting to try again, no action is needed yet: the service refuses to delete ${withArticle(title)}`,
  { title: "TLS edge" },
);

const RECORD: DNSRecord = { name: "shop.example.com", type: "CNAME", targets: ["2xk4.cname.gateway.example"] };

/** `minutes`: how long the name is held at the most. */
export const recordRemains = waiting(
  "DNSRecordRemains",
  ({ record, isWritten, minutes }: { record: DNSRecord; isWritten: boolean; minutes: number }) =>
    `${isWritten ? "Waiting for external-dns to delete" : "Delete"} the DNS record ${recordText(record)}: the name is released when it is gone, or in ${minutes} min`,
  { record: RECORD, isWritten: true, minutes: 10 },
  { record: RECORD, isWritten: false, minutes: 10 },
);

/** For what a person asks to be deleted by the command `orphans`. `problem`: why the resolver cannot tell. */
export const recordOfLeftover = waiting(
  "DNSRecordRemains",
  ({ record, problem }: { record: DNSRecord; problem: string | undefined }) =>
    problem === undefined
      ? `Delete the DNS record ${recordText(record)} first, or the DNSEndpoint from which external-dns makes it`
      : `Set DNS_RESOLVERS, or try again: nobody can tell whether its record ${recordText(record)} is gone, ${problem}`,
  { record: RECORD, problem: undefined },
  { record: RECORD, problem: "ETIMEOUT for shop.example.com" },
);

// What the command `orphans` says of something that it leaves.

export const leftoverGone = blocked("RemoteMissing", () => "it is gone", {});

export const leftoverMarked = blocked("OwnershipConflict", () => "somebody else has marked it", {});

export const leftoverKept = waiting("InUse", ({ keeper }: { keeper: string }) => `${keeper} has it, or may need it`, {
  keeper: "IPPolicy demo/office",
});

export const leftoverUsersUnseen = blocked(
  "InUse",
  ({ title }: Titled) => `Delete it with the tools of the service: who uses ${withArticle(title)} shows nowhere`,
  { title: "IP policy" },
);
