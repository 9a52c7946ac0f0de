import * as z from "zod";
import type { Module, ModuleOwner, Resource } from "../gateway/resource.ts";
import type { DNSRecordsOf } from "./dns.ts";
import type { Rule } from "./traits.ts";

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  jsonPath: string;
  type?: "string" | "integer" | "boolean" | "date";
  /** Shown with `-o wide` only. */
  wide?: true;
  description?: string;
}

/** An answer of the service, by the service's own names. */
export type Answer = Readonly<Record<string, unknown>>;

/** Whether a resource that exists can be used; `Ready` of the object follows it. `afterSeconds`: when to look again. */
export type Readiness =
  | { state: "usable"; reason?: "CertificateRenewalFailing"; message: string; afterSeconds?: number }
  /** Will become usable by itself; look again after so many seconds. */
  | {
      state: "pending";
      reason: "CertificateProvisioning" | "CertificateRetrying";
      message: string;
      afterSeconds: number;
    }
  /** Needs a person. Until `stalledAt` (epoch milliseconds) it counts as work under way. */
  | {
      state: "failing";
      reason: "CertificateDNSError" | "CertificateExpired";
      message: string;
      afterSeconds: number;
      stalledAt: number;
    };

/** Whether a remote can be used, and the conditions of its kind beside that. */
export interface KindReadiness {
  readiness: Readiness;
  conditions?: KindCondition[];
}

/** A condition that a kind has beside the common ones. */
export interface KindCondition {
  type: "CertificateReady" | "DNSReady";
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
}

/** What the file of a kind says for its CRD. */
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
   * The power over the account that creating such an object gives a person, in words. The aggregated role `edit` leaves
   * such kinds out. Undefined: none.
   */
  readonly privilege: string | undefined;
}

/** A complete kind: whole spec, whole status, all columns. CRDs are generated from these. */
export interface CustomResource extends Definition {
  /** What the status says until the operator has looked at the object. */
  readonly initialStatus: Readonly<Record<string, unknown>> | undefined;
  /** Status or spec fields that lists can be filtered by, as JSON paths. */
  readonly selectableFields: readonly string[];
  /** Types of its conditions; empty where it has none. */
  readonly conditions: readonly string[];
  /** What the operator does with its objects, beside writing their status. */
  readonly access: readonly Access[];
  /** What it does with the Secrets that they name, beside reading them. */
  readonly secretAccess: readonly Access[];
  /** Where the operator manages objects of the kind: in the namespaces that it watches, or also in its own if it does not. */
  readonly namespaces: "watched" | "watched and own";
}

/** Whether the operator creates the objects of the kind, and people do not. */
export const isMadeByOperator = ({ access }: Pick<CustomResource, "access">): boolean => access.includes("create");

export type Access = "get" | "list" | "watch" | "create" | "patch" | "delete";

/** The operator watches objects, and patches their finalizer and its own annotations. */
export const defaultAccess: readonly Access[] = ["list", "watch", "patch"];

/** What the operator writes to a Secret in the namespace of the object, which it creates and owns. */
export interface Output {
  /** The spec field that names the Secret. */
  field: string;
  key: string;
  /** The member of the answer that holds the value. */
  member: string;
  /** Only the answer to a create has the value. If it is lost, the resource is replaced. */
  shownOnce?: true;
}

/** Each remote is a resource of its own: the service gives it an id, and lists it with others of its sort. */
export interface CollectionLocation {
  readonly type: "collection";
}

/**
 * Each remote is an entry of a list on another resource, its parent. Several objects may want the same entry, and so
 * may the parent itself.
 */
