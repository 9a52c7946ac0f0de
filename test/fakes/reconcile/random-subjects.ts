import { IPPolicy } from "../../../src/kinds/ip-policy.ts";
import { ReservedDomain } from "../../../src/kinds/reserved-domain.ts";
import { TCPEdge } from "../../../src/kinds/tcp-edge.ts";
import { TLSCertificate } from "../../../src/kinds/tls-certificate.ts";
import { TunnelGroupBackend } from "../../../src/kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../../src/objects/object.ts";
import { objectOf, ownerMarkOf, parseMark } from "../../../src/objects/ownership.ts";
import type { Kind } from "../../../src/schema/define.ts";
import type { FakeRemote } from "./fake-gateway.ts";

/** Metadata that has no room for an owner mark. */
export const opaque = "ours, and not to be marked";

/**
 * An object of the random test. Each stands for one way in which a remote is found again. `variant`: which spec it has.
 */
export interface Subject {
  kind: Kind;
  name: string;
  spec: (variant: number) => ManagedObject["spec"];
  /** Whether a remote belongs to this object, decided without the operator's code for finding it. */
  isOurs: (remote: FakeRemote) => boolean;
  /** How its remote is found again. With "status", a person has to adopt it once the status was lost. */
  foundBy: "mark" | "status";
}

/**
 * Whether an owner mark names this object, under any id that the cluster has had: c1, c1-2, c1-3. The second cluster is
 * c2.
 */
export const isOurMark = (mark: string | undefined, object: string): boolean =>
  /^c1(-\d+)?$/.test(parseMark(mark)?.cluster ?? "") && objectOf(mark) === object;

const byMark =
  (name: string) =>
  (remote: FakeRemote): boolean =>
    isOurMark(ownerMarkOf(remote), `team-a/${name}`);

const words = (variant: number) => ({ description: `words ${variant}` });

export const subjects: readonly Subject[] = [
  { kind: IPPolicy, name: "policy", spec: words, isOurs: byMark("policy"), foundBy: "mark" },
  {
    kind: IPPolicy,
    name: "unmarked",
    spec: (variant) => ({ ...words(variant), metadata: opaque }),
    isOurs: (remote) => remote["metadata"] === opaque || byMark("unmarked")(remote),
    foundBy: "status",
  },
  {
    kind: ReservedDomain,
    name: "domain",
    spec: (variant) => ({ ...words(variant), metadata: opaque, domain: "ours.example.com" }),
    isOurs: ({ domain }) => domain === "ours.example.com",
    foundBy: "status",
  },
  {
    kind: TunnelGroupBackend,
    name: "group",
    spec: (variant) => ({ ...words(variant), labels: { variant: String(variant) } }),
    isOurs: byMark("group"),
    foundBy: "mark",
  },
  {
    kind: TCPEdge,
    name: "edge",
    spec: (variant) => ({ ...words(variant), ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "policy" }] } }),
    isOurs: byMark("edge"),
    foundBy: "mark",
  },
  {
    kind: TLSCertificate,
    name: "certificate",
    spec: () => ({ secretName: "tls" }),
    isOurs: byMark("certificate"),
    foundBy: "mark",
  },
];

/** The kinds of the subjects. */
export const resources = [...new Set(subjects.map(({ kind }) => kind))];
