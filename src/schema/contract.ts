// Names that manifests, dashboards and other tools depend on. They never change within v1.

export const GROUP = "tunnelgateway.dev";
export const VERSION = "v1";
export const API_VERSION = `${GROUP}/${VERSION}`;
export const CATEGORY = "tunnelgateway";

/** How the operator names itself: its Lease, the owner of its fields, labels of what it makes, its user agent. */
export const OPERATOR_NAME = "tunnel-gateway-operator";

export const DEFAULT_INSTALLATION = "default";

/** The Lease of an installation, in its own namespace. */
export const leaseNameOf = (installation: string): string =>
  installation === DEFAULT_INSTALLATION ? OPERATOR_NAME : `${OPERATOR_NAME}-${installation}`;

/** The copy of that Lease in another namespace. An installation has no dot in its name, so no Lease has this name. */
export const leaseCopyNameOf = (installation: string, home: string): string => `${leaseNameOf(installation)}.${home}`;

export const FINALIZER = `${GROUP}/remote`;

/** On the RoleBinding by which the operator ends the objects of a namespace: see operator/kubernetes/namespace-rights.ts. */
export const RIGHTS_FINALIZER = `${GROUP}/rights`;

export const annotations = {
  /** "true": the operator sends nothing for the object. Its deletion waits. */
  paused: `${GROUP}/paused`,
  /** Any new value makes the operator read the remote again. It is copied to `status.lastHandledReconcileAt`. */
  reconcileRequestedAt: `${GROUP}/reconcile-requested-at`,
  /** "true": when the object is deleted, its remote stays in the account. */
  orphan: `${GROUP}/orphan`,
  /**
   * `<namespace>/<name>` of another object that is to take over the remote. The operator writes no more for this
   * object. `<cluster>/<namespace>/<name>`: the object is in another cluster, under any name that people give it.
   */
  releaseTo: `${GROUP}/release-to`,
  /**
   * The command `uninstall` sets it on objects that it has deleted: the operator says `LeftBehind` when nothing under way
   * will let it delete the remote.
   */
  uninstalling: `${GROUP}/uninstalling`,
  /** The operator sets it before it sends a create: see objects/intent.ts. */
  createIntent: `${GROUP}/create-intent`,
  /** On the Lease of an installation and its copies: facts about the installation. See operator/installations/record.ts. */
  installation: `${GROUP}/installation`,
  /** On the Lease of an installation: the state of its accounts. See operator/kubernetes/account-figures.ts. */
  accounts: `${GROUP}/accounts`,
} as const;

/** Annotations of a DNSEndpoint that the operator writes. */
export const endpointAnnotations = {
  /** Kind and name of the object that the DNSEndpoint was written for. */
  object: `${GROUP}/object`,
  /** SHA-256 of the written records, in hex. */
  digest: `${GROUP}/sha-256`,
} as const;

/** Annotations of a Secret that the operator writes. */
export const secretAnnotations = {
  /**
   * On the operator's own Secret: the format of the stored state, a whole number. Not set: 1. See
   * operator/kubernetes/state-format.ts.
   */
  format: `${GROUP}/format`,
  /** On the same Secret, by installation: see operator/accounts/key-records.ts. */
  keyDigests: `${GROUP}/key-digests`,
  /** The id of the remote whose value the Secret has. */
  remoteID: `${GROUP}/remote-id`,
  /** The uid of the object that the Secret was written for. It stays when the owner reference is removed. */
  objectUID: `${GROUP}/object-uid`,
  /** SHA-256 of the value that was written, in hex. */
  digest: `${GROUP}/sha-256`,
} as const;

/** The kind of the objects that have the credentials of an account. */
export const ACCOUNT_KIND = "GatewayAccount";

/** Name of the GatewayAccount that serves objects without `accountRef`. */
export const DEFAULT_ACCOUNT = "default";

/** The Secret in the operator's own namespace with the key for digests of API keys, their records, and the state format. */
export const STATE_SECRET = `${OPERATOR_NAME}-state`;

/** Key inside a remote's `metadata` that names the object it belongs to. */
export const OWNER_KEY = `${GROUP}/owner`;

/** What the id of a cluster in owner marks may be. */
export const CLUSTER_ID = "[-._a-zA-Z0-9]{1,128}";

/** Every reason that a condition can have; each is a heading of docs/troubleshooting.md. */
export const reasons = [
  "Available",
  "Pending",
  "Creating",
  "Updating",
  "Deleting",
  "ReferenceNotReady",
  "ReferenceCycle",
  "SecretNotReady",
  "AccountNotReady",
  "CertificateProvisioning",
  "CertificateRetrying",
  "CertificateDNSError",
  "CertificateNotYetValid",
  "CertificateRenewalFailing",
  "CertificateExpired",
  "DNSRecordMissing",
  "DNSRecordDiffers",
  "DNSRecordRemains",
  "DNSLookupFailed",
  "DNSEndpointNotWritten",
  "InvalidSpec",
  "InvalidAnnotation",
  "WriteRefused",
  "QuotaExceeded",
  "ImmutableField",
  "ReplacementRequired",
  "UpdateUnsupported",
  "DeleteUnsupported",
  "AlreadyExists",
  "AdoptionNotAllowed",
  "OwnershipConflict",
  "InUse",
  "LeftBehind",
  "Unauthorized",
  "Forbidden",
  "RateLimited",
  "ServiceUnavailable",
  "UnexpectedResponse",
  "RemoteMissing",
  "RemoteDiffers",
  "RemoteNormalises",
  "AccountMismatch",
  "Paused",
  "Released",
  // only AgentCommands have these
  "Running",
  "Completed",
  "CommandFailed",
] as const;

/** The label of a Lease with the version of the operator that leads. */
export const VERSION_LABEL = "app.kubernetes.io/version";

export type Reason = (typeof reasons)[number];
