import { type Answer, type Kind, type KindReadiness, type Readiness, usable } from "./define.ts";
import { type DNSRecordsOf, recordText } from "./dns.ts";

/**
 * A new custom domain has DNS_ERROR until somebody makes its DNS record. Only after this time is the object Stalled.
 */
const DNS_GRACE_MS = 10 * 60_000;

/**
 * When to look again. After the grace period the next list shows a new record anyway, so this look is only a spare one.
 */
const DNS_GRACE_SECONDS = 60;
const DNS_STALLED_SECONDS = 3600;

/** A state that may last for ever is looked at after this share of the time it has lasted, so less and less often. */
const SHARE_OF_WAIT = 1 / 20;
const SHORTEST_SECONDS = 5;
const LONGEST_SECONDS = 3600;
const UNKNOWN_RETRY_SECONDS = 60;

interface Job {
  error_code?: string | null;
  msg?: string | null;
  started_at?: string | null;
  retries_at?: string | null;
}

type NotUsable = Exclude<Readiness, { state: "usable" }>;

/**
 * Readiness, DNS records and conditions of kinds whose certificate the service can manage. A certificate counts as
 * issued once the answer has the certificate or its renewal time. If the answer has neither and no job, the job has not
 * begun yet.
 */
export const managedCertificate = (
  recordsOf: DNSRecordsOf,
): Pick<Kind, "readiness" | "dnsRecords" | "ownConditions"> => ({
  readiness: (answer, now) => certificateReadiness(answer, now, recordsOf),
  dnsRecords: recordsOf,
  ownConditions: ["CertificateReady", "DNSReady"],
});

function certificateReadiness(answer: Answer, now: number, recordsOf: DNSRecordsOf): KindReadiness {
  if (!answer["certificate_management_policy"]) return { readiness: usable };
  const status = (answer["certificate_management_status"] ?? {}) as Status;
  const job = status.provisioning_job;
  const isIssued = Boolean(answer["certificate"] ?? status.renews_at);
  if (!job) return isIssued ? issued() : pending(provisioning({}, answer, now));
  const notUsable = job.error_code ? failing(job, answer, { now, recordsOf }) : provisioning(job, answer, now);
  if (!isIssued) return pending(notUsable);
  return job.error_code ? renewalFailing(notUsable) : renewing(job, notUsable);
}

interface Status {
  renews_at?: string | null;
  provisioning_job?: Job | null;
}

const pending = (trouble: NotUsable): KindReadiness => ({
  readiness: trouble,
  conditions: [{ ...conditionOf(trouble), status: "False" }],
});

/** Ends the message about a renewal that fails. */
export const IS_SERVED = " (the present certificate is served)";

/**
 * While a renewal fails the present certificate is still served, so the object stays usable. Its reason names the
 * failure.
 */
function renewalFailing({ message, afterSeconds }: NotUsable): KindReadiness {
  const failure = {
    reason: "CertificateRenewalFailing",
    message: `${message}${IS_SERVED}`,
  } as const;
  return {
    readiness: { state: "usable", ...failure, afterSeconds },
    conditions: [{ type: "CertificateReady", status: "False", ...failure }],
  };
}

/** The message of CertificateReady. The end of the validity is appended where it is known. */
export const ISSUED = "The certificate is issued";

function issued(): KindReadiness {
  return {
    readiness: { state: "usable", message: "Exists, and its certificate is issued" },
    conditions: [{ type: "CertificateReady", status: "True", reason: "Available", message: ISSUED }],
  };
}

function provisioning(job: Job, answer: Answer, now: number): NotUsable {
  return {
    state: "pending",
    reason: "CertificateProvisioning",
    message: `Waiting for the certificate: ${job.msg || "the service has not issued it yet"}`,
    afterSeconds: secondsAfter(job, answer, now),
  };
}

/**
 * When the job began, in epoch milliseconds; the creation time of the remote if the job has not begun. Undefined: not
 * in the answer.
 */
function startOf(job: Job, { created_at: createdAt }: Answer): number | undefined {
  const startedAt = Date.parse(job.started_at ?? String(createdAt));
  return Number.isFinite(startedAt) ? startedAt : undefined;
}

function secondsAfter(job: Job, answer: Answer, now: number): number {
  const waited = (now - (startOf(job, answer) ?? now)) / 1000;
  return Math.min(Math.max(waited * SHARE_OF_WAIT, SHORTEST_SECONDS), LONGEST_SECONDS);
}

function failing(job: Job, answer: Answer, { now, recordsOf }: { now: number; recordsOf: DNSRecordsOf }): NotUsable {
  if (job.error_code !== "DNS_ERROR") {
    const retriesAt = Date.parse(job.retries_at ?? "");
    const untilRetry = Number.isFinite(retriesAt) ? (retriesAt - now) / 1000 : UNKNOWN_RETRY_SECONDS;
    return {
      state: "pending",
      reason: "CertificateRetrying",
      message: `Waiting for the service to try again${job.retries_at ? ` at ${job.retries_at}` : ""}: ${job.msg || job.error_code}`,
      afterSeconds: Math.min(Math.max(untilRetry, secondsAfter(job, answer, now)), LONGEST_SECONDS),
    };
  }
  const stalledAt = (startOf(job, answer) ?? now) + DNS_GRACE_MS;
  return {
    state: "failing",
    reason: "CertificateDNSError",
    message: `${recordToMake(answer, recordsOf)}: ${job.msg || job.error_code}`,
    afterSeconds: now < stalledAt ? DNS_GRACE_SECONDS : DNS_STALLED_SECONDS,
    stalledAt,
  };
}

/** The DNS records that may be missing, ready to be copied. */
function recordToMake(answer: Answer, recordsOf: DNSRecordsOf): string {
  const all = recordsOf(answer);
  if (all.length === 0) return `Correct the DNS records of ${answer["domain"]}`;
  const [first] = all;
  if (first?.type === "NS") return `Make NS records for ${first.name}: ${first.targets.join(", ")}`;
  return `Make the DNS record${all.length > 1 ? "s" : ""} ${all.map(recordText).join(" and ")}`;
}

const conditionOf = ({ reason, message }: NotUsable) => ({ type: "CertificateReady", reason, message }) as const;

function renewing(job: Job, { afterSeconds }: NotUsable): KindReadiness {
  const message = `The certificate is issued and being renewed: ${job.msg || "in progress"}`;
  return {
    readiness: { ...usable, afterSeconds },
    conditions: [{ type: "CertificateReady", status: "True", reason: "Available", message }],
  };
}
