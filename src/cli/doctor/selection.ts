import { hasFinalizer } from "../../objects/object.ts";
import { has, INSTALLATIONS, installationOf, type Scope } from "../../operator/installations/record.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { everything, selects } from "../../schema/label-selector.ts";
import { allObjects, nameOf, type OwnObject } from "../cluster/objects.ts";
import { isHeld } from "../cluster/running-operator.ts";

/** How many objects a message names. */
const MOST_NAMED = 10;

/**
 * Looks for objects that were managed and whose labels no installation that runs selects. Nobody would delete what they
 * stand for, so a deletion would wait for ever.
 */
export async function checkSelection(
  client: Pick<KubeClient, "listAll">,
  config: Scope,
  now: number = Date.now(),
): Promise<string> {
  const all = await allObjects(client, { watchNamespaces: config.watchNamespaces, watchSelector: everything });
  const { items } = await client.listAll<Lease>(leases, { labelSelector: INSTALLATIONS });
  const running = items.flatMap((lease) => (isHeld(lease.spec, now) ? (installationOf(lease) ?? []) : []));
  const lost = all
    .filter(({ object }) => hasFinalizer(object))
    .filter(({ object }) => !selects(config.watchSelector, object.metadata.labels))
    .filter(({ object }) => !running.some((installation) => has(installation, object)));
  if (lost.length === 0) return "each object that was managed belongs to an installation";
  throw new Error(
    `Change the labels of these objects, or start the installation that has them; until then nothing is done for them: ${named(lost)}`,
  );
}

/** Those that are being deleted first: they wait for it. */
function named(objects: readonly OwnObject[]): string {
  const isDeleting = ({ object }: OwnObject) => object.metadata.deletionTimestamp !== undefined;
  const sorted = [...objects.filter(isDeleting), ...objects.filter((one) => !isDeleting(one))];
  const names = sorted.slice(0, MOST_NAMED).map((one) => nameOf(one) + (isDeleting(one) ? " (being deleted)" : ""));
  const more = objects.length - names.length;
  return names.join(", ") + (more > 0 ? `, and ${more} more` : "");
}
