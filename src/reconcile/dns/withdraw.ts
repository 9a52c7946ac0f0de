import type { Withdrawal } from "../../account/object-record.ts";
import { recordOfLeftover, recordRemains } from "../../objects/errors/deletion.ts";
import { conditionOf, isDeleting, isReleased, type ManagedObject } from "../../objects/object.ts";
import { isReconcileError, type Waiting } from "../../objects/reconcile-error.ts";
import type { KindCondition } from "../../schema/define.ts";
import { type DNSRecord, recordText } from "../../schema/dns.ts";
import { getRemote } from "../context.ts";
import type { DNS, RecordCheck } from "../dns.ts";
import type { RecordsContext } from "../features.ts";
import { settingsOf } from "./settings.ts";

/** The longest time that the release of a name waits until its records are gone. */
const LONGEST_MS = 10 * 60_000;

/** By default, external-dns looks once a minute. After two looks it has seen the change. */
const PROVIDER_MS = 2 * 60_000;

/** Seconds until the next look if the resolver did not say. The resolver is asked at most once a minute. */
const LOOK_SECONDS = 60;

/**
 * Call it before the remote is released. Deletes the DNSEndpoint of the object, and throws Waiting until the resolver
 * no longer finds the records. A record that is left would point to a name that somebody else can reserve. The wait
 * ends after ten minutes, or after the TTL of the records and two looks of external-dns if that is less. A person who
 * deletes a leftover has asked for no wait: it stays while the resolver finds its records.
 */
export async function withdrawRecords(context: RecordsContext, id: string, isLeftover = false): Promise<void> {
  const { kind, object, cluster, clock } = context;
  const { writes, looks, refused, externalDNS } = settingsOf(context);
  const mayHaveRecords = writes || looks || refused || conditionOf(object.status, "DNSReady") !== undefined;
  if (!mayHaveRecords) return;
  const records = await recordsOf(context, id);
  if (records.length === 0) return;
  // One that has handed the remote over, or observes it, may have written the same records.
  for (const one of [object, ...cluster.othersWithRemoteID(kind, id, object)]) await cluster.endpoints.delete(one);
  const withdrawal = begin(context);
  if (!looks || withdrawal.ended) return;
  const remaining = await remainingOf(context, records, withdrawal.began);
  const limit = externalDNS.ttl === undefined ? LONGEST_MS : Math.min(externalDNS.ttl * 1000 + PROVIDER_MS, LONGEST_MS);
  const left = limit - (clock.now() - withdrawal.began);
  if (remaining && isLeftover) throw recordsOfLeftover(remaining);
  if (remaining && left > 0) throw stillThere(context, remaining, left);
  if (remaining) {
    const note = `Delete the DNS record ${recordText(remaining.record)}: it was still there when the name was released`;
    cluster.emit(object, { type: "Warning", reason: "DNSRecordRemains", action: "Delete", note });
  }
  withdrawal.ended = true;
}

/**
 * What DNSReady says from the deletion of the DNSEndpoint until `followDNS` writes one again: the service may refuse what
 * the records were withdrawn for.
 */
export function withdrawnRecords(context: RecordsContext): KindCondition[] {
  if (!context.record.withdrawal || !settingsOf(context).writes) return [];
  const message = "See Ready: the DNS records are withdrawn before the name is released";
  return [{ type: "DNSReady", status: "False", reason: "DNSEndpointNotWritten", message }];
}

/** The process before may have written the DNSEndpoint and no status. Then the remote shows the records. */
async function recordsOf(context: RecordsContext, id: string): Promise<DNSRecord[]> {
  const { kind, object } = context;
  if (object.status?.["dnsRecords"]) return object.status["dnsRecords"] as DNSRecord[];
  const remote = await getRemote(context, id);
  return remote ? kind.dnsRecords(remote) : [];
}

/**
 * For an object whose remote stays in the account: keeps the DNSEndpoint and so the records. `taker`: the object that
 * the remote was handed over to. If that has a DNSEndpoint of its own, this one is deleted: otherwise it would keep the
 * records for ever, also when the other object withdraws them.
 */
export async function keepRecords(context: RecordsContext, taker?: ManagedObject): Promise<void> {
  const { object, dns, cluster } = context;
  if (!settingsOf(context).writes) return;
  // Kubernetes deletes the DNSEndpoint as well.
  if (await cluster.reading.isNamespaceDeleting(object.metadata.namespace)) return;
  if (taker && hasEndpoint(taker, dns)) await cluster.endpoints.delete(object);
  else await cluster.endpoints.keep(object);
}

/**
 * For an object whose remote stays in the account, also while it cannot be reconciled: the DNSEndpoint will stay when the
 * object is deleted. A problem stops nothing else, and the next reconcile tries again. For a released object it is thrown,
 * since no other reconcile would come.
 */
export async function keepRecordsInTime(context: RecordsContext): Promise<void> {
  const { object, record } = context;
  if (isDeleting(object) || record.endpoint !== undefined || !settingsOf(context).writes) return;
  try {
    await context.cluster.endpoints.keep(object);
    record.endpoint = "kept";
  } catch (error) {
    if (!isReconcileError(error) || isReleased(object)) throw error;
  }
}

function hasEndpoint(object: ManagedObject, dns: DNS): boolean {
  const { reason } = conditionOf(object.status, "DNSReady") ?? {};
  return settingsOf({ object, dns }).writes && reason !== undefined && reason !== "DNSEndpointNotWritten";
}

function begin({ record, clock }: RecordsContext): Withdrawal {
  record.withdrawal ??= { began: clock.now() };
  return record.withdrawal;
}

interface Remaining {
  record: DNSRecord;
  check: RecordCheck;
}

/** The first record that the resolver still finds, or has not yet confirmed to be gone. */
async function remainingOf(
  { dns }: RecordsContext,
  records: readonly DNSRecord[],
  since: number,
): Promise<Remaining | undefined> {
  const seen = await Promise.all(records.map(async (record) => ({ record, check: await dns.check(record, since) })));
  return seen.find(({ check }) => check.state !== "missing" && !(check.state === "elsewhere" && !check.hasTarget));
}

function recordsOfLeftover({ record, check }: Remaining): Waiting {
  return recordOfLeftover({ record, problem: check.state === "failed" ? check.message : undefined });
}

function stillThere(context: RecordsContext, { record, check }: Remaining, leftMs: number): Waiting {
  const after = check.state === "later" ? check.afterSeconds : LOOK_SECONDS;
  return recordRemains(
    { record, isWritten: settingsOf(context).writes, minutes: Math.ceil(leftMs / 60_000) },
    { afterSeconds: Math.min(after, leftMs / 1000) },
  );
}
