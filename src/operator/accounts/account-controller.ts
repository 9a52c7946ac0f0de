import type { Account } from "../../account/account.ts";
import { type WaitOptions, waitFor } from "../../account/requests/turn.ts";
import { isForbidden, isUnauthorized } from "../../gateway/errors.ts";
import { problemOfKey } from "../../gateway/http/key.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import {
  annotationConditions,
  type ConditionDraft,
  isSameStatus,
  readyColumns,
  toCondition,
} from "../../objects/conditions.ts";
import { accountUsed, accountUsersUnread, apiKeyInvalid, massLoss } from "../../objects/errors/account.ts";
import { pausedUntil } from "../../objects/errors/service.ts";
import { reconcileErrorOf, retryAfterSeconds } from "../../objects/map-error.ts";
import { conditionOf, reconcileRequestedAt, type Status } from "../../objects/object.ts";
import {
  Blocked,
  Outdated,
  Postponed,
  type ReconcileError,
  Retry,
  type Waiting,
} from "../../objects/reconcile-error.ts";
import type { SecretValue } from "../../reconcile/cluster.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Request, Result } from "../../runtime/controller/controller.ts";
import { keyOf } from "../../runtime/object.ts";
import { timestamp } from "../../schema/time.ts";
import { type AllowedHosts, allowedBaseURL, readAccountKey } from "../kubernetes/account-key.ts";
import type { AccountChecks } from "./account-checks.ts";
import type { AccountObject, AccountObjects } from "./account-objects.ts";

interface AccountControllerOptions {
  checks: AccountChecks;
  store: Store<AccountObject>;
  objects: AccountObjects;
  readSecret: (namespace: string, name: string) => Promise<SecretValue | undefined>;
  clock: Clock;
  resyncSeconds: number;
  /** Whether a watch of Secrets enqueues the account. If not, a missing Secret is read again after seconds. */
  secretsWatched: boolean;
  allowed: AllowedHosts;
  /** How many objects still need the account to delete their remotes. `key`: `namespace/name` of the GatewayAccount. */
  countDependents: (key: string) => number;
  /** Kinds whose objects the operator may be unable to read in a namespace, so that `countDependents` misses them. */
  unreadableKinds: (namespace: string) => readonly string[];
  /** The certificate without an object that ends first, among those that an account serves. */
  loneCertificate: (account: Account) => LoneCertificate;
}

/** `until` in epoch milliseconds. `unknown`: not all lists of certificates were read. */
export type LoneCertificate = { kind: string; id: string; until: number } | "none" | "unknown";

const MISSING_SECRET_SECONDS = 5;

/**
 * Reconciles one GatewayAccount. Reports whether its API key works. While objects need the key to delete their remotes,
 * a finalizer keeps the GatewayAccount and its Secret.
 */
export async function reconcileAccount(options: AccountControllerOptions, request: Request): Promise<Result> {
  const { store, checks } = options;
  const object = store.get(request.key);
  if (!object) {
    checks.remove(request.key);
    return {};
  }
  try {
    if (object.metadata.deletionTimestamp) return await reconcileDelete(options, object, request.key);
    const account = await checkKey(options, object, request);
    const { listFailures, turns } = account;
    const { pauseEnd } = turns.budget;
    const certificate = options.loneCertificate(account);
    await report(options, object, { certificate, unlisted: listFailures.problem, pauseEnd });
    const pauseSeconds = pauseEnd && (pauseEnd.getTime() - options.clock.date().getTime()) / 1000 + 1;
    return { requeueAfterSeconds: Math.min(options.resyncSeconds, pauseSeconds ?? Number.POSITIVE_INFINITY) };
  } catch (cause) {
    if (cause instanceof Postponed) {
      await reportPause(options, object);
      return { when: cause.until };
    }
    if (cause instanceof Outdated) return { stale: true };
    const error = reconcileErrorOf(cause);
    if (!error) throw cause;
    await report(options, object, { error });
    return resultOf(options, error);
  }
}

/** The check of the key waits for the end of a pause. What the last one has shown still counts. */
async function reportPause(options: AccountControllerOptions, object: AccountObject): Promise<void> {
  const pauseEnd = options.checks.pauseEndOf(object);
  if (!pauseEnd) return;
  const isReady = conditionOf(object.status, "Ready")?.status === "True";
  await report(options, object, isReady ? { pauseEnd } : { error: pausedUntil({ end: pauseEnd.getTime() }) });
}

function resultOf({ secretsWatched, resyncSeconds }: AccountControllerOptions, error: ReconcileError): Result {
  if (error.reason === "SecretNotReady")
    return { requeueAfterSeconds: secretsWatched ? resyncSeconds : MISSING_SECRET_SECONDS };
  if (error.reason === "Unauthorized" || error instanceof Retry) return { requeueAfterSeconds: 60 };
  const seconds = retryAfterSeconds(error);
  return seconds === undefined ? { backoff: true } : { requeueAfterSeconds: seconds };
}

