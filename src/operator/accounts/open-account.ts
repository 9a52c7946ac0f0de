import { Account } from "../../account/account.ts";
import type { AccountOptions } from "../../account/account-options.ts";
import type { RecordedIDs } from "../../account/key-proof.ts";
import type { EarlierRecord } from "../../account/key-record.ts";
import type { ListDelta } from "../../account/remotes/inventory.ts";
import type { ListRoom } from "../../account/requests/list-room.ts";
import { type Lane, RequestBudget } from "../../account/requests/request-budget.ts";
import { RequestCount } from "../../account/requests/request-count.ts";
import type { Config } from "../../config.ts";
import { type ExchangeEvent, GatewayClient } from "../../gateway/client.ts";
import type { Resource } from "../../gateway/resource.ts";
import type { Source } from "../../objects/evidence.ts";
import { Outdated, type ReconcileError } from "../../objects/reconcile-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import { logOfReconcile } from "../../runtime/controller/controller.ts";
import type { Logger } from "../../runtime/log.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";
import { type Credentials, isOwn, labelOf, type SharedAccount } from "./credentials.ts";
import type { KeyRecords } from "./key-records.ts";

export interface AccountMetrics {
  onExchange: (event: ExchangeEvent) => void;
  onTurn: (lane: Lane, waited: number) => void;
}

export interface OpenAccountOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  metrics?: AccountMetrics;
  assertMaySend: () => void;
  onListDelta: (resource: Resource, delta: ListDelta) => void;
  /**
   * Called when the list of a resource has failed for longer than an interval, with what stands then, and when it
   * succeeds again. `keys`: see `Credentials`.
   */
  onListProblem: (keys: readonly string[], resource: Resource, problem: ReconcileError | undefined) => void;
  /** Ids of all remotes of objects by the credentials with this key (see `Credentials`), by what shows them. */
  recordedIn: (key: string) => RecordedIDs;
  /**
   * What a person has to do so that the operator can read the objects that `recordedIn` misses. Undefined: it misses
   * none.
   */
  unreadIn: (key: string) => string | undefined;
  keyRecords: KeyRecords;
  /** Whether an object has the remote with this id. */
  hasObjectFor: (id: string) => boolean;
  /**
   * Called when requests to an account stop, because the service is away, refuses its key or lacks many remotes, and
   * when they resume. `keys`: see `Credentials`.
   */
  onAvailabilityChange: (keys: readonly string[], available: boolean) => void;
  /** Called when objects whose last attempt failed may be tried again. */
  onReleased: () => void;
}

export interface AccountSource {
  /** Keys of the credentials that share the account, or that may move to it. */
  concerned: (shared: SharedAccount) => readonly string[];
  keyFor: (shared: SharedAccount) => Promise<string>;
  listedElsewhere: (shared: SharedAccount, resource: Resource) => Promise<readonly string[] | undefined>;
  /** What all accounts share. */
  room: ListRoom;
}

/**
 * The log of a reconcile has the name of its object. A list for which several reconciles wait is logged for the first
 * one.
 */
function logRequest(
  log: Logger,
  { method, path, status, code, operationId, outcome, seconds }: ExchangeEvent,
  account: string,
): void {
  const milliseconds = Math.round(seconds * 1000);
  log.debug(
    { method, path, status, milliseconds, outcome, code, operationID: operationId, account },
    "Sent to the service",
  );
}

/** Opens an account, with its client and its request budget, for one set of credentials. */
export function openAccount(
  credentials: Credentials,
  options: OpenAccountOptions,
  source: AccountSource,
): SharedAccount {
  const { config, clock } = options;
  const abort = new AbortController();
  const requests = new RequestCount(clock);
  const members = new Set([credentials]);
  const own: Own = {
    options,
    source,
    members,
    label: () => labelOf({ credentials: members }),
    shared: () => shared,
    notify: (available) => options.onAvailabilityChange(source.concerned(shared), available),
  };
  const client = clientOf(own, credentials, requests);
  const isConfirmed = isConfirmedAtStart(credentials, config);
  const account: Account = new Account({
    client,
    clock,
    onListDelta: options.onListDelta,
    signal: abort.signal,
    onReleased: options.onReleased,
    budget: budgetOf(own),
    room: source.room,
    assertMaySend() {
      options.assertMaySend();
      if (abort.signal.aborted) throw new Outdated("the account is gone, or is shared by now");
    },
    onOwnChange(resource, id, after) {
      for (const one of shared.former)
        if (!one.isGone && one.shared !== shared) one.shared.account.learn(resource, id, after);
    },
    onListProblem: (resource) => tellListProblem(own, resource),
    loss: {
      isConfirmedAtStart: isConfirmed,
      hasObjectFor: options.hasObjectFor,
      onChange: (isSuspected) => tellLoss(own, isSuspected),
    },
    undocumented: config.undocumentedOperations,
    deletesPerMinute: config.deletesPerMinute,
    resyncSeconds: config.resyncSeconds,
    key: keyOptionsOf(own, credentials, isConfirmed),
    ...noticesOf(own),
  });
  const shared: SharedAccount = {
    account,
    client,
    requests,
    baseURL: credentials.baseURL,
    credentials: members,
    digest: undefined,
    abort,
    recorded: () => recordedBy(own),
    former: new Set(),
  };
  return shared;
}

/** What the parts of an account share. */
interface Own {
  readonly options: OpenAccountOptions;
  readonly source: AccountSource;
  readonly members: ReadonlySet<Credentials>;
  readonly label: () => string;
  readonly shared: () => SharedAccount;
  /** Tells whom it concerns that requests have stopped or go on. */
  readonly notify: (available: boolean) => void;
}

