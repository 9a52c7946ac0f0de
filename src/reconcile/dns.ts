import type { DNSRecord } from "../schema/dns.ts";

/** What the resolver says of one record. */
export type RecordCheck =
  | { state: "right" }
  | { state: "missing" }
  /** `there`: what is there instead, or what is there of several targets. */
  | { state: "elsewhere"; there: readonly string[]; hasTarget: boolean }
  | { state: "failed"; message: string }
  /** The name was asked for before `since`, and it is too soon to ask for it again. */
  | { state: "later"; afterSeconds: number };

/** The records of an object on their way out, before its remote may be released. */
export interface Withdrawal {
  /** When it began, by the monotonic clock. */
  began: number;
  /** The records were seen to be gone, or the time for that is over. */
  ended?: true;
}

/** What a reconcile needs of DNS. */
export interface DNS {
  /** Whether objects that do not say otherwise have a DNSEndpoint. */
  readonly externalDNS: boolean;
  /**
   * Asks the resolver, once a minute for each name at the most: in between, the last answer counts, if it was asked for
   * at or after `since` (monotonic clock). Never throws.
   */
  check(record: DNSRecord, since?: number): Promise<RecordCheck>;
  /** By the uid of the object. In memory only: a new process looks again, for as long as if it had just begun. */
  readonly withdrawals: Map<string, Withdrawal>;
  /** By the uid of the object, in memory only: those whose former DNSEndpoint has been looked for and removed. */
  readonly withoutEndpoint: Set<string>;
}
