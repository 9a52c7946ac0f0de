import type { Config } from "../../config.ts";
import type { KubeObject } from "../../runtime/object.ts";
import type { Lease } from "../../runtime/process/lease.ts";
import { annotations, OPERATOR_NAME } from "../../schema/contract.ts";
import {
  canShare,
  everything,
  type LabelSelector,
  LabelSelectorError,
  parseLabelSelector,
  selects,
} from "../../schema/label-selector.ts";

/**
 * `claiming`: it is finding out whether another installation has its objects. `active`: it works. `waiting`: another one
 * has its objects.
 */
export type Claim = "claiming" | "active" | "waiting";

/** The claim of an installation, as its Lease and the copies of the Lease have it. */
export interface Installation {
  name: string;
  /** Empty: all. */
  namespaces: readonly string[];
  /** The labels of its objects. Missing: any. */
  selector?: string;
  claim: Claim;
  /** How many claims the installation has made. */
  attempt: number;
  /** On a copy: the namespace of the Lease. */
  home?: string;
  /** On a copy: the age of the Lease, as `ageOf` gives it. */
  born?: string;
  /** On a Lease: `versionOf` of other Leases that had ended. A Lease of the same version has still ended. */
  ended?: readonly string[];
}

const PART_OF = "app.kubernetes.io/part-of";

/** The label selector that finds the Leases of all installations, and their copies. */
export const INSTALLATIONS = `${PART_OF}=${OPERATOR_NAME}`;

export type Scope = Pick<Config, "watchNamespaces" | "watchSelector" | "podNamespace" | "installation">;

/** An installation also has the sessions and commands of its own namespace. */
export const namespacesOf = ({ watchNamespaces, podNamespace }: Scope): string[] =>
  watchNamespaces.length === 0 ? [] : [...new Set([...watchNamespaces, podNamespace ?? []].flat())];

type Share = Pick<Installation, "namespaces" | "selector">;

export const shareOf = (config: Scope): Share => ({
  namespaces: namespacesOf(config),
  selector: config.watchSelector.text,
});

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

export const marksOf = (installation: Installation) => ({
  labels: { [PART_OF]: OPERATOR_NAME },
  annotations: { [annotations.installation]: JSON.stringify(installation) },
});

/** Undefined: the Lease has no claim, or none that this version can read. */
export function installationOf({ metadata }: KubeObject): Installation | undefined {
  try {
    const said: Installation = JSON.parse(metadata.annotations?.[annotations.installation] ?? "");
    const { name, namespaces, selector = "", claim, attempt, home, born, ended } = said;
    if (!Array.isArray(namespaces)) return undefined;
    return {
      name: String(name),
      namespaces,
      selector: String(selector),
      claim,
      attempt,
      ...(home !== undefined && { home: String(home), born: String(born) }),
      ...(Array.isArray(ended) && { ended }),
    };
  } catch {
    return undefined;
  }
}

/** The namespace of the installation that has written the Lease or copy. */
const homeOf = ({ metadata }: KubeObject, { home = metadata.namespace ?? "" }: Installation): string => home;

/** A Lease of another installation, or a copy of one. */
export type Rival = Lease & { installation: Installation; home: string };

/**
 * Leases and copies of other installations that have objects of this one, whatever they claim and whether they are alive
 * or not. Two in one namespace have its session objects in common, whatever their labels are.
 */
export const rivalsAmong = (all: readonly Lease[], config: Scope): Rival[] =>
  all.flatMap((lease) => {
    const installation = installationOf(lease);
    if (!installation) return [];
    const home = homeOf(lease, installation);
    const isBeside = home === config.podNamespace;
    if (isBeside && installation.name === config.installation) return [];
    return isBeside || overlaps(installation, shareOf(config)) ? [{ ...lease, installation, home }] : [];
  });

/** Where an installation has put copies of its Lease. */
export const ownCopiesAmong = (all: readonly Lease[], { podNamespace, installation }: Scope): string[] =>
  all.flatMap((lease) => {
    const { home, name } = installationOf(lease) ?? {};
    return home === podNamespace && name === installation ? (lease.metadata.namespace ?? []) : [];
  });

/** The older of two Leases comes first in alphabetical order. Within one second of the API server, their uids decide. */
export const ageOf = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp} ${metadata.uid}`;

/** Changes with each write. */
export const versionOf = ({ metadata }: KubeObject): string => `${metadata.uid}/${metadata.resourceVersion}`;

/** Names the Lease too, because anybody who may write Leases in its namespace may have written it. */
export const messageOf = ({ home, installation, metadata }: Rival): string =>
  `Divide the objects by namespaces or labels, or uninstall one of the two: installation "${installation.name}" in namespace ${home} has the same objects (Lease ${metadata.namespace}/${metadata.name})`;
