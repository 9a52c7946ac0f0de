import { type Condition, conditionOf, type ManagedObject } from "../../objects/object.ts";
import { figuresOn } from "../../operator/kubernetes/account-figures.ts";
import type { KubeObject } from "../../runtime/object.ts";
import type { Lease } from "../../runtime/process/lease.ts";
import type { Kind } from "../../schema/define.ts";
import { isHeld } from "../cluster/running-operator.ts";
import { accountOf, namespacesWithDefault } from "../graph/accounts.ts";

/** The objects and Leases that were read from a cluster. */
export interface Observed {
  now: number;
  /** Leases with the name of the operator. */
  leases: readonly Lease[];
  accounts: readonly (KubeObject & { status?: { baseURL?: string; conditions?: readonly Condition[] } })[];
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
}

export interface Summary {
  /** `isLeading`: the leader has renewed its lease in time. */
  installations: { namespace: string; leader: string; isLeading: boolean; renewed: string }[];
  /** The account of the operator's own credentials has no namespace and no name. */
  accounts: AccountSummary[];
  /** `others`: the number of objects that are not Ready, by their reason. */
  objects: { kind: string; all: number; ready: number; others: Record<string, number> }[];
  certificates: (About & { until: string })[];
  drifted: (About & { message: string })[];
  /** Stalled objects, newest first. */
  attention: (About & { since: string; reason: string; message: string })[];
}

/** A certificate that ends within this time is shown. */
const SOON_MS = 30 * 24 * 3_600_000;

export function summaryOf({ now, leases, accounts, objects }: Observed): Summary {
  const all = [...objects.values()].flat();
  const defaults = namespacesWithDefault(accounts);
  const own = all.filter((object) => accountOf(object, defaults) === "");
  const said = saidBy(leases.filter((lease) => isHeld(lease.spec, now)));
  return {
    installations: leases.map(({ metadata: { namespace = "" }, spec = {} }) => {
      const { holderIdentity: leader = "", renewTime: renewed = "" } = spec;
      return { namespace, leader, isLeading: isHeld(spec, now), renewed };
    }),
    accounts: [
      ...(own.length > 0 ? [ownAccount(own.length, said.get(""))] : []),
      ...accounts.map(({ metadata: { namespace = "", name }, status }) => {
        const { status: ready = "", reason = "" } = conditionOf(status, "Ready") ?? {};
        const users = all.filter((one) => one.metadata.namespace === namespace && accountOf(one, defaults) === name);
        const { traffic } = said.get(`${namespace}/${name}`) ?? {};
        return { namespace, name, ready, reason, objects: users.length, ...traffic };
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
    certificates: [...objects]
      .flatMap(([{ validity }, list]) => (validity ? list.map((object) => endOf(object, validity.until)) : []))
      .filter(({ until }) => Date.parse(until) - now < SOON_MS)
      .sort(by(({ until }) => until)),
    drifted: all.flatMap((object) => {
      const drifted = conditionOf(object.status, "Drifted");
      return drifted?.status === "True" ? [{ ...aboutOf(object), message: drifted.message }] : [];
    }),
    attention: all
      .flatMap((object) => {
        const stalled = conditionOf(object.status, "Stalled");
        if (stalled?.status !== "True") return [];
        const { lastTransitionTime: since, reason, message } = stalled;
        return [{ ...aboutOf(object), since, reason, message }];
      })
      .sort(by(({ since }) => since))
      .reverse(),
  };
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
    for (const { name, requests: requestsInLastMinute, listed, pausedUntil, problem } of accounts) {
      const pause = pausedUntil && { pausedUntil };
      const traffic = { requestsInLastMinute, requestsPerMinute, ...(listed && { lastList: listed }), ...pause };
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
