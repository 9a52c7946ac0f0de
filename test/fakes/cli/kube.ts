import type { MoveClient } from "../../../src/cli/move/steps.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { ManagedObject } from "../../../src/objects/object.ts";
import { KubeError } from "../../../src/runtime/connection/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../../src/runtime/object.ts";
import type { Scene } from "../reconcile/scene.ts";

/** The objects of a scene, as the API server shows them to a command. `around`: called before and after each call. */
export function kubeOf({ cluster }: Scene, around: () => void = () => {}): MoveClient {
  const refusal = (status: number, reason: string) => new KubeError({ status, reason, message: reason });
  const find = (type: ResourceType, { namespace = "", name }: ObjectRef): ManagedObject => {
    const object = cluster.get(type.kind, namespace, name);
    if (!object) throw refusal(404, "NotFound");
    return object;
  };
  const call = async <T>(work: () => T): Promise<never> => {
    around();
    const answer = work();
    around();
    return structuredClone(answer) as never;
  };
  const guarded = (object: ManagedObject, resourceVersion: unknown): ManagedObject => {
    if (object.metadata.resourceVersion !== resourceVersion) throw refusal(409, "Conflict");
    return object;
  };
  const kindOf = (type: ResourceType) => {
    const kind = kinds.find((one) => one.kind === type.kind);
    if (!kind) throw refusal(404, "NotFound");
    return kind;
  };
  return {
    get: (type, ref) => call(() => find(type, ref)),
    create: (type, object: KubeObject, { dryRun } = {}) =>
      call(() => {
        const { metadata, spec } = object as ManagedObject;
        if (cluster.get(type.kind, metadata.namespace, metadata.name)) throw refusal(409, "AlreadyExists");
        if (dryRun) return object;
        return cluster.apply(kindOf(type), metadata.name, spec, metadata);
      }),
    patchMerge: (type, ref, { metadata = {} }) =>
      call(() => {
        const object = guarded(find(type, ref), metadata.resourceVersion);
        for (const [name, value] of Object.entries(metadata.annotations ?? {}))
          cluster.annotateByHand(object, name, String(value));
        return find(type, ref);
      }),
    delete: (type, ref, { resourceVersion } = {}) =>
      call(() => cluster.delete(guarded(find(type, ref), resourceVersion))),
    listAll: (type, { namespace } = {}) =>
      call(() => ({
        items: cluster.inAccount(kindOf(type)).filter(({ metadata }) => metadata.namespace === namespace),
        resourceVersion: "1",
      })),
  };
}
