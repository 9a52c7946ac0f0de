/** Connections are destroyed, or every request is answered 503. */
export type OutageKind = "destroy" | "unavailable";

export class Outage {
  kind: OutageKind | undefined;
}