async function checkKey(
  options: AccountControllerOptions,
  object: AccountObject,
  { signal }: Request,
): Promise<Account> {
  const { checks, objects, resyncSeconds, clock } = options;
  const wait: WaitOptions = { signal, turn: { clock } };
  checks.assertAllowed(object);
  await objects.addFinalizer(object);
  await assertUsableKey(options, object);
  await protectSecret(options, object);
  const { account, isAsked } = await checks.check(object, wait);
  const { keyProof, breaker, lossGuard } = account;
  // The lists of a shared account show that the key works, and one probe is enough for all its GatewayAccounts.
  if (isAsked || !(checks.isShared(account) || breaker.isPauseAsked)) breaker.probeSoon();
  const isKnown = breaker.wasAcceptedWithin(resyncSeconds * 1000);
  if (isAsked || !isKnown) {
    await checks
      .probe(keyOf(object), account, () => probe(account), wait)
      .catch((error: unknown) => {
        if (reconcileErrorOf(error) instanceof Blocked) checks.answered(object);
        throw error;
      });
  }
  checks.answered(object);
  const requested = reconcileRequestedAt(object);
  // One GatewayAccount must not confirm a loss for the others, so the reconcile of a shared account confirms nothing.
  if (!checks.isShared(account) && keyProof.confirm(requested)) lossGuard.confirmAll(keyOf(object));
  await waitFor(keyProof.ensure(), wait);
  lossGuard.confirm(keyOf(object), requested);
  refuseLoss(account);
  return account;
}

/** Several reconciles may share this probe, so the signal of one reconcile must not end it. */
async function probe(account: Account): Promise<void> {
  try {
    await account.collection(ipPolicies).list.probe({ lane: "sync", signal: account.signal });
  } catch (error) {
    // The service accepts a key that has no permission to list these.
    if (!isForbidden(error) && !isUnauthorized(error)) throw error;
    // Throws if another route refuses the key as well.
    await account.breaker.ready();
  }
}

function refuseLoss({ lossGuard: { problem } }: Account): void {
  if (!problem) return;
  const { missing, total } = problem;
  throw massLoss({ missing, total, object: "this GatewayAccount" });
}

async function assertUsableKey(
  { allowed, readSecret }: AccountControllerOptions,
  object: AccountObject,
): Promise<void> {
  const { apiKey } = await readAccountKey(object, allowed, readSecret);
  const problem = problemOfKey(apiKey);
  if (problem === undefined) return;
  const { name, key } = object.spec.apiKeySecretRef;
  throw apiKeyInvalid({ name, key, problem });
}

type Protection = Pick<AccountControllerOptions, "objects" | "store" | "countDependents" | "unreadableKinds">;

/**
 * Puts the finalizers on the GatewayAccount and its Secret. Call it before the first change under a key: a person who
 * deletes the Secret right after it would otherwise take the only key with which the change can be undone. Where the
 * operator may not write Secrets, nothing protects the Secret: the next reconcile of the GatewayAccount reports that.
 */
export async function protectAccount(options: Protection, object: AccountObject): Promise<void> {
  await options.objects.addFinalizer(object);
  try {
    await protectSecret(options, object);
  } catch (error) {
    if (reconcileErrorOf(error)?.reason !== "Forbidden") throw error;
  }
}

async function protectSecret(options: Protection, object: AccountObject): Promise<void> {
  const { objects } = options;
  const { namespace } = object.metadata;
  const { name } = object.spec.apiKeySecretRef;
  if (object.status?.secretName !== name) {
    await releaseSecret(options, object);
    // The Secret is recorded before it gets the finalizer, so that a later reconcile knows where to remove the
    // finalizer.
    await objects.writeStatus(object, (before) => ({ ...before, secretName: name }));
  }
  await objects.addSecretFinalizer(object, { namespace, name });
}

async function releaseSecret(options: Protection, object: AccountObject): Promise<void> {
  const { secretName } = object.status ?? {};
  if (secretName === undefined || isSecretUsedByOthers(options, object, secretName)) return;
  await options.objects.removeSecretFinalizer(object, { namespace: object.metadata.namespace, name: secretName });
}

/**
 * Whether another GatewayAccount needs the Secret. One that is being deleted needs it only while objects need its key.
 */
