import * as z from "zod";
import type { Module, Resource } from "../gateway/resource.ts";
import type { DNSRecordsOf } from "./dns.ts";
import type { Rule } from "./traits.ts";

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  jsonPath: string;
  type?: "string" | "integer" | "boolean" | "date";
  /** Characters of the longest value. Default: those of the name, for values that are always short. */
  width?: number;
  /** Shown with `-o wide` only. */
  wide?: true;
  description?: string;
}

/** An answer of the service, by the service's own names. */
export type Answer = Readonly<Record<string, unknown>>;

/**
 * Whether an existing remote can be used. The condition `Ready` of the object follows from it. `afterSeconds`: when to
 * look again.
 */
export type Readiness =
  | { state: "usable"; reason?: "CertificateRenewalFailing"; message: string; afterSeconds?: number }
  /** Becomes usable without help. */
  | {
      state: "pending";
      reason: "CertificateProvisioning" | "CertificateRetrying" | "CertificateNotYetValid";
      message: string;
      afterSeconds: number;
    }
  /** Needs a person. Until `stalledAt` (epoch milliseconds) the object counts as in progress, after it as Stalled. */
  | {
      state: "failing";
      reason: "CertificateDNSError" | "CertificateExpired";
      message: string;
      afterSeconds: number;
      stalledAt: number;
    };

/** Whether a remote can be used, and further conditions of its kind. */
export interface KindReadiness {
  readiness: Readiness;
  conditions?: KindCondition[];
}

/** A condition that only some kinds have. */
export interface KindCondition {
  type: "CertificateReady" | "DNSReady";
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
}

/** The properties of a kind that end up in its CRD. */
export interface Definition {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** Group of kinds in `kubectl get`, beside `tunnelgateway`. */
  readonly categories: readonly string[];
  /** One or two sentences at the top of the CRD and of the reference page. */
  readonly summary: string;
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  /** Rules across spec fields. */
  readonly rules: readonly Rule[];
  readonly columns: readonly Column[];
  /**
   * What a person who may create such an object can do to the account, in words. The aggregated role `edit` leaves out
   * kinds that have this. Undefined: nothing that `edit` should not allow.
   */
  readonly privilege: string | undefined;
}

/** A complete kind: whole spec, whole status, all columns. CRDs are generated from these. */
export interface CustomResource extends Definition {
  /** The status until the operator has looked at the object. */
  readonly initialStatus: Readonly<Record<string, unknown>> | undefined;
  /** Status or spec fields that lists can be filtered by, as JSON paths. */
  readonly selectableFields: readonly string[];
  /** Types of the conditions of the kind. Empty: it has no conditions. */
  readonly conditions: readonly string[];
  /** The verbs that the operator uses on objects of the kind. It may write their status in any case. */
  readonly access: readonly Access[];
  /** The verbs that the operator uses on the Secrets that these objects name. It may read them in any case. */
  readonly secretAccess: readonly Access[];
  /** Where the operator manages objects of the kind: only in watched namespaces, or also in its own namespace. */
  readonly namespaces: "watched" | "watched and own";
}

/** True if the operator, not a person, creates the objects of the kind. */
export const isMadeByOperator = ({ access }: Pick<CustomResource, "access">): boolean => access.includes("create");

export type Access = "get" | "list" | "watch" | "create" | "patch" | "delete";

/** The operator lists and watches objects, and patches their finalizer and its own annotations. */
export const defaultAccess: readonly Access[] = ["list", "watch", "patch"];

/**
 * A value from an answer that the operator writes to a Secret. It creates and owns the Secret, in the object's
 * namespace.
 */
export interface Output {
  /** The spec field that names the Secret. */
  field: string;
  key: string;
  /** The member of the answer that holds the value. */
  member: string;
  /** Only the answer to the create has the value. If the value is lost, the remote is replaced. */
  shownOnce?: true;
}

/** Each remote is a resource of its own: the service gives it an id and lists it with others of its type. */
export interface CollectionLocation {
  readonly type: "collection";
}

/**
 * Each remote is an entry of a list in another resource, its parent. Several objects, and the parent's own spec, may
 * want the same entry.
 */
export interface EntryLocation {
  readonly type: "entry";
  /** Spec fields whose values, joined by a slash, are the id of the remote: the parent, and the key of the entry. */
  readonly idFields: readonly [parent: string, key: string];
  readonly parent: {
    /** The kind that manages such parents. */
    readonly kind: string;
    readonly resource: Resource;
    /** The member of an answer, and the field of a spec, that hold the list. */
    readonly list: string;
  };
  /** Members of a create: the id of the parent, and the key of the entry. */
  readonly parentMember: string;
  readonly keyMember: string;
}

/**
 * Others create and delete the remote. An object only sets modules of it. Each module is set, read and deleted by its
 * own request.
 */
export interface ModulesLocation {
  readonly type: "modules";
  /**
   * Spec fields whose values, joined by a slash, are the id of the remote. The paths of the modules have a parameter for
   * each, in the same order.
   */
  readonly idFields: readonly string[];
}

