import { blocked, retry, waiting } from "./declare.ts";
import { unreadText } from "./unread.ts";

// What stands in the way of all changes in an account, or of its use.

export const baseURLMissing = blocked(
  "InvalidSpec",
  () => "Set spec.baseURL: the address of the service is not known",
  {},
);

export const baseURLInvalid = blocked(
  "InvalidSpec",
  ({ problem }: { problem: string }) => `Correct spec.baseURL: ${problem}`,
  { problem: "The base URL is not an absolute URL" },
);

export const hostNotAllowed = blocked(
  "InvalidSpec",
  ({ host }: { host: string }) =>
    `Ask for ${host} to be added to ALLOWED_GATEWAY_HOSTS: the operator does not allow it`,
  { host: "api.gateway.example" },
);

/** `problem`: what makes the value no API key. It never quotes the value. */
export const apiKeyInvalid = waiting(
  "SecretNotReady",
  ({ name, key, problem }: { name: string; key: string; problem: string }) =>
    `Correct key "${key}" of Secret "${name}": as an API key, it ${problem}`,
  {
    name: "gateway-staging",
    key: "api-key",
    problem: "has characters that cannot be sent, such as spaces, line ends, or letters that are not ASCII",
  },
);

/** `problem`: what is wrong with the key of the operator. It never quotes the key. */
export const apiKeyMissing = retry(
  "AccountNotReady",
  ({ problem }: { problem: string }) => `Set the API key of the account, or of the operator: ${problem}`,
  { problem: "it could not be read (SECRET_NOT_READY)" },
);

export const accountMissing = waiting(
  "AccountNotReady",
  ({ name, isSpecified }: { name: string; isSpecified: boolean }) => {
    const why = isSpecified
      ? "spec.accountRef names it"
      : "its account has what this object stands for, or may have it";
    return `Create GatewayAccount "${name}" in this namespace: ${why}`;
  },
  { name: "staging", isSpecified: true },
  { name: "staging", isSpecified: false },
);

export const accountDeleted = waiting(
  "AccountNotReady",
  ({ name }: { name: string }) => `Name another account: GatewayAccount "${name}" is being deleted`,
  { name: "staging" },
);

/** `problem`: why a command has no account, with what to do. */
export const commandWithoutAccount = waiting("AccountNotReady", ({ problem }: { problem: string }) => problem, {
  problem:
    'Before you create it anew, set tunnelSessions: Mirror on GatewayAccount "staging" of this namespace: the sessions of others are not commanded',
});

/** An object means another account than the one that has its remote. */
interface Left {
  id: string;
  /** The GatewayAccount in whose account the remote is. Empty: the operator's own credentials. */
  from: string;
  /** Whether the spec names an account. */
  isSpecified: boolean;
}

const wayBack = ({ from, isSpecified }: Left): string => {
  if (from !== "") return `set accountRef: {name: ${from}}`;
  return isSpecified
    ? "remove accountRef, where no GatewayAccount is named default"
    : "have no GatewayAccount named default in this namespace";
};

/** `to`: the GatewayAccount that the object means. Empty: the operator's own credentials. */
export const accountUncertain = waiting(
  "AccountNotReady",
  (left: Left & { to: string }) => {
    const whose = left.to === "" ? "of the operator" : `of GatewayAccount "${left.to}"`;
    return `Set the API key ${whose}: until then it is unknown whether its account has ${left.id}. Or ${wayBack(left)}`;
  },
  { id: "rd_2b7Kq", from: "", isSpecified: false, to: "default" },
);

export const accountLeft = blocked(
  "AccountMismatch",
  (left: Left) =>
    `To keep ${left.id}, ${wayBack(left)}; or recreate this object in the other account: ${left.isSpecified ? "accountRef" : "its default"} has changed`,
  { id: "rd_2b7Kq", from: "staging", isSpecified: true },
);

/** How a person confirms an account. `object`: of its GatewayAccount, as a sentence names it. */
const confirmation = (object: string | undefined): string =>
  object === undefined
    ? "start the operator with GATEWAY_ACCOUNT_CONFIRMED=true"
    : `set the annotation reconcile-requested-at on ${object}`;

/** What a message calls the GatewayAccount of this name. Undefined: it is about the operator's own credentials. */
export const namedAccount = (name: string): string | undefined =>
  name === "" ? undefined : `GatewayAccount "${name}"`;

/** `object`: the GatewayAccount, as a sentence names it. Undefined: it is about the operator's own credentials. */
interface Confirmable {
  object: string | undefined;
}

export const massLoss = blocked(
  "AccountMismatch",
  ({ missing, total, object }: Confirmable & { missing: number; total: number }) =>
    `Check the API key: ${missing} of ${total} remotes are not in its account. If they were deleted there, ${confirmation(object)}`,
  { missing: 480, total: 500, object: namedAccount("staging") },
);

/** `recorded`: how many remotes objects stand for. */
export const keyUnproved = blocked(
  "AccountMismatch",
  ({ recorded, object }: Confirmable & { recorded: number }) => {
    const shows = recorded === 1 ? "does not show the one remote" : `shows none of the ${recorded} remotes`;
    return `Check the API key: its account ${shows} that objects stand for. If it is the right one, ${confirmation(object)}`;
  },
  { recorded: 12, object: namedAccount("staging") },
);

/** `way`: what a person does so that all objects can be read. */
export const keyUnprovable = blocked(
  "AccountMismatch",
  ({ way, object }: Confirmable & { way: string }) =>
    `${way}: the API key is a new one, and only what objects there have can show whether it is of their account. If it is the right one, ${confirmation(object)}`,
  {
    way: 'Let the operator read namespace "demo", or take it out of WATCH_NAMESPACES',
    object: namedAccount("staging"),
  },
);

/** `count`: how many objects use the account. */
export const accountUsed = waiting(
  "InUse",
  ({ count }: { count: number }) => {
    const users =
      count === 1 ? "the object that uses this account is" : `the ${count} objects that use this account are`;
    return `Waiting until ${users} deleted: without it, nothing can be deleted there`;
  },
  { count: 3 },
);

export const accountUsersUnread = waiting(
  "InUse",
  ({ kinds }: { kinds: readonly string[] }) =>
    unreadText({ kind: kinds.join(" and "), namespaces: [], why: "they may need this account" }),
  { kinds: ["IPPolicy"] },
);

export const sessionsUnlisted = waiting(
  "Pending",
  () => "Waiting for the first list of tunnel sessions, no action is needed",
  {},
);
