import { type Condition, conditionOf, type ManagedObject } from "../../objects/object.ts";
import { figuresOn } from "../../operator/kubernetes/account-figures.ts";
import type { KubeObject } from "../../runtime/object.ts";
import type { Lease } from "../../runtime/process/lease.ts";
import type { Reason } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { isHeld } from "../cluster/running-operator.ts";
import { credentialsOf, namespacesWithDefault } from "../graph/accounts.ts";

interface Status {
  conditions?: readonly Condition[];
}

/** The objects and Leases that were read from a cluster. */
export interface Observed {
  now: number;
  /** Leases with the name of the operator. */
  leases: readonly Lease[];
  accounts: readonly (KubeObject & { status?: Status & { baseURL?: string } })[];
  objects: ReadonlyMap<Kind, readonly ManagedObject[]>;
}

interface About {
  kind: string;
  namespace: string;
  name: string;
}

interface AccountSummary extends Partial<Traffic> {
  namespace: string;
  name: string;
  ready: string;
  reason: string;
  /** Since when requests to it fail, as far as its objects and itself tell. */
  since?: string;
  objects: number;
}

/** Figures of an account, from the Lease of the leader. */
interface Traffic {
  requestsInLastMinute: number;
  /** 0: no limit. */
  requestsPerMinute: number;
  /** When the latest complete list began. */
  lastList?: string;
  /** When the pause ends that the service has asked for. */
  pausedUntil?: string;
  /** How many requests wait for their turn. */
  waiting?: number;
}

export interface Summary {
  /** `isLeading`: the leader has renewed its lease in time. */
  installations: { namespace: string; leader: string; isLeading: boolean; renewed: string }[];
  /** The account of the operator's own credentials has no namespace and no name. */
  accounts: AccountSummary[];
  /** `others`: the number of objects that are not Ready, by their reason. */
  objects: { kind: string; all: number; ready: number; others: Record<string, number> }[];
  /** That which ends first before the others. */
  certificates: (About & { until: string })[];
  drifted: (About & { message: string })[];
  /** Objects that are neither Ready nor Stalled, and are not paused, oldest first. */
  waiting: Unfinished[];
  /** Objects that are Ready, and of which the last call or list has failed, oldest first. */
  unsynced: Unfinished[];
  /** Oldest first. */
  paused: (About & { since: string; reason: string })[];
  /** Stalled objects, oldest first. */
  attention: Unfinished[];
}

export type Unfinished = About & { since: string; reason: string; message: string };

export function summaryOf({ now, leases, accounts, objects }: Observed): Summary {
  const all = [...objects.values()].flat();
  const defaults = namespacesWithDefault(accounts);
  const byAccount = Map.groupBy(all, (object) => credentialsOf(object, defaults));
  const own = byAccount.get("") ?? [];
  const said = saidBy(leases.filter((lease) => isHeld(lease.spec, now)));
  return {
    installations: leases.map(({ metadata: { namespace = "" }, spec = {} }) => {
      const { holderIdentity: leader = "", renewTime: renewed = "" } = spec;
      return { namespace, leader, isLeading: isHeld(spec, now), renewed };
    }),
    accounts: [
      ...(own.length > 0 ? [withSince(ownAccount(own.length, said.get("")), undefined, own)] : []),
      ...accounts.map((account) => {
        const { metadata, status } = account;
        const { namespace = "", name } = metadata;
        const users = byAccount.get(`${namespace}/${name}`) ?? [];
        const { traffic } = said.get(`${namespace}/${name}`) ?? {};
        return withSince({ namespace, name, ...stateOf(status), objects: users.length, ...traffic }, account, users);
      }),
    ],
    objects: [...objects]
      .filter(([, list]) => list.length > 0)
      .map(([{ kind }, list]) => ({
        kind,
        all: list.length,
        ready: list.filter(isReady).length,
        others: countsOf(list.filter((object) => !isReady(object))),
      })),
    certificates: certificatesOf(objects).filter(({ until }) => until !== ""),
    drifted: all.flatMap((object) => {
      const drifted = conditionOf(object.status, "Drifted");
      return drifted?.status === "True" ? [{ ...aboutOf(object), message: drifted.message }] : [];
    }),
    waiting: oldestFirst(
      all.filter((object) => !isReady(object) && !isStalled(object) && !isPausedNow(object)),
      "Ready",
    ),
    unsynced: oldestFirst(
      all.filter((object) => isReady(object) && isUnsynced(object) && !isStalled(object) && !isPausedNow(object)),
      "Synced",
    ),
    paused: oldestFirst(all.filter(isPausedNow), "Paused").map(({ message: _, ...one }) => one),
    attention: oldestFirst(all.filter(isStalled), "Stalled"),
  };
}

