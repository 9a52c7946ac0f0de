import type { KubeClient } from "../../runtime/connection/client.ts";
import { isConflict, isNotFound } from "../../runtime/connection/errors.ts";
import { forEachConcurrently } from "../cluster/concurrently.ts";
import { allObjects, nameOf, type OwnObject } from "../cluster/objects.ts";
import { referrersFirst } from "../cluster/order.ts";
import { runningOperator } from "../cluster/running-operator.ts";
import { WaitTimeout } from "../cluster/wait.ts";
import type { Uninstallation } from "./uninstallation.ts";

/**
 * Deletes all objects, and waits until the operator has deleted their remotes and removed its finalizers. Objects that
 * are created meanwhile are deleted too.
 */
export async function deleteAll({ client, config, terminal, wait }: Uninstallation): Promise<number> {
  const operator = await runningOperator(client, config);
  if (operator === "none") {
    terminal.warn("Start the operator first, it has to delete what the objects stand for; or use --policy retain");
    return 1;
  }
  if (operator === "unknown") terminal.say("Cannot tell whether an operator is running; without one the objects stay");

  let left = await allObjects(client, config.watchNamespaces);
  terminal.say(`Deleting ${left.length} objects${summary(left)}`);
  try {
    await wait("all objects to be gone", async () => {
      await deleteThose(client, left);
      const before = left.length;
      left = await allObjects(client, config.watchNamespaces);
      if (left.length !== before) terminal.say(`${left.length} left${summary(left)}`);
      return left.length === 0;
    });
    return 0;
  } catch (error) {
    if (!(error instanceof WaitTimeout)) throw error;
    terminal.warn(`${error.message}. Still there:\n${left.map(row).join("\n")}`);
    return 1;
  }
}

async function deleteThose(client: KubeClient, objects: readonly OwnObject[]): Promise<void> {
  const standing = objects.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
  await forEachConcurrently(referrersFirst(standing), async ({ type, ref, object }) => {
    try {
      await client.delete(type, ref, { uid: object.metadata.uid });
    } catch (error) {
      // the object is gone, or another one has its name by now
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  });
}

function summary(objects: readonly OwnObject[]): string {
  const counts = Map.groupBy(objects, ({ resource }) => resource.kind);
  const texts = [...counts].map(([kind, ones]) => `${ones.length} ${kind}`);
  return texts.length > 0 ? `: ${texts.join(", ")}` : "";
}

interface Condition {
  type: string;
  reason?: string;
  message?: string;
}

function row(one: OwnObject): string {
  const conditions = (one.object.status?.["conditions"] ?? []) as Condition[];
  const ready = conditions.find(({ type }) => type === "Ready");
  return `  ${nameOf(one)}${ready ? `: ${ready.reason}: ${ready.message}` : ""}`;
}
