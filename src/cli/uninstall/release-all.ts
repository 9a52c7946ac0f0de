import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "../../kinds/index.ts";
import { conditionOf, hasFinalizer, type Status } from "../../objects/object.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import { keepDNSEndpoint } from "../../operator/kubernetes/dns-endpoints.ts";
import { releaseRoleBinding } from "../../operator/kubernetes/namespace-rights.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isInvalid, isNotFound } from "../../runtime/connection/errors.ts";
import { removeFinalizer } from "../../runtime/connection/finalizer.ts";
import type { ResourceType } from "../../runtime/object.ts";
import { FINALIZER, secretAnnotations } from "../../schema/contract.ts";
import type { DNSSpec } from "../../schema/dns.ts";
import { counted } from "../../schema/nouns.ts";
import { forEachConcurrently } from "../cluster/concurrently.ts";
import { allObjects, nameOf, type OwnObject } from "../cluster/objects.ts";
import { runningOperator } from "../cluster/running-operator.ts";
import { deleteLeases } from "./leases.ts";
import { isRunning, stopOperator } from "./stop.ts";
import type { Uninstallation } from "./uninstallation.ts";

/** Within this time an operator that still runs would add its finalizer again. */
const SETTLE_MS = 2000;

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret" };

/**
 * Removes the operator's finalizer, and no other, from all objects. The account does not change. The objects keep their
 * status with the ids, so that an operator that is installed later continues with the same remotes.
 */
export async function releaseAll(parts: Uninstallation): Promise<number> {
  const { client, config, terminal } = parts;
  await stopOperator(parts);
  const operator = await runningOperator(client, config);
  if (isRunning(operator)) {
    terminal.warn(`Stop the operator first, or it puts its finalizers back: ${operator.holder} is running`);
    return 1;
  }
  const objects = (await allObjects(client, config)).filter(({ object }) => hasFinalizer(object));
  await forEachConcurrently(objects, (one) => release(parts, one));
  terminal.say(`Released ${counted(objects.length, "object")}; nothing in the account changes`);
  if (objects.length > 0) await sleep(SETTLE_MS);
  const left =
    objects.length > 0 ? (await allObjects(client, config)).filter(({ object }) => hasFinalizer(object)) : [];
  if (left.length > 0) {
    terminal.warn(["Stop the operator, then try again. Still held by its finalizer:", ...left.map(row)]);
    return 1;
  }
  await letGoOfAllRights(parts);
  await deleteLeases(parts);
  return 0;
}

/** The operator has kept its RoleBindings while there were objects to end. */
async function letGoOfAllRights({ client, config }: Uninstallation): Promise<void> {
  const { rightsBinding: name, watchNamespaces } = config;
  if (name === undefined) return;
  await forEachConcurrently(watchNamespaces, (namespace) =>
    ignoringChanges(() => releaseRoleBinding(client, { namespace, name })),
  );
}

const row = (one: OwnObject): string => `  ${nameOf(one)}`;

async function release(parts: Uninstallation, one: OwnObject): Promise<void> {
  const { client } = parts;
  const { resource, type, ref, object } = one;
  const name = object.status?.["secretName"];
  // the Secret first: only the object says that the Secret has the finalizer, and it may be gone after its release
  if (resource.secretAccess.includes("patch") && typeof name === "string") {
    await ignoringChanges(async () => {
      const secret = await client.get(secrets, { namespace: ref.namespace, name }, { metadataOnly: true });
      await removeFinalizer(client, secrets, secret, FINALIZER);
    });
  }
  await keepOutputSecrets(client, one);
  if (await keepRecords(parts, one)) await ignoringChanges(() => removeFinalizer(client, type, object, FINALIZER));
}

/**
 * Takes the owner reference off Secrets with a value that is shown once: they would be collected with their object. While
 * an edit of the name is not carried out, the Secret of the former name has the value.
 */
async function keepOutputSecrets(client: KubeClient, { resource, ref, object }: OwnObject): Promise<void> {
  const output = kinds.find(({ kind }) => kind === resource.kind)?.output;
  if (!output?.shownOnce) return;
  const { uid = "" } = object.metadata;
  for (const name of new Set([object.spec?.[output.field], object.status?.["outputSecret"]])) {
    if (typeof name !== "string" || name === "") continue;
    await ignoringChanges(async () => {
      const { metadata } = await client.get(secrets, { namespace: ref.namespace, name }, { metadataOnly: true });
      const { resourceVersion, ownerReferences = [] } = metadata;
      const others = ownerReferences.filter((owner) => owner.uid !== uid);
      if (others.length === ownerReferences.length) return;
      const annotations = { [secretAnnotations.objectUID]: uid };
      const kept = { resourceVersion, annotations, ownerReferences: others };
      await client.patchMerge(secrets, metadata, { metadata: kept });
    });
  }
}

/**
 * The records of a domain stay as long as its DNSEndpoint, which would be collected with the object. False if the right is
 * missing and there is one.
 */
async function keepRecords({ client, terminal }: Uninstallation, one: OwnObject): Promise<boolean> {
  const { kind } = one.resource;
  if (!kinds.find((known) => known.kind === kind)?.dnsRecords) return true;
  try {
    await keepDNSEndpoint(client, { kind, metadata: one.object.metadata });
    return true;
  } catch (error) {
    if (!isReconcileError(error) || !isForbidden(error.cause)) throw error;
    // Without external-dns, nobody needs the right.
    if (!hasEndpoint(one)) return true;
    terminal.warn(`Give the right to keep the DNSEndpoint of ${nameOf(one)}, then try again: ${error.message}`);
    return false;
  }
}

/** Whether the object surely has a DNSEndpoint: it asks for one, or its records are checked only for that. */
function hasEndpoint({ object: { spec, status } }: OwnObject): boolean {
  const { check, externalDNS } = (spec?.["dns"] ?? {}) as DNSSpec;
  const asks = externalDNS ? externalDNS.enabled !== false : check === undefined;
  const { reason } = conditionOf(status as Status | undefined, "DNSReady") ?? {};
  return asks && reason !== undefined && reason !== "DNSEndpointNotWritten";
}

/** Ignores that an object is gone or was changed meanwhile: the final list shows which ones have the finalizer. */
async function ignoringChanges(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
