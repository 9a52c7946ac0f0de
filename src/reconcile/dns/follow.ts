import type { Remote } from "../../gateway/resource.ts";
import { conditionOf } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import type { Reason } from "../../schema/contract.ts";
import type { KindCondition } from "../../schema/define.ts";
import { type DNSRecord, recordText } from "../../schema/dns.ts";
import { readinessOf } from "../../schema/readiness.ts";
import { epochMs, requestOptions, serviceEpochMs } from "../context.ts";
import type { RecordCheck } from "../dns.ts";
import type { RecordsContext } from "../features.ts";
import { type DNSSettings, endpointFor, settingsOf } from "./settings.ts";

/** Seconds until the next look at the records: while one is missing or wrong, and while all are right. */
const WAITING_SECONDS = 60;
const SETTLED_SECONDS = 300;

/** For this long after the records were first seen, each look asks the service about the certificate. */
const CERTIFICATE_MS = 10 * 60_000;

export interface DNSOutcome {
  /** The latest answer about the remote. */
  remote: Remote;
  conditions: KindCondition[];
  /** Seconds until the next look. */
  afterSeconds?: number;
}

/**
 * Has the DNS records of a remote created, and checks whether they exist. If a certificate waits for them, asks the
 * service about it again. Problems with DNS appear in the condition DNSReady, and stop nothing else.
 */
export async function followDNS(context: RecordsContext, remote: Remote): Promise<DNSOutcome> {
  const { dns, record } = context;
  record.withdrawal = undefined;
  const records = recordsOf(context, remote);
  const { writes, looks, refused, denied } = settingsOf(context);
  if (records.length === 0) return { remote, conditions: [] };
  const problem = writes ? await write(context, records) : await removeFormer(context, { refused, denied });
  if (problem && (writes || denied || !looks)) return { remote, conditions: [problem], afterSeconds: WAITING_SECONDS };
  if (!looks)
    return writes ? { remote, conditions: [unseen], afterSeconds: SETTLED_SECONDS } : { remote, conditions: [] };
  const seen = await Promise.all(records.map(async (one) => ({ record: one, check: await dns.check(one) })));
  const condition = conditionFor(seen, writes);
  if (condition.status !== "True") return { remote, conditions: [condition], afterSeconds: WAITING_SECONDS };
  return afterSeen(context, remote, condition);
}

/** An unreadable answer has nothing but the id, and says nothing about records. */
function recordsOf({ kind, object }: RecordsContext, remote: Remote): DNSRecord[] {
  if (Object.keys(remote).length > 1) return kind.dnsRecords(remote);
  return (object.status?.["dnsRecords"] ?? []) as DNSRecord[];
}

/** Without this condition, nothing would show later that a DNSEndpoint may exist. */
const unseen: KindCondition = {
  type: "DNSReady",
  status: "Unknown",
  reason: "Pending",
  message: "The DNSEndpoint is written, and nobody looks for the records (spec.dns.check: false)",
};

/**
 * Deletes the DNSEndpoint of an object that no longer has one. It can exist only if the object has this condition or
 * its records are checked, or if it would have one in a namespace with the right: the right may have been taken away
 * after a process wrote it and died. Each process looks for it until it has seen that there is none. Checking records
 * costs no request to Kubernetes.
 */
async function removeFormer(
  { cluster, record, object }: RecordsContext,
  { refused, denied }: Pick<DNSSettings, "refused" | "denied">,
): Promise<KindCondition | undefined> {
  const said = denied ? notAllowed(object.metadata.namespace) : undefined;
  const mayExist = refused || conditionOf(object.status, "DNSReady") !== undefined;
  if (!mayExist || record.endpoint === "gone") return said;
  const problem = await problemOf(cluster.endpoints.delete(object));
  record.endpoint = problem ? undefined : "gone";
  return problem ?? said;
}

/** Whoever may write the object could otherwise have a record of any name made that the service lets it reserve. */
const notAllowed = (namespace: string): KindCondition =>
  notReady(
    "DNSEndpointNotWritten",
    `Make the records yourself, or ask for externalDNS.namespaces: ["${namespace}"] in the chart: objects of this namespace may not have records written`,
  );

async function write(context: RecordsContext, records: readonly DNSRecord[]): Promise<KindCondition | undefined> {
  const { cluster, record, object } = context;
  const isKept = leavesItsRemote(object);
  record.endpoint = undefined;
  const problem = await problemOf(
    cluster.endpoints.write(object, endpointFor(records, settingsOf(context).externalDNS, !isKept)),
  );
  if (!problem && isKept) record.endpoint = "kept";
  return problem;
}

async function problemOf(request: Promise<void>): Promise<KindCondition | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (!isReconcileError(error)) throw error;
    return notReady("DNSEndpointNotWritten", error.message);
  }
}

interface Seen {
  record: DNSRecord;
  check: RecordCheck;
}

/** Records that are certainly wrong come before those that could not be checked. */
function conditionFor(seen: readonly Seen[], writes: boolean): KindCondition {
  const wrong = seen.find(({ check }) => check.state === "missing" || check.state === "elsewhere");
  const [problem = seen.find(({ check }) => check.state !== "right")] = wrong ? [wrong] : [];
  if (!problem) return { type: "DNSReady", status: "True", reason: "Available", message: "The DNS records are there" };
  const { record, check } = problem;
  const text = recordText(record);
  if (check.state === "missing") {
    return writes
      ? notReady("DNSRecordMissing", `Waiting for external-dns to make the DNS record ${text}`)
      : notReady("DNSRecordMissing", `Make the DNS record ${text}: the resolver finds none`);
  }
  if (check.state === "elsewhere")
    return notReady("DNSRecordDiffers", `Correct the DNS record ${text}: it points to ${check.there.join(", ")}`);
  const why = check.state === "failed" ? check.message : "no answer yet";
  const message = `Check the resolver (DNS_RESOLVERS), nothing else depends on it: ${why}`;
  return { type: "DNSReady", status: "Unknown", reason: "DNSLookupFailed", message };
}

const notReady = (reason: Reason, message: string): KindCondition => ({
  type: "DNSReady",
  status: "False",
  reason,
  message,
});

/** Reads the remote again when the records have just appeared, and at each look for a while after that. */
async function afterSeen(context: RecordsContext, remote: Remote, condition: KindCondition): Promise<DNSOutcome> {
  const { kind, object, account, clock } = context;
  const settled = { remote, conditions: [condition], afterSeconds: SETTLED_SECONDS };
  if (!waitsForDNS(context, remote)) return settled;
  const before = conditionOf(object.status, "DNSReady");
  const isNew = before?.status !== "True";
  if (!isNew && epochMs(context) - Date.parse(before.lastTransitionTime) > CERTIFICATE_MS) return settled;
  const since = clock.now() - (isNew ? 0 : (WAITING_SECONDS * 1000) / 2);
  const latest = await account.collection(kind.resource).getSince(remote.id, since, 1, requestOptions(context));
  return { ...settled, remote: latest ?? remote, afterSeconds: WAITING_SECONDS };
}

/** Whether the service says that a first certificate or a renewal waits for a missing record. */
function waitsForDNS(context: RecordsContext, remote: Remote): boolean {
  const { readiness } = readinessOf(context.kind, remote, context.object.spec, serviceEpochMs(context));
  return readiness.state === "failing" || (readiness.state === "usable" && readiness.reason !== undefined);
}
