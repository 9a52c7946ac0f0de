import type { DNSRecord } from "../schema/dns.ts";

/** What the resolver answers about one record. */
export type RecordCheck =
  | { state: "right" }
  | { state: "missing" }
  /** `there`: the targets that it has instead. `hasTarget`: whether one of several expected targets is among them. */
  | { state: "elsewhere"; there: readonly string[]; hasTarget: boolean }
  | { state: "failed"; message: string }
  /** The name was last queried before `since`, and it is too soon to query it again. */
  | { state: "later"; afterSeconds: number };

/** What a reconcile needs of DNS. */
export interface DNS {
  /** Whether objects have a DNSEndpoint unless their spec says otherwise. */
  readonly externalDNS: boolean;
  /** Whether objects of this namespace may have records written: their names are any that the service lets them reserve. */
  mayWrite(namespace: string): boolean;
  /**
   * Asks the resolver at most once a minute for each record. In between, returns the last answer if it was asked for at
   * `since` (monotonic milliseconds) or later. Never throws.
   */
  check(record: DNSRecord, since?: number): Promise<RecordCheck>;
}
