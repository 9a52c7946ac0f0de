import {
  INSTALLATIONS,
  messageOf,
  namespacesOf,
  type Rival,
  rivalsAmong,
  type Scope,
} from "../../operator/installations/record.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { type Lease, leases } from "../../runtime/process/lease.ts";
import { isHeld } from "../cluster/running-operator.ts";

/** Looks for another installation with the same objects, running or waiting, where the operator looks too. */
export async function checkInstallations(
  client: Pick<KubeClient, "listAll">,
  config: Scope,
  now: number = Date.now(),
): Promise<string> {
  const namespaces = config.watchNamespaces.length > 0 ? namespacesOf(config) : [undefined];
  const lists = namespaces.map((namespace) =>
    client.listAll<Lease>(leases, { namespace, labelSelector: INSTALLATIONS }),
  );
  const all = (await Promise.all(lists)).flatMap(({ items }) => items);
  const rivals: Rival[] = rivalsAmong(all, config).filter(({ spec }) => isHeld(spec, now));
  if (rivals[0]) throw new Error(messageOf(rivals[0]));
  return "no other has objects of this one";
}