function isSecretUsedByOthers(
  { store, countDependents, unreadableKinds }: Protection,
  { metadata }: AccountObject,
  secretName: string,
): boolean {
  return store
    .list(metadata.namespace)
    .filter((other) => other.metadata.uid !== metadata.uid && other.status?.secretName === secretName)
    .some(
      (other) =>
        !other.metadata.deletionTimestamp ||
        countDependents(keyOf(other)) > 0 ||
        unreadableKinds(metadata.namespace).length > 0,
    );
}

async function reconcileDelete(options: AccountControllerOptions, object: AccountObject, key: string): Promise<Result> {
  const { countDependents, unreadableKinds, objects, checks } = options;
  const error = dependentsError(countDependents(key), unreadableKinds(object.metadata.namespace));
  if (error) {
    await report(options, object, { error });
    return { requeueAfterSeconds: 10 };
  }
  await releaseSecret(options, object);
  await objects.removeFinalizer(object);
  checks.remove(key);
  return {};
}

function dependentsError(count: number, unreadable: readonly string[]): Waiting | undefined {
  if (count > 0) return accountUsed({ count });
  return unreadable.length > 0 ? accountUsersUnread({ kinds: unreadable }) : undefined;
}

/** `unlisted`: why changes in the account are not seen. */
interface Reported {
  error?: ReconcileError;
  unlisted?: ReconcileError | undefined;
  certificate?: LoneCertificate;
  /** The end of the pause that the service has asked for. */
  pauseEnd?: Date | undefined;
}

/** Writes the status. Without an error, the account is ready. */
async function report(
  { checks, objects, clock, allowed }: AccountControllerOptions,
  object: AccountObject,
  { error, unlisted, certificate = "unknown", pauseEnd }: Reported,
): Promise<void> {
  const { metadata } = object;
  const baseURL = inUse(object, allowed);
  const epochMs = clock.date().getTime();
  const requested = checks.isAnswered(object) ? reconcileRequestedAt(object) : undefined;
  // Objects, or this reconcile, may have written to the status since it was read.
  await objects.writeStatus(object, (before) => {
    const ofCertificate =
      certificate === "unknown"
        ? (before?.conditions ?? []).filter(({ type }) => type === "CertificateReady")
        : certificateConditions(certificate, epochMs);
    const { baseURL: _, ...others } = before ?? {};
    const conditions = [
      ...[...conditionsOf(error, pauseEnd), ...unlistedConditions(unlisted), ...ofCertificate],
      ...annotationConditions(object),
    ].map((draft) => toCondition({ metadata, status: before }, draft, epochMs));
    const status: Status = {
      ...others,
      ...(baseURL !== undefined && { baseURL }),
      ...(requested !== undefined && { lastHandledReconcileAt: requested }),
      observedGeneration: metadata.generation,
      conditions,
      columns: readyColumns(GatewayAccount.columns, conditions),
    };
    return isSameStatus(before, status) ? undefined : status;
  });
}

/** Commands send the key of a GatewayAccount to the address in its status, so only one that is allowed is written there. */
function inUse(object: AccountObject, allowed: AllowedHosts): string | undefined {
  try {
    return allowedBaseURL(object, allowed);
  } catch {
    return undefined;
  }
}

function conditionsOf(error: ReconcileError | undefined, pauseEnd: Date | undefined): ConditionDraft[] {
  if (!error) {
    const message = "The service answers and accepts the key";
    const pause = pauseEnd && pausedUntil({ end: pauseEnd.getTime() });
    return [
      { type: "Ready", status: "True", reason: "Available", message },
      ...(pause
        ? [{ type: "Reconciling", status: "True", reason: pause.reason, message: pause.message } as const]
        : []),
    ];
  }
  const { reason, message } = error;
  const type = error instanceof Blocked ? "Stalled" : "Reconciling";
  return [
    { type: "Ready", status: "False", reason, message },
    { type, status: "True", reason, message },
  ];
}

/** A list that fails for long leaves the account Ready: other requests succeed. */
const unlistedConditions = (problem: ReconcileError | undefined): ConditionDraft[] =>
  problem ? [{ type: "Synced", status: "False", reason: problem.reason, message: problem.message }] : [];

/** Conditions for the end of a certificate that has no object of its own. */
function certificateConditions(certificate: Exclude<LoneCertificate, "unknown">, epochMs: number): ConditionDraft[] {
  if (certificate === "none") return [];
  const { kind, id, until } = certificate;
  const [type, end] = ["CertificateReady", timestamp(until)];
  if (until <= epochMs) {
    const message = `Replace ${kind} ${id}, which has no object and is served: the certificate ended at ${end}`;
    return [{ type, status: "False", reason: "CertificateExpired", message }];
  }
  const message = `Of the certificates that are served and have no object, ${kind} ${id} ends first, at ${end}`;
  return [{ type, status: "True", reason: "Available", message }];
}
