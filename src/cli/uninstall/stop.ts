import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";
import { type RunningOperator, runningOperator } from "../cluster/running-operator.ts";
import type { Wait } from "../cluster/wait.ts";
import type { Uninstallation } from "./uninstallation.ts";

const deployments: ResourceType = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
const pods: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod" };

type Scale = KubeObject & { status?: { selector?: string } };

export const isRunning = (operator: RunningOperator): operator is Exclude<RunningOperator, string> =>
  typeof operator === "object";

/** Stops the Deployment that runs the operator, if one was named, and waits until nobody holds the Lease. */
export async function stopOperator({ client, config, terminal, wait, deployment }: Uninstallation): Promise<void> {
  const namespace = config.podNamespace;
  if (!deployment || !namespace) return;
  terminal.say(`Stopping Deployment ${namespace}/${deployment}`);
  await stopDeployment(client, { namespace, name: deployment }, wait);
  // an operator that was killed has not released its lease
  await wait("the lease to run out", async () => !isRunning(await runningOperator(client, config)));
}

/** Scales a Deployment to zero and waits until its pods have ended. Does nothing when there is no such Deployment. */
async function stopDeployment(client: KubeClient, ref: { namespace: string; name: string }, wait: Wait): Promise<void> {
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
