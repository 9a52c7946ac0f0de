import { customResources } from "../kinds/index.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isKindAbsent } from "../runtime/connection/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../runtime/object.ts";
import { GROUP, VERSION } from "../schema/contract.ts";
import type { CustomResource } from "../schema/define.ts";

/** An object of one of our kinds. */
export interface Owned {
  resource: CustomResource;
  type: ResourceType;
  ref: ObjectRef;
  object: KubeObject & { spec?: Record<string, unknown>; status?: Record<string, unknown> };
}

export const typeOf = ({ plural, kind }: CustomResource): ResourceType => ({
  group: GROUP,
  version: VERSION,
  plural,
  kind,
});

/** Those that people make; what the operator makes for itself goes when it goes. */
const theirs = customResources.filter(({ namespaces }) => namespaces !== "own");

/** All objects that people have made, in these namespaces or, when there are none, in all. */
export async function allObjects(client: KubeClient, namespaces: readonly string[]): Promise<Owned[]> {
  const scopes = namespaces.length > 0 ? namespaces : [undefined];
  const lists = theirs.flatMap((resource) => scopes.map((namespace) => objectsOf(client, resource, namespace)));
  return (await Promise.all(lists)).flat();
}

async function objectsOf(
  client: KubeClient,
  resource: CustomResource,
  namespace: string | undefined,
): Promise<Owned[]> {
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

export const nameOf = ({ resource, ref }: Owned): string => `${resource.kind} ${ref.namespace}/${ref.name}`;