/** The setting confirms the key with which the process starts. */
const isConfirmedAtStart = (credentials: Credentials, { accountConfirmed }: Config): boolean =>
  isOwn(credentials) && accountConfirmed && credentials.lastRead === 0;

const recordedBy = ({ members, options }: Own): RecordedIDs =>
  union([...members].map(({ key }) => options.recordedIn(key)));

const clientOf = (
  { options, source, label, shared }: Own,
  { specifiedURL }: Credentials,
  requests: RequestCount,
): GatewayClient =>
  new GatewayClient({
    baseURL: specifiedURL ?? options.config.baseURL,
    apiKey: () => source.keyFor(shared()),
    proxies: options.config.proxies,
    timeoutMs: options.config.requestSeconds * 1000,
    userAgent: OPERATOR_NAME,
    onExchange(event) {
      if (event.outcome !== "unsent") requests.record();
      options.metrics?.onExchange(event);
      logRequest(logOfReconcile() ?? options.log, event, label());
    },
    onDate: (date) => shared().account.serviceTime.observe(date),
  });

const budgetOf = ({ options: { config, clock, log, metrics }, label, notify }: Own): RequestBudget =>
  new RequestBudget({
    perMinute: config.requestsPerMinute,
    clock,
    onLongPause: () => {
      log.warn({ account: label() }, "Paused requests, as the service has asked");
      notify(false);
    },
    ...(metrics && { onTurn: metrics.onTurn }),
  });

function tellListProblem({ options, source, label, shared }: Own, resource: Resource): void {
  const { log } = options;
  const problem = shared().account.listFailures.problemOf(resource);
  if (problem) log.warn({ account: label(), resource: resource.name, error: problem }, "A list fails and fails");
  else log.info({ account: label(), resource: resource.name }, "A list that failed succeeds again");
  options.onListProblem(source.concerned(shared()), resource, problem);
}

function keyOptionsOf(own: Own, { proved }: Credentials, isConfirmed: boolean): Required<AccountOptions>["key"] {
  const { options, source, members, label, shared, notify } = own;
  const { log } = options;
  return {
    recorded: () => recordedBy(own),
    unread: () => [...members].map(({ key }) => options.unreadIn(key)).find((way) => way !== undefined),
    listedElsewhere: (resource) => source.listedElsewhere(shared(), resource),
    proved,
    isConfirmed,
    onAlone: () => {
      for (const one of members) one.proved.clear();
    },
    wasRecorded: (digest) => wasRecorded([...members], digest, options),
    record: (digest, which) => record([...members], digest, which, options),
    confirmedOn: () => label().split("/")[1] ?? "",
    onProblem: (exists) => {
      const { problem } = shared().account.keyProof;
      if (exists) log.warn({ account: label(), problem }, "Stopped changes: the API key is not proved");
      else log.info({ account: label() }, "Resumed changes: the API key is proved");
      notify(!exists);
    },
  };
}

function tellLoss({ options: { log }, label, shared, notify }: Own, isSuspected: boolean): void {
  const { missing, total } = shared().account.lossGuard.problem ?? {};
  if (isSuspected) log.warn({ account: label(), missing, total }, "Suspected a mass loss of remotes");
  else log.info({ account: label() }, "Mass loss of remotes is no longer suspected, or confirmed");
  notify(!isSuspected);
}

/** What the log says when requests stop and go on. */
const noticesOf = ({
  options: { log },
  label,
  shared,
  notify,
}: Own): Pick<AccountOptions, "onOpened" | "onRecovered"> => ({
  onOpened: () => {
    log.warn({ account: label(), error: shared().account.breaker.problem }, "Stopped requests to the service");
    notify(false);
  },
  onRecovered: () => {
    log.info({ account: label() }, "Resumed requests to the service");
    notify(true);
  },
});

type Recording = Pick<OpenAccountOptions, "keyRecords" | "recordedIn" | "unreadIn">;

/** Whether these credentials have something in the account, as far as that is known. */
function extentOf({ key }: Credentials, { recordedIn, unreadIn }: Recording): "some" | "none" | "unknown" {
  if (recordedIn(key).size > 0) return "some";
  return unreadIn(key) === undefined ? "none" : "unknown";
}

/**
 * Whether the key was proved by each of these credentials that has something in the account, or may have. Where no key was
 * ever recorded, nothing was made: a key is recorded before the first change.
 */
async function wasRecorded(all: Credentials[], digest: string, recording: Recording): Promise<EarlierRecord> {
  const { keyRecords } = recording;
  let found: EarlierRecord = "first";
  for (const one of all) {
    const extent = extentOf(one, recording);
    if (extent === "none" || (extent === "unknown" && (await keyRecords.isEmpty(one)))) continue;
    if (one.digest !== digest || one.record === undefined) return "unknown";
    if (!(await keyRecords.has(one, one.record))) return "unknown";
    found = "recorded";
  }
  return found;
}

/** Records the key for each of these credentials, including those that have no remotes in the account yet. */
async function record(
  all: Credentials[],
  digest: string,
  { alone }: { alone: boolean },
  recording: Recording,
): Promise<void> {
  const { keyRecords } = recording;
  const writing = all.map(async (one) => {
    if (one.digest !== digest || one.record === undefined) throw new Outdated("the API key has changed");
    const isFirst = extentOf(one, recording) === "none" && !(await keyRecords.has(one, one.record));
    await keyRecords.add(one, one.record, { alone: alone || isFirst });
  });
  await Promise.all(writing);
}

function union(all: readonly RecordedIDs[]): RecordedIDs {
  const [first = new Map(), ...others] = all;
  if (others.length === 0) return first;
  const joined = new Map<Source, Set<string>>();
  for (const [source, ids] of all.flatMap((one) => [...one]))
    joined.set(source, (joined.get(source) ?? new Set()).union(ids));
  return joined;
}