/** What ends at a known time, that which ends first before the others. */
export const certificatesOf = (objects: Observed["objects"]): Summary["certificates"] =>
  [...objects]
    .flatMap(([{ validity }, list]) => (validity ? list.map((object) => endOf(object, validity.until)) : []))
    .sort(by(({ until }) => until));

const isTrue = (object: ManagedObject, type: string): boolean => conditionOf(object.status, type)?.status === "True";

export const isStalled = (object: ManagedObject): boolean => isTrue(object, "Stalled");

export const isPausedNow = (object: ManagedObject): boolean => isTrue(object, "Paused");

const isUnsynced = ({ status }: ManagedObject): boolean => conditionOf(status, "Synced")?.status === "False";

/** The state of a GatewayAccount. While its key works, one of its lists may fail. */
function stateOf(status: Status | undefined): Pick<AccountSummary, "ready" | "reason" | "since"> {
  const { status: ready = "", reason = "" } = conditionOf(status, "Ready") ?? {};
  const synced = conditionOf(status, "Synced");
  if (ready !== "True" || synced?.status !== "False") return { ready, reason };
  return { ready: "False", reason: synced.reason, since: synced.lastTransitionTime };
}

/** What the condition of this type says of objects. One that nobody has looked at is as old as its object. */
const oldestFirst = (objects: readonly ManagedObject[], type: string): Unfinished[] =>
  objects
    .map((object) => {
      const { lastTransitionTime = "", reason = "Pending", message = "" } = conditionOf(object.status, type) ?? {};
      const created = object.metadata.creationTimestamp ?? "";
      return {
        ...aboutOf(object),
        since: lastTransitionTime > created ? lastTransitionTime : created,
        reason,
        message,
      };
    })
    .sort(by(({ since }) => since));

/** Reasons for which all requests to an account fail. */
const FAILING: ReadonlySet<string> = new Set<Reason>(["ServiceUnavailable", "Unauthorized"]);

/** With the time since when it fails: no object shows it earlier than its own last request. */
function withSince(
  account: AccountSummary,
  object: { status?: Status } | undefined,
  users: readonly ManagedObject[],
): AccountSummary {
  if (account.ready === "True") return account;
  const failing = [object, ...users].flatMap((one) =>
    ["Ready", "Synced"].flatMap((type) => {
      const found = conditionOf(one?.status, type);
      return found && found.status !== "True" && FAILING.has(found.reason) ? found : [];
    }),
  );
  const [first] = failing.sort(by(({ lastTransitionTime }) => lastTransitionTime));
  return first ? { ...account, ready: "False", reason: first.reason, since: first.lastTransitionTime } : account;
}

interface Said {
  traffic: Traffic;
  problem: string | undefined;
}

/**
 * Figures by the name of the account. The own account of each operator has no name, so with several operators its
 * figures are left out.
 */
function saidBy(leases: readonly Lease[]): ReadonlyMap<string, Said> {
  const said = new Map<string, Said>();
  for (const { requestsPerMinute, accounts } of leases.flatMap((lease) => figuresOn(lease) ?? []))
    for (const { name, requests: requestsInLastMinute, listed, pausedUntil, waiting, problem } of accounts) {
      const waits = { ...(pausedUntil && { pausedUntil }), ...(waiting && { waiting }) };
      const traffic = { requestsInLastMinute, requestsPerMinute, ...(listed && { lastList: listed }), ...waits };
      said.set(name, { traffic, problem });
    }
  if (leases.length > 1) said.delete("");
  return said;
}

/** No object shows whether the operator's own key is accepted. A list that succeeded does. */
function ownAccount(objects: number, said: Said | undefined): AccountSummary {
  const { problem, traffic } = said ?? {};
  const accepted = traffic?.lastList === undefined ? { ready: "", reason: "" } : { ready: "True", reason: "Available" };
  const state = problem ? { ready: "False", reason: problem } : accepted;
  return { namespace: "", name: "", ...state, objects, ...traffic };
}

const by =
  <T>(key: (one: T) => string) =>
  (one: T, other: T): number =>
    key(one).localeCompare(key(other));

const aboutOf = ({ kind, metadata: { namespace, name } }: ManagedObject): About => ({ kind, namespace, name });

const endOf = (object: ManagedObject, field: string): About & { until: string } => ({
  ...aboutOf(object),
  until: String(object.status?.[field] ?? ""),
});

const isReady = ({ status }: ManagedObject): boolean => conditionOf(status, "Ready")?.status === "True";

function countsOf(objects: readonly ManagedObject[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of objects) {
    const reason = conditionOf(status, "Ready")?.reason ?? "Pending";
    counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}
