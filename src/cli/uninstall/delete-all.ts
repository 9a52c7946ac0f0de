import {
  conditionOf,
  hasFinalizer,
  isOrphan,
  isPaused,
  isUninstalling,
  type ManagedObject,
} from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import { has } from "../../operator/installations/record.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isConflict, isInvalid, isNotFound } from "../../runtime/connection/errors.ts";
import { annotations } from "../../schema/contract.ts";
import { counted } from "../../schema/nouns.ts";
import { forEachConcurrently } from "../cluster/concurrently.ts";
import { allObjects, nameOf, type OwnObject } from "../cluster/objects.ts";
import { referrersFirst } from "../cluster/order.ts";
import { type RunningOperator, runningOperator } from "../cluster/running-operator.ts";
import { WaitTimeout } from "../cluster/wait.ts";
import { UsageError } from "../terminal/terminal.ts";
import { wrappedLine } from "../terminal/wrapped.ts";
import { deleteLeases } from "./leases.ts";
import { ProgressDeadline } from "./progress-deadline.ts";
import { isRunning, stopOperator } from "./stop.ts";
import type { Uninstallation } from "./uninstallation.ts";

/**
 * Deletes all objects, and waits until the operator has deleted their remotes and removed its finalizers. Objects that
 * are created meanwhile are deleted too. What the operator cannot delete, and will not be able to, is released. When
 * nothing is left, the operator is stopped, if its Deployment was named, and its Lease deleted.
 */
export async function deleteAll(parts: Uninstallation): Promise<number> {
  const { client, config, terminal, wait } = parts;
  let left = await allObjects(client, config);
  const operator = await runningOperator(client, config);
  // after a run that was interrupted when it had stopped the operator, nothing is left
  if (operator === "none" && left.length > 0) {
    terminal.warn("Start the operator first, it has to delete what the objects stand for; or use --policy retain");
    return 1;
  }
  if (!(await isAgreed(parts, left, operator))) {
    terminal.warn("Nothing was deleted");
    return 1;
  }

  const released = new Set<string>();
  const deadline = new ProgressDeadline();
  terminal.say(wrappedLine(`Deleting ${counted(left.length, "object")}${summary(left)}`, terminal.columns));
  try {
    await wait("all objects to be gone", async () => {
      await deleteThose(client, left);
      for (const one of left.filter(isLeftBehind)) {
        if (!isOrphan(one.object as ManagedObject) && !(await annotate(client, one, annotations.orphan))) continue;
        if (!released.has(uidOf(one))) terminal.warn(`Released ${nameOf(one)}: ${readyOf(one)?.message}`);
        released.add(uidOf(one));
      }
      const before = left.length;
      left = await allObjects(client, config);
      if (left.length !== before) terminal.say(wrappedLine(`${left.length} left${summary(left)}`, terminal.columns));
      deadline.observe(left);
      return left.length === 0;
    });
  } catch (error) {
    if (!(error instanceof WaitTimeout)) throw error;
    terminal.warn([`${error.message}. Still there:`, ...left.map(row)]);
    return 1;
  }
  if (released.size > 0) {
    // Helm stops here, and the next run needs the operator if somebody makes an object meanwhile
    terminal.warn(`The account keeps the remotes of ${counted(released.size, "object")}, as told above`);
    return 1;
  }
  await stopOperator(parts);
  const late = (await allObjects(client, config)).filter(({ object }) => hasFinalizer(object));
  if (late.length > 0) {
    terminal.warn(["Start the operator again: it has begun with objects that were made meanwhile", ...late.map(row)]);
    return 1;
  }
  await deleteLeases(parts);
  return 0;
}

/**
 * Whether the objects may be deleted. The operator's own pod knows which operator runs, and which objects are its own.
 * Elsewhere, its Lease may say that. What is not its own, or where that cannot be told, may belong to another
 * installation. So a person sees each of these objects, and says yes. Throws UsageError where nobody can be asked.
 */
