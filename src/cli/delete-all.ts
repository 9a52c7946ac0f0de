import type { KubeClient } from "../runtime/connection/client.ts";
import { isConflict, isNotFound } from "../runtime/connection/errors.ts";
import { operatorAtWork } from "./at-work.ts";
import { each } from "./each.ts";
import { allObjects, nameOf, type Owned } from "./objects.ts";
import { referrersFirst } from "./order.ts";
import type { Uninstallation } from "./uninstallation.ts";
import { OutOfTime } from "./wait.ts";

const AT_ONCE = 16;

/**
 * Deletes all objects, and waits until the operator has deleted what they stand for and let go of them.
 * What is created meanwhile is deleted as well.
 */
export async function deleteAll({ client, config, terminal, wait }: Uninstallation): Promise<number> {
  const atWork = await operatorAtWork(client, config.podNamespace);
  if (atWork === "nobody") {
    terminal.warn("Start the operator first, it has to delete what the objects stand for; or use --policy retain");
    return 1;
  }
  if (atWork === "unknown") terminal.say("Cannot tell whether an operator is at work; without one this will not end");

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
    if (!(error instanceof OutOfTime)) throw error;
    terminal.warn(`${error.message}. Still there:\n${left.map(row).join("\n")}`);
    return 1;
  }
}

async function deleteThose(client: KubeClient, objects: readonly Owned[]): Promise<void> {
  const standing = objects.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
  await each(referrersFirst(standing), AT_ONCE, async ({ type, ref, object }) => {
    try {
      await client.delete(type, ref, { uid: object.metadata.uid });
    } catch (error) {
      // gone, or another of the same name by now
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  });
}

function summary(objects: readonly Owned[]): string {
  const counts = Map.groupBy(objects, ({ resource }) => resource.kind);
  const texts = [...counts].map(([kind, ones]) => `${ones.length} ${kind}`);
  return texts.length > 0 ? `: ${texts.join(", ")}` : "";
}

interface Condition {
  type: string;
  reason?: string;
  message?: string;
}

function row(one: Owned): string {
  const conditions = (one.object.status?.["conditions"] ?? []) as Condition[];
  const ready = conditions.find(({ type }) => type === "Ready");
  return `  ${nameOf(one)}${ready ? `: ${ready.reason}: ${ready.message}` : ""}`;
}
