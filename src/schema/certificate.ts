import { type Answer, type Kind, type KindCondition, type Readiness, usable } from "./define.ts";

/** Every custom domain starts with DNS_ERROR until its record exists, so a person is called only after this. */
const DNS_GRACE_MS = 10 * 60_000;

interface Job {
  error_code?: string | null;
  msg?: string | null;
  started_at?: string | null;
  retries_at?: string | null;
}

type Trouble = Exclude<Readiness, { state: "usable" }>;

type Result = ReturnType<Kind["readiness"]>;

/**
 * For a kind whose certificate the service can manage: the readiness that follows from the certificate, and the
 * condition that tells of it. `isServed` says whether an answer shows that a certificate exists already. If so, a job
 * is a renewal, and the resource stays usable during it.
 */
export const managedCertificate = (
  isServed: (answer: Answer) => boolean,
): Pick<Kind, "readiness" | "ownConditions"> => ({
  readiness: (answer, now) => certificateReadiness(answer, now, isServed(answer)),
  ownConditions: ["CertificateReady"],
});

function certificateReadiness(answer: Answer, now: number, served: boolean): Result {
  const policy = answer["certificate_management_policy"];
  if (!policy) return { readiness: usable };
  const status = answer["certificate_management_status"] as { provisioning_job?: Job | null } | null | undefined;
  const job = status?.provisioning_job;
  if (!job) return issued();
  const trouble = job.error_code ? failing(job, answer, now) : provisioning(job);
  if (!served) return { readiness: trouble, conditions: [condition("False", trouble)] };
  if (trouble.state === "failing") return { readiness: lookAgain(trouble), conditions: [condition("False", trouble)] };
  return { readiness: lookAgain(trouble), conditions: [renewing(job)] };
}

/** Traffic is served, so the object stays usable; the next look is for the condition alone. */
const lookAgain = ({ afterSeconds }: Trouble): Readiness => ({ ...usable, afterSeconds });

function issued(): Result {
  return {
    readiness: { state: "usable", message: "The resource exists and its certificate is issued" },
    conditions: [
      { type: "CertificateReady", status: "True", reason: "Available", message: "The certificate is issued" },
    ],
  };
}

function provisioning(job: Job): Trouble {
  return {
    state: "pending",
    reason: "CertificateProvisioning",
    message: `Waiting for the certificate: ${job.msg || "the service is provisioning it"}`,
    afterSeconds: 5,
  };
}

function failing(job: Job, answer: Answer, now: number): Trouble {
  if (job.error_code !== "DNS_ERROR") {
    const retriesAt = Date.parse(job.retries_at ?? "");
    return {
      state: "pending",
      reason: "CertificateRetrying",
      message: `Waiting for the service to try again${job.retries_at ? ` at ${job.retries_at}` : ""}: ${job.msg || job.error_code}`,
      afterSeconds: Number.isFinite(retriesAt) ? Math.min(Math.max((retriesAt - now) / 1000, 5), 3600) : 60,
    };
  }
  const startedAt = Date.parse(job.started_at ?? String(answer["created_at"]));
  return {
    state: "failing",
    reason: "CertificateDNSError",
    message: `${recordToMake(answer)}: ${job.msg || job.error_code}`,
    afterSeconds: 60,
    stalledAt: (Number.isFinite(startedAt) ? startedAt : now) + DNS_GRACE_MS,
  };
}

/** The DNS record that is missing, ready to be copied. */
function recordToMake(answer: Answer): string {
  const { domain, cname_target, acme_challenge_cname_target, ns_targets } = answer as Record<string, unknown>;
  if (acme_challenge_cname_target) {
    const host = String(domain).replace(/^\*\./, "");
    return `Make the DNS records ${domain} CNAME ${cname_target} and _acme-challenge.${host} CNAME ${acme_challenge_cname_target}`;
  }
  if (cname_target) return `Make the DNS record ${domain} CNAME ${cname_target}`;
  if (Array.isArray(ns_targets) && ns_targets.length > 0)
    return `Make NS records for ${domain}: ${ns_targets.join(", ")}`;
  return `Correct the DNS records of ${domain}`;
}

const condition = (status: "False", { reason, message }: Trouble): KindCondition => ({
  type: "CertificateReady",
  status,
  reason,
  message,
});

function renewing(job: Job): KindCondition {
  return {
    type: "CertificateReady",
    status: "True",
    reason: "Available",
    message: `The certificate is issued and being renewed: ${job.msg || "in progress"}`,
  };
}
