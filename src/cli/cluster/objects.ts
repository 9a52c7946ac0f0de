import type { ClusterConfig } from "../../config.ts";
import { customResources } from "../../kinds/index.ts";
import { typeOf } from "../../objects/object.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isKindAbsent } from "../../runtime/connection/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../runtime/object.ts";
import { GROUP, VERSION } from "../../schema/contract.ts";
import { type CustomResource, isMadeByOperator } from "../../schema/define.ts";
import { selects } from "../../schema/label-selector.ts";

/** An object of one of our kinds. */
export interface OwnObject {
  resource: CustomResource;
  type: ResourceType;
  ref: ObjectRef;
  object: KubeObject & { spec?: Record<string, unknown>; status?: Record<string, unknown> };
}

export const MISSING_CRDS = `Install the CRDs: the cluster has no ${GROUP}/${VERSION}`;

/** Kinds of which people create objects. The operator deletes the others itself. */
const theirs = customResources.filter((one) => !isMadeByOperator(one));

type Which = Pick<ClusterConfig, "watchNamespaces" | "watchSelector">;

/** All objects of an installation that people have created. */
export async function allObjects(
  client: Pick<KubeClient, "listAll">,
  { watchNamespaces, watchSelector }: Which,
): Promise<OwnObject[]> {
  const scopes = watchNamespaces.length > 0 ? watchNamespaces : [undefined];
  const lists = theirs.flatMap((resource) => scopes.map((namespace) => objectsOf(client, resource, namespace)));
  return (await Promise.all(lists)).flat().filter(({ object }) => selects(watchSelector, object.metadata.labels));
}

async function objectsOf(
  client: Pick<KubeClient, "listAll">,
  resource: CustomResource,
  namespace: string | undefined,
): Promise<OwnObject[]> {
  const type = typeOf(resource);
  try {
    const { items } = await client.listAll(type, { namespace });
    return items.map((object) => {
      const { namespace: where, name } = object.metadata;
      return { resource, type, ref: { namespace: where, name }, object };
    });
  } catch (error) {
    if (isKindAbsent(error)) return [];
    throw error;
  }
}

export const nameOf = ({ resource, ref }: OwnObject): string => `${resource.kind} ${ref.namespace}/${ref.name}`;
