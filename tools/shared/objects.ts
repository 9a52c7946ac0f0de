/** An object as kubectl prints it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read deep into the JSON of any kind
export type KubeJSON = any;

/** `ReservedDomain/shop` */
export const nameOf = ({ kind, metadata }: KubeJSON): string => `${kind}/${metadata.name}`;

export const conditionOf = (object: KubeJSON, type: string): KubeJSON | undefined =>
  object?.status?.conditions?.find((condition: { type: string }) => condition.type === type);

/** Whether the object exists and its Ready condition is True for its present spec. */
export const isReady = (object: KubeJSON): boolean =>
  conditionOf(object, "Ready")?.status === "True" && object.status.observedGeneration === object.metadata.generation;

/** A manifest of one of the kinds of the operator. */
export const manifest = (kind: string, name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind,
  metadata: { name, ...metadata },
  spec,
});