/**
 * Where the remotes of a kind are in the account. The way they are found, created and deleted follows from its type.
 */
export type Location = CollectionLocation | EntryLocation | ModulesLocation;

/**
 * Everything the operator knows about one kind that it manages: data and a few small pure functions. `spec` and
 * `status` have only the kind's own fields; the status fields are read-only members of the answer. `customResourceOf`
 * adds the fields that all managed kinds have.
 */
export interface Kind extends Definition {
  readonly resource: Resource;
  readonly location: Location;
  /** Parts that have requests of their own, by their member in the request. For modules with `onRemove: "delete"`. */
  readonly modules: Readonly<Record<string, Module>>;
  /** True if modules can refer to this kind and some of these modules are on remotes that have no list. */
  readonly isUsedUnlisted: boolean;
  /** The spec field whose value is unique in an account. The service's member has the same value. */
  readonly naturalKey: string | undefined;
  /**
   * CreateFirst: if the service cannot change the remote in place, the operator creates a second one, moves the objects
   * that refer to the first, then deletes the first. Only for resources of which two may exist.
   */
  readonly replacement: "CreateFirst" | undefined;
  /** When a new remote has to replace this one because it runs out, in epoch milliseconds. Undefined: never. */
  readonly renewsAt: (answer: Answer, spec: Readonly<Record<string, unknown>>) => number | undefined;
  /**
   * The status fields with the begin and the end of the validity, in RFC 3339. Undefined: the remote does not run out.
   */
  readonly validity:
    | {
        readonly from: string;
        readonly until: string;
        /** What a person has to do after the validity has ended. The message begins with this text. */
        readonly remedy: (spec: Readonly<Record<string, unknown>>) => string;
      }
    | undefined;
  /**
   * The status field with the address on which edges listen: host:port, or a host for all its ports. Undefined: no
   * address.
   */
  readonly address: string | undefined;
  /** The status field with the addresses, each host:port, on which a remote listens. Undefined: it listens nowhere. */
  readonly listensOn: string | undefined;
  /**
   * The member of an answer that refers to the certificate with which the remote is served, and that certificate's
   * kind.
   */
  readonly servedWith: { readonly member: string; readonly kind: string } | undefined;
  /** Whether the service has made the remote itself, and renews and removes it: nobody has to manage it. */
  readonly isMadeByService: (answer: Answer) => boolean;
  /** A value from the answer that the operator writes to a Secret. */
  readonly output: Output | undefined;
  /** The DNS records that a remote needs. Undefined: the kind needs none. */
  readonly dnsRecords: DNSRecordsOf | undefined;
  /** Types of further conditions that objects of the kind may have. Default: those of its validity. */
  readonly ownConditions: readonly KindCondition["type"][];
  /** Whether an existing remote can be used, and further conditions. `now` in epoch milliseconds. */
  readonly readiness: (answer: Answer, now: number) => KindReadiness;
}

/** The resource whose list has the remotes of a kind. Undefined: there is no list, each remote is read by its id. */
export function listOf({ location, resource }: Kind): Resource | undefined {
  switch (location.type) {
    case "collection":
      return resource;
    case "entry":
      return location.parent.resource;
    case "modules":
      return undefined;
  }
}

export const usable: Readiness = { state: "usable", message: "Exists in the account as specified" };

const kindDefaults = {
  shortNames: [],
  categories: [],
  status: z.object({}),
  location: { type: "collection" },
  modules: {},
  isUsedUnlisted: false,
  rules: [],
  columns: [],
  privilege: undefined,
  naturalKey: undefined,
  replacement: undefined,
  renewsAt: () => undefined,
  validity: undefined,
  address: undefined,
  listensOn: undefined,
  servedWith: undefined,
  isMadeByService: () => false,
  output: undefined,
  dnsRecords: undefined,
  ownConditions: [],
  readiness: () => ({ readiness: usable }),
} satisfies Partial<Kind>;

const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`;

export const defineKind = (given: Omit<Kind, "plural" | keyof typeof kindDefaults> & Partial<Kind>): Kind => ({
  plural: pluralOf(given.kind),
  ...kindDefaults,
  ...(given.validity && { ownConditions: ["CertificateReady"] }),
  ...given,
});

const customResourceDefaults = {
  shortNames: [],
  categories: [],
  rules: [],
  privilege: undefined,
  selectableFields: [],
  initialStatus: undefined,
  conditions: [],
  access: defaultAccess,
  secretAccess: [],
  namespaces: "watched",
} satisfies Partial<CustomResource>;

/** Defines a kind that another part of the operator manages, not `src/reconcile`. */
export const defineCustomResource = (
  given: Omit<CustomResource, "plural" | keyof typeof customResourceDefaults> & Partial<CustomResource>,
): CustomResource => ({ plural: pluralOf(given.kind), ...customResourceDefaults, ...given });
