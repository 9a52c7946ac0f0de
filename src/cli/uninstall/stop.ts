import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";
import type { Wait } from "../cluster/wait.ts";

const deployments: ResourceType = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
const pods: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod" };

type Scale = KubeObject & { status?: { selector?: string } };

/** Scales a Deployment to zero and waits until its pods have ended. Does nothing when there is no such Deployment. */
export async function stopDeployment(
  client: KubeClient,
  ref: { namespace: string; name: string },
  wait: Wait,
): Promise<void> {
  const selector = await scaleToZero(client, ref);
  if (!selector) return;
  await wait(`the pods of Deployment ${ref.name} to end`, async () => {
    const { items } = await client.listAll(pods, { namespace: ref.namespace, labelSelector: selector });
    return items.every(hasEnded);
  });
}

async function scaleToZero(client: KubeClient, ref: { namespace: string; name: string }): Promise<string | undefined> {
  try {
    const patch = { spec: { replicas: 0 } };
    const scale = await client.patchMerge<Scale>(deployments, ref, patch, { subresource: "scale" });
    return scale.status?.selector;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const hasEnded = ({ status }: KubeObject): boolean =>
  ["Succeeded", "Failed"].includes((status as { phase?: string } | undefined)?.phase ?? "");
