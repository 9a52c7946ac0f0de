import type { KubectlRun } from "../cluster/kubectl.ts";
import { NAMESPACE } from "./namespace.ts";

/** What `kubectl get` shows of an object. */
export interface ObjectState {
  readonly kind: string;
  /** With its namespace before it, `team-a/web`, if that is not the one of the demo. */
  readonly name: string;
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** Empty if it has none yet. */
  readonly id: string;
  readonly generation: number;
  readonly deleting: boolean;
  /** It stays as it is until a person changes something. */
  readonly stalled: boolean;
  /** The conditions are about the present generation. */
  readonly current: boolean;
}

interface Condition {
  type: string;
  status: ObjectState["ready"];
  reason: string;
  message: string;
  observedGeneration?: number;
}

export interface KubeObject {
  kind: string;
  metadata: { namespace: string; name: string; generation: number; deletionTimestamp?: string };
  status?: { id?: string; conditions?: Condition[] };
}

export const isReady = ({ ready, current }: ObjectState): boolean => ready === "True" && current;

/** `ReservedDomain/shop` */
export const keyOf = ({ kind, name }: Pick<ObjectState, "kind" | "name">): string => `${kind}/${name}`;

/** The objects of all kinds with conditions, in the order of kubectl: of the demo alone, or of all namespaces. */
export async function readObjects(kubectlRun: KubectlRun, where: "demo" | "everywhere"): Promise<ObjectState[]> {
  const scope = where === "demo" ? `--namespace=${NAMESPACE}` : "--all-namespaces";
  const { stdout } = await kubectlRun(["get", "tunnelgateway", scope, "--output=json"]);
  const { items } = JSON.parse(stdout) as { items: KubeObject[] };
  return items.filter(({ kind }) => kind !== "TunnelSession").map(stateOf);
}

export function stateOf({ kind, metadata, status }: KubeObject): ObjectState {
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  return {
    kind,
    name: metadata.namespace === NAMESPACE ? metadata.name : `${metadata.namespace}/${metadata.name}`,
    ready: ready?.status ?? "Unknown",
    reason: ready?.reason ?? "",
    message: ready?.message ?? "",
    id: status?.id ?? "",
    generation: metadata.generation,
    deleting: metadata.deletionTimestamp !== undefined,
    stalled: conditions.some((condition) => condition.type === "Stalled" && condition.status === "True"),
    current: ready?.observedGeneration === metadata.generation,
  };
}
