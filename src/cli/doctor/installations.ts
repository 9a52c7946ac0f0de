import { INSTALLATIONS, messageOf, rivalsAmong, type Scope } from "../../operator/kubernetes/installations.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { isHeld } from "../cluster/running-operator.ts";

/** Looks for another installation with the same objects, running or waiting. */
export async function checkInstallations(
  client: Pick<KubeClient, "listAll">,
  config: Scope,
  now: number = Date.now(),
): Promise<string> {
  const { items } = await client.listAll<Lease>(leases, { labelSelector: INSTALLATIONS });
  const rival = rivalsAmong(items, config).find(({ spec }) => isHeld(spec, now));
  if (rival) throw new Error(messageOf(rival));
  return "no other has objects of this one";
}
