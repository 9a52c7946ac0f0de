import type { Config } from "../../config.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden } from "../../runtime/connection/errors.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { annotations, leaseNameOf, OPERATOR_NAME } from "../../schema/contract.ts";
import {
  canShare,
  everything,
  type LabelSelector,
  LabelSelectorError,
  parseLabelSelector,
  selects,
} from "../../schema/label-selector.ts";
import { StartStep } from "./start-step.ts";

/**
 * `claiming`: it is finding out whether another installation has its objects. `active`: it works. `waiting`: another one
 * has its objects.
 */
type Claim = "claiming" | "active" | "waiting";

/** The claim of an installation, as its Lease has it. */
export interface Installation {
  name: string;
  /** Empty: all. */
  namespaces: readonly string[];
  /** The labels of its objects. Missing: any. */
  selector?: string;
  claim: Claim;
  /** How many claims the installation has made. */
  attempt: number;
}

/** Finds the Leases of all installations. */
const LABEL = { "app.kubernetes.io/part-of": OPERATOR_NAME };

export const INSTALLATIONS = `app.kubernetes.io/part-of=${OPERATOR_NAME}`;

export type Scope = Pick<Config, "watchNamespaces" | "watchSelector" | "podNamespace" | "installation">;

/** An installation also has the sessions and commands of its own namespace. */
export const namespacesOf = ({ watchNamespaces, podNamespace }: Scope): string[] =>
  watchNamespaces.length === 0 ? [] : [...new Set([...watchNamespaces, podNamespace ?? []].flat())];

type Share = Pick<Installation, "namespaces" | "selector">;

const shareOf = (config: Scope): Share => ({ namespaces: namespacesOf(config), selector: config.watchSelector.text });

/** Whether both installations could have the same object. */
export const overlaps = (one: Share, other: Share): boolean =>
  (one.namespaces.length === 0 ||
    other.namespaces.length === 0 ||
    one.namespaces.some((namespace) => other.namespaces.includes(namespace))) &&
  canShare(selectorOf(one), selectorOf(other));

/** Whether an installation has an object. */
export const has = (share: Share, { metadata }: Pick<KubeObject, "metadata">): boolean =>
  (share.namespaces.length === 0 || share.namespaces.includes(metadata.namespace ?? "")) &&
  selects(selectorOf(share), metadata.labels);

/** If this version cannot read the selector, it assumes that the selector matches any object. */
function selectorOf({ selector = "" }: Share): LabelSelector {
  try {
    return parseLabelSelector(selector);
  } catch (error) {
    if (error instanceof LabelSelectorError) return everything;
    throw error;
  }
}

/** Undefined: the Lease has no claim, or none that this version can read. */
export function installationOf({ metadata }: KubeObject): Installation | undefined {
  try {
    const said: Installation = JSON.parse(metadata.annotations?.[annotations.installation] ?? "");
    const { name, namespaces, selector = "", claim, attempt } = said;
    if (!Array.isArray(namespaces)) return undefined;
    return { name: String(name), namespaces, selector: String(selector), claim, attempt };
  } catch {
    return undefined;
  }
}

const isOwnLease = ({ metadata }: KubeObject, { podNamespace, installation }: Scope): boolean =>
  metadata.namespace === podNamespace && metadata.name === leaseNameOf(installation);

export type Rival = Lease & { installation: Installation };

/**
 * Leases of other installations that have objects of this one, whatever they claim and whether they are alive or not.
 * Two in one namespace have its session objects in common, whatever their labels are.
 */
export const rivalsAmong = (all: readonly Lease[], config: Scope): Rival[] =>
  all.flatMap((lease) => {
    const installation = installationOf(lease);
    if (!installation || isOwnLease(lease, config)) return [];
    const isRival = lease.metadata.namespace === config.podNamespace || overlaps(installation, shareOf(config));
    return isRival ? [{ ...lease, installation }] : [];
  });

export interface InstallationClaimOptions {
  client: Pick<KubeClient, "listAll">;
  config: Scope;
  /** The Lease as this process has written it last; undefined while it does not lead. */
  ownLease: () => Lease | undefined;
  clock: Clock;
  log: Logger;
  random?: () => number;
}

/** How often the operator checks whether its own Lease is written, or another installation has given way. */
const LOOK_MS = 500;

const WHAT = "claiming the objects of this installation";

/**
 * Succeeds when no other installation that is alive has the same objects. Done by the leader before its controllers start.
 *
 * Each installation writes its claim to its Lease before it lists the Leases of the others, so of two that start at the same
 * time at least one sees the other. One that is active goes on. Of two that claim, the one whose Lease is younger waits,
 * and the older one goes on when it sees that.
 */