export interface EntryLocation {
  readonly type: "entry";
  /** Spec fields whose values, joined by a slash, are the id of the remote: the parent, and the key of the entry. */
  readonly idFields: readonly [parent: string, key: string];
  readonly parent: {
    /** The kind whose objects stand for such resources. */
    readonly kind: string;
    readonly resource: Resource;
    /** The member of an answer, and the field of a spec, that hold the list. */
    readonly list: string;
  };
  /** Members of a create: the id of the parent, and the key of the entry. */
  readonly parentMember: string;
  readonly keyMember: string;
  /** Calls of the client, which take the parent's id and the key. */
  readonly createCall: "createSource";
  readonly deleteCall: "deleteSource";
}

/**
 * Each remote is created and deleted by others. An object only sets modules of it, and each of these is set, read and
 * deleted by itself.
 */
export interface ModulesLocation {
  readonly type: "modules";
  /** Spec fields whose values, joined by a slash, are the id of the remote. */
  readonly idFields: readonly string[];
  /** The path parameters of the modules that stand for these fields, in the same order. */
  readonly pathParameters: readonly (keyof ModuleOwner)[];
}

/** Where the remotes of a kind are at the service. How they are found, created and deleted follows from its type. */
export type Location = CollectionLocation | EntryLocation | ModulesLocation;

/**
 * Everything the operator knows about one kind that it converges: data, and a few small pure functions. `spec` and
 * `status` are the kind's own fields, the latter read-only members of the answer; those that every managed kind has
 * are added by `customResourceOf`.
 */
export interface Kind extends Definition {
  readonly resource: Resource;
  readonly location: Location;
  /** Parts with operations of their own, by the member of the request; for fields marked `onRemove: "delete"`. */
  readonly modules: Readonly<Record<string, Module>>;
  /** Modules may refer to it that are on remotes without a list. */
  readonly isUsedUnlisted: boolean;
  /** The spec field whose value no two resources of an account share. The service's member has the same value. */
  readonly naturalKey: string | undefined;
  /**
   * CreateFirst: for a change that the service cannot make in place, a second resource is created. Objects that refer to
   * the first one move to the second, then the first is deleted. Only for resources of which two may exist.
   */
  readonly replacement: "CreateFirst" | undefined;
  /** When a resource has to be replaced because it runs out; epoch milliseconds. Undefined: never. */
  readonly renewsAt: (answer: Answer, spec: Readonly<Record<string, unknown>>) => number | undefined;
  /** Status fields that say from when until when it is valid, in RFC 3339. Undefined: it does not run out. */
  readonly validity:
    | {
        readonly from: string;
        readonly until: string;
        /** What a person does when the validity has ended. A message begins with it. */
        readonly remedy: (spec: Readonly<Record<string, unknown>>) => string;
      }
    | undefined;
  /** The status field with the address at which edges listen: host:port, or a host with all its ports. Undefined: none. */
  readonly address: string | undefined;
  /** The member of an answer that refers to the certificate with which the remote is served, and the kind of that. */
  readonly servedWith: { readonly member: string; readonly kind: string } | undefined;
  /** A member of the answer that is kept in a Secret. */
  readonly output: Output | undefined;
  /** The DNS records that have to exist for a remote. Undefined: the kind has to do with no DNS. */
  readonly dnsRecords: DNSRecordsOf | undefined;
  /** Types of the conditions that objects of the kind may have, beside those of every kind. Default: those of its validity. */
  readonly ownConditions: readonly KindCondition["type"][];
  /** Whether what exists can be used, and what the kind has to say besides. `now` in epoch milliseconds. */
  readonly readiness: (answer: Answer, now: number) => KindReadiness;
}

/** The resource whose list shows the remotes of a kind. Undefined: each has to be read by itself. */
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

export const usable: Readiness = { state: "usable", message: "The resource exists in the account as specified" };

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
  servedWith: undefined,
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

/** A kind that `src/reconcile` does not manage, but another part of the operator. */
export const defineCustomResource = (
  given: Omit<CustomResource, "plural" | keyof typeof customResourceDefaults> & Partial<CustomResource>,
): CustomResource => ({ plural: pluralOf(given.kind), ...customResourceDefaults, ...given });
