import type { KubectlRun } from "../cluster/kubectl.ts";

/** What `kubectl get` shows of an object. */
export interface ObjectState {
  readonly kind: string;
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
  metadata: { name: string; generation: number; deletionTimestamp?: string };
  status?: { id?: string; conditions?: Condition[] };
}

export const isReady = ({ ready, current }: ObjectState): boolean => ready === "True" && current;

/** `ReservedDomain/shop` */
export const keyOf = ({ kind, name }: Pick<ObjectState, "kind" | "name">): string => `${kind}/${name}`;

/** The objects of all kinds of the operator, in the order of kubectl. */
export async function readObjects(kubectlRun: KubectlRun, namespace: string): Promise<ObjectState[]> {
  const { stdout } = await kubectlRun(["get", "tunnelgateway", `--namespace=${namespace}`, "--output=json"]);
  return (JSON.parse(stdout) as { items: KubeObject[] }).items.map(stateOf);
}

export function stateOf({ kind, metadata, status }: KubeObject): ObjectState {
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  return {
    kind,
    name: metadata.name,
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
