import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isInvalid, isNotFound } from "../runtime/connection/errors.ts";
import { removeFinalizer } from "../runtime/connection/finalizer.ts";
import type { ResourceType } from "../runtime/object.ts";
import { FINALIZER } from "../schema/contract.ts";
import { operatorAtWork } from "./at-work.ts";
import { each } from "./each.ts";
import { allObjects, nameOf, type Owned } from "./objects.ts";
import { stopDeployment } from "./stop.ts";
import type { Uninstallation } from "./uninstallation.ts";

const AT_ONCE = 16;

/** An operator that still runs puts a finalizer back within this time. */
const SETTLE_MS = 2000;

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret" };

/**
 * Takes the operator's finalizer, and no other, off all objects. Nothing in the account changes. The objects stay as
 * they are, with their ids, so that an operator that is installed again goes on where the last one stopped.
 */
export async function releaseAll(parts: Uninstallation): Promise<number> {
  const { client, config, terminal, wait, deployment } = parts;
  const namespace = config.podNamespace;
  if (deployment && namespace) {
    terminal.say(`Stopping Deployment ${namespace}/${deployment}`);
    await stopDeployment(client, { namespace, name: deployment }, wait);
    // one that was killed has not given its lease back
    await wait("the lease to run out", async () => !isHeld(await operatorAtWork(client, namespace)));
  }
  const atWork = await operatorAtWork(client, namespace);
  if (isHeld(atWork)) {
    terminal.warn(`Stop the operator first, or it puts its finalizers back: ${atWork.holder} is at work`);
    return 1;
  }
  const objects = (await allObjects(client, config.watchNamespaces)).filter(isHeldOn);
  await each(objects, AT_ONCE, (one) => release(client, one));
  terminal.say(`Released ${objects.length} objects; the account keeps what they stand for`);
  if (objects.length === 0) return 0;

  await sleep(SETTLE_MS);
  const left = (await allObjects(client, config.watchNamespaces)).filter(isHeldOn);
  if (left.length === 0) return 0;
  terminal.warn(`Stop the operator, then try again. Still held by its finalizer:\n${left.map(row).join("\n")}`);
  return 1;
}

const isHeld = (atWork: Awaited<ReturnType<typeof operatorAtWork>>): atWork is { holder: string } =>
  typeof atWork === "object";

const isHeldOn = ({ object }: Owned): boolean => object.metadata.finalizers?.includes(FINALIZER) ?? false;

const row = (one: Owned): string => `  ${nameOf(one)}`;

async function release(client: KubeClient, { resource, type, ref, object }: Owned): Promise<void> {
  const name = object.status?.["secretName"];
  // the Secret first: once its object is released, nobody knows any more that it is held
  if (resource.secretAccess.includes("patch") && typeof name === "string") {
    await ignoringChanges(async () => {
      const secret = await client.get(secrets, { namespace: ref.namespace, name }, { metadataOnly: true });
      await removeFinalizer(client, secrets, secret, FINALIZER);
    });
  }
  await ignoringChanges(() => removeFinalizer(client, type, object, FINALIZER));
}

/** An object that is gone needs no release. One that somebody has changed meanwhile is listed in the end. */
async function ignoringChanges(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
