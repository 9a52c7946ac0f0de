/** `destroy` destroys every connection; `unavailable` answers every request with 503. */
export type OutageKind = "destroy" | "unavailable";

export class Outage {
  kind: OutageKind | undefined;
}