async function isAgreed(
  { isOwnPod, terminal, yes }: Uninstallation,
  objects: readonly OwnObject[],
  operator: RunningOperator,
): Promise<boolean> {
  if (objects.length === 0) return true;
  const isUnknown = operator === "unknown";
  if (isUnknown)
    terminal.say(
      "Whether an operator runs is not known: POD_NAMESPACE says where to look. Without one the objects stay",
    );
  if (isOwnPod) return true;
  const doubtful = isUnknown ? objects : notOf(operator, objects);
  if (doubtful.length === 0) return true;
  const which = isUnknown ? "these objects" : "also objects that are not the operator's";
  terminal.say([`Deletes ${which}, and what they stand for in the account:`, ...doubtful.map(whatGoes)]);
  if (yes) return true;
  const wayOut = isUnknown
    ? "POD_NAMESPACE as the operator has it"
    : "WATCH_NAMESPACES and WATCH_SELECTOR as the operator has them";
  if (!terminal.ask) throw new UsageError(`Give --yes, or ${wayOut}: nobody can be asked here`);
  return terminal.ask(`Delete ${counted(objects.length, "object")}?`);
}

/** The objects that the Lease of the operator does not claim. Without a claim, none. */
const notOf = (operator: RunningOperator, objects: readonly OwnObject[]): OwnObject[] => {
  const claim = isRunning(operator) ? operator.installation : undefined;
  return claim === undefined ? [] : objects.filter(({ object }) => !has(claim, object));
};

function whatGoes(one: OwnObject): string {
  const { id } = (one.object.status ?? {}) as { id?: string };
  if (id === undefined) return `  ${nameOf(one)}`;
  return `  ${nameOf(one)}: ${id}${leavesItsRemote(one.object as ManagedObject) ? " stays in the account" : ""}`;
}

async function deleteThose(client: KubeClient, objects: readonly OwnObject[]): Promise<void> {
  const standing = objects.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
  await forEachConcurrently(referrersFirst(standing), async ({ type, ref, object }) => {
    await ignoringChanges(() => client.delete(type, ref, { uid: object.metadata.uid }));
  });
  // set the annotation only after the deletion: on an object that stays, it would apply to a later deletion
  await forEachConcurrently(objects.filter(isToBeMarked), async (one) => {
    await annotate(client, one, annotations.uninstalling);
  });
}

const isToBeMarked = ({ resource, object }: OwnObject): boolean =>
  resource.access.includes("patch") && !isUninstalling(object);

/** False: the object is gone, or another object has its name by now. */
async function annotate(client: KubeClient, { type, ref, object }: OwnObject, annotation: string): Promise<boolean> {
  // another object of this name has another uid, and then the request fails
  const metadata = { uid: object.metadata.uid, annotations: { [annotation]: "true" } };
  return ignoringChanges(() => client.patchMerge(type, ref, { metadata }));
}

/** False: the object is gone, or another object has its name by now. */
async function ignoringChanges(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
    return false;
  }
}

/** The operator has said that it will not be able to delete the remote. */
const isLeftBehind = (one: OwnObject): boolean =>
  readyOf(one)?.reason === "LeftBehind" && !isPaused(one.object as ManagedObject);

const uidOf = ({ object }: OwnObject): string => object.metadata.uid ?? "";

function summary(objects: readonly OwnObject[]): string {
  const counts = Map.groupBy(objects, ({ resource }) => resource.kind);
  const texts = [...counts].map(([kind, ones]) => `${ones.length} ${kind}`);
  return texts.length > 0 ? `: ${texts.join(", ")}` : "";
}

const readyOf = ({ object }: OwnObject) => conditionOf(object.status, "Ready");

function row(one: OwnObject): string {
  const ready = readyOf(one);
  return `  ${nameOf(one)}${ready ? `: ${ready.reason}: ${ready.message}` : ""}`;
}
