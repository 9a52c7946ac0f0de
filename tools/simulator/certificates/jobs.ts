import type { Agenda } from "../agenda.ts";
import type { Row } from "../resource/collection.ts";
import type { Store } from "../resource/store.ts";
import type { Members } from "../shape/members.ts";
import { days, stamp } from "../shape/time.ts";

export type CertificateState = "issued" | "provisioning" | "dns_error" | "internal_error";

export interface ForcedCertificateState {
  readonly state: CertificateState;
  readonly msg?: string;
  /** RFC 3339. */
  readonly retriesAt?: string;
}

interface Job {
  readonly error_code: string | null;
  readonly msg: string;
  readonly started_at: string;
  readonly retries_at: string | null;
}

interface Status {
  readonly renews_at: string | null;
  readonly provisioning_job: Job | null;
}

export interface CertificateJobsOptions {
  readonly store: Store;
  readonly agenda: Agenda;
  readonly clock: () => number;
  /** How long it takes until a job starts. */
  readonly startMs: number;
  readonly provisionMs: number;
  /** Issues a certificate where rows of this collection show one. Returns its id. */
  readonly issue: (row: Row) => string | undefined;
  /** Whether the DNS record of a row is there, as a job finds it. Undefined: the name alone decides. */
  readonly hasRecord: ((row: Row) => Promise<boolean>) | undefined;
}

const troubles = {
  dns_error: { code: "DNS_ERROR", msg: "The CNAME record of the domain does not exist", retryMs: 3_600_000 },
  internal_error: { code: "INTERNAL_ERROR", msg: "The certificate authority is not available", retryMs: 60_000 },
};

/** The certificate job of a domain that ends like this always fails with DNS_ERROR. */
const unresolvable = ".dns-error.example";

/** Runs the certificate jobs of rows that have a `certificate_management_policy`. */
export class CertificateJobs {
  readonly #options: CertificateJobsOptions;

  constructor(options: CertificateJobsOptions) {
    this.#options = options;
  }

  /** Starts a job after `startMs`, which finishes after `provisionMs`. Before that, the row shows no job and no renewal. */
  start(row: Row): void {
    const { agenda, clock, startMs } = this.#options;
    if (startMs === 0) {
      this.#begin(row);
      return;
    }
    const waiting = { ...statusOf(row), provisioning_job: null };
    this.#put(row.id, waiting);
    agenda.at(clock() + startMs, () => {
      const later = this.#options.store.find(row.id);
      if (later?.members.certificate_management_status === waiting) this.#begin(later);
    });
  }

  #begin(row: Row): void {
    const { agenda, clock, provisionMs } = this.#options;
    const job = this.#job({ error_code: null, msg: "The certificate is being provisioned", retries_at: null });
    this.#put(row.id, { ...statusOf(row), provisioning_job: job });
    agenda.at(clock() + provisionMs, () => this.#finish(row.id, job));
  }

  /** Sets a state, which stays until the next call. A job that is set to `provisioning` never finishes. */
  force(row: Row, { state, msg, retriesAt }: ForcedCertificateState): void {
    if (!row.members.certificate_management_policy) throw new Error(`${row.id} has no certificate policy`);
    if (state === "issued") {
      this.#issue(row.id);
      return;
    }
    const trouble = state === "provisioning" ? undefined : troubles[state];
    const job = this.#job({
      error_code: trouble?.code ?? null,
      msg: msg ?? trouble?.msg ?? "The certificate is being provisioned",
      retries_at: retriesAt ?? (trouble ? stamp(this.#options.clock() + trouble.retryMs) : null),
    });
    this.#put(row.id, { ...statusOf(row), provisioning_job: job });
  }

  /** Removes the certificate that was issued under a policy that the row no longer has. */
  stop(row: Row): void {
    const { store } = this.#options;
    const issued = row.members.issued_id;
    const { certificate_id: shown, ...members } = row.members;
    const kept = shown === issued ? null : shown;
    store.replace(row.id, {
      ...members,
      certificate_management_status: null,
      issued_id: null,
      ...(shown !== undefined && { certificate_id: kept }),
    });
    if (typeof issued === "string" && store.find(issued)) store.remove(issued);
  }

  /** Removes the certificate of a row that was deleted. */
  discard({ members }: Row): void {
    if (this.#options.store.find(members.issued_id)) this.#options.store.remove(members.issued_id as string);
  }

  #finish(id: string, job: Job): void {
    const row = this.#rowOf(id, job);
    if (!row) return;
    const { hasRecord } = this.#options;
    if (hasRecord) void hasRecord(row).then((isThere) => this.#conclude(id, job, isThere));
    else this.#conclude(id, job, !String(row.members.domain).endsWith(unresolvable));
  }

  /** The row, if this is still its job. */
  #rowOf(id: string, job: Job): Row | undefined {
    const row = this.#options.store.find(id);
    return row && statusOf(row).provisioning_job === job ? row : undefined;
  }

  /** A job that looks for the record tries again. */
  #conclude(id: string, job: Job, isThere: boolean): void {
    const row = this.#rowOf(id, job);
    if (!row) return;
    this.force(row, { state: isThere ? "issued" : "dns_error" });
    const { store, agenda, clock, provisionMs, hasRecord } = this.#options;
    const failed = store.find(id);
    const next = failed && statusOf(failed).provisioning_job;
    if (hasRecord && next) agenda.at(clock() + provisionMs, () => this.#finish(id, next));
  }

  #issue(id: string): void {
    const { store, agenda, clock, issue } = this.#options;
    const row = store.find(id);
    if (!row) return;
    const issued = issue(row);
    const renewal = clock() + days(60);
    const status: Status = { renews_at: stamp(renewal), provisioning_job: null };
    this.#put(id, status, issued ? { certificate_id: issued, issued_id: issued } : {});
    this.discard(row);
    agenda.at(renewal, () => this.#renew(id, status));
  }

  #renew(id: string, status: Status): void {
    const row = this.#options.store.find(id);
    if (row && row.members.certificate_management_status === status) this.start(row);
  }

  #job(given: Omit<Job, "started_at">): Job {
    return { ...given, started_at: stamp(this.#options.clock()) };
  }

  #put(id: string, status: Status, more: Members = {}): void {
    const row = this.#options.store.find(id);
    if (row) this.#options.store.replace(id, { ...row.members, ...more, certificate_management_status: status });
  }
}

const statusOf = ({ members }: Row): Status =>
  (members.certificate_management_status as Status | null | undefined) ?? { renews_at: null, provisioning_job: null };