export class InstallationClaim extends StartStep<void> {
  readonly #claim: Pick<Installation, "claim" | "attempt">;
  readonly #config: Scope;

  constructor({ client, config, ownLease, clock, log, random }: InstallationClaimOptions) {
    const rivals = new Rivals({ client, config, clock, log });
    const mine: Pick<Installation, "claim" | "attempt"> = { claim: "claiming", attempt: 1 };
    super({
      ...{ what: WHAT, where: `installation ${config.installation}`, clock, log, random },
      async run(signal) {
        if (mine.claim === "waiting") await claimAgain(mine, rivals, signal);
        const own = await written(mine.attempt, ownLease, clock, signal);
        for (let found = await rivals.find(signal); found.length > 0; found = await rivals.find(signal)) {
          const first = found.find((rival) => comesBefore(rival, own));
          if (first) mine.claim = "waiting";
          if (first) throw new Error(messageOf(first));
          await sleep(clock, LOOK_MS, signal);
        }
        mine.claim = "active";
      },
    });
    this.#claim = mine;
    this.#config = config;
  }

  get isWaiting(): boolean {
    return this.#claim.claim === "waiting";
  }

  /** The annotations for the Lease. */
  readonly marks = () => {
    const { installation: name } = this.#config;
    const said: Installation = { name, ...shareOf(this.#config), ...this.#claim };
    return { labels: LABEL, annotations: { [annotations.installation]: JSON.stringify(said) } };
  };
}

/**
 * A waiting installation claims again only after the others are gone: they may be waiting until its Lease says that it
 * waits.
 */
async function claimAgain(mine: Pick<Installation, "claim" | "attempt">, rivals: Rivals, signal: AbortSignal) {
  const [rival] = await rivals.find(signal);
  if (rival) throw new Error(messageOf(rival));
  mine.claim = "claiming";
  mine.attempt += 1;
}

/** Resolves when the own Lease says that the installation claims its objects. */
async function written(
  attempt: number,
  ownLease: InstallationClaimOptions["ownLease"],
  clock: Clock,
  signal: AbortSignal,
): Promise<Lease> {
  for (;;) {
    const lease = ownLease();
    if (lease && installationOf(lease)?.attempt === attempt) return lease;
    await sleep(clock, LOOK_MS, signal);
  }
}

const comesBefore = (rival: Rival, own: Lease): boolean =>
  rival.installation.claim === "active" || ageOf(rival) < ageOf(own);

const ageOf = ({ metadata }: Lease): string => `${metadata.creationTimestamp} ${metadata.uid}`;

export const messageOf = ({ metadata, installation }: Rival): string =>
  `Divide the objects by namespaces or labels, or uninstall one of the two: installation "${installation.name}" in namespace ${metadata.namespace} has the same objects`;

type RivalsOptions = Pick<InstallationClaimOptions, "client" | "config" | "clock" | "log">;

/** Other installations that have the same objects, are alive, and do not wait. */
class Rivals {
  readonly #options: RivalsOptions;
  /** The spec of each Lease, and since when this process has seen it unchanged. */
  readonly #seen = new Map<string, { spec: string; since: number }>();

  constructor(options: RivalsOptions) {
    this.#options = options;
  }

  async find(signal: AbortSignal): Promise<Rival[]> {
    const { config } = this.#options;
    const all = await this.#list(signal);
    return rivalsAmong(all, config).filter((lease) => lease.installation.claim !== "waiting" && this.#isAlive(lease));
  }

  async #list(signal: AbortSignal): Promise<Lease[]> {
    const { client, config, log } = this.#options;
    // An operator of listed namespaces has no right to read the Leases of other installations. An installation of all
    // namespaces sees its Lease instead.
    if (config.watchNamespaces.length > 0) return [];
    try {
      return (await client.listAll<Lease>(leases, { labelSelector: INSTALLATIONS, signal })).items;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      log.warn({ error }, "Cannot see whether another installation has the same objects");
      return [];
    }
  }

  /**
   * An installation that has ended has released its Lease or does not renew it. Compare by changes, since its clock may
   * differ from ours.
   */
  #isAlive({ metadata, spec = {} }: Lease): boolean {
    if (!spec.holderIdentity) return false;
    const uid = metadata.uid ?? "";
    const text = JSON.stringify(spec);
    const known = this.#seen.get(uid);
    const { clock } = this.#options;
    const since = known?.spec === text ? known.since : clock.now();
    this.#seen.set(uid, { spec: text, since });
    return clock.now() - since <= (spec.leaseDurationSeconds ?? 0) * 1000;
  }
}
