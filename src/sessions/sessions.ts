import { isDeepStrictEqual } from "node:util";
import type { Account } from "../account/account.ts";
import type { Config } from "../config.ts";
import { tunnelSessions } from "../gateway/resources/index.ts";
import { AgentCommand } from "../kinds/agent-command.ts";
import { writtenForOperator } from "../objects/annotations.ts";
import { conditionOf, typeOf } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import { Informer } from "../runtime/cache/informer.ts";
import type { Change, Store } from "../runtime/cache/store.ts";
import type { Clock } from "../runtime/clock.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isConflict, isFailedTest, isNotFound } from "../runtime/connection/errors.ts";
import { Controller, type ControllerOptions } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { type KubeObject, keyOf, type ObjectRef } from "../runtime/object.ts";
import type { EventRecorder } from "../runtime/process/events.ts";
import { API_VERSION, DEFAULT_ACCOUNT } from "../schema/contract.ts";
import type { CommandObject, CommandStatus } from "./command.ts";
import { type CommandAccount, CommandReconciler } from "./command-reconciler.ts";
import type { SessionMetrics } from "./metrics.ts";
import { keyOfScope, type MirrorSource } from "./mirror.ts";
import { Mirrors } from "./mirrors.ts";
import type { MirrorScope, SessionObject } from "./session.ts";
import { deleteFrom, SessionWriter, sessionType } from "./session-writer.ts";
import { NoTargetError } from "./targets.ts";

const commandType = typeOf(AgentCommand);

const CONCURRENCY = 8;
/** A reconcile may wait minutes for the request budget. One that takes longer than this is stuck. */
const TIMEOUT_SECONDS = 900;

export interface SessionsOptions {
  config: Pick<Config, "podNamespace" | "watchNamespaces" | "sessionSyncSeconds">;
  client: KubeClient;
  /** The operator's own account, which is another one after its key has changed. */
  ownAccount: () => Account;
  /** The GatewayAccounts that ask for a mirror of their sessions. */
  mirrored: () => readonly Pick<KubeObject, "metadata">[];
  /** Whether the GatewayAccounts of a namespace are known, so that its sessions can be shown and commanded. */
  isOpen: (namespace: string) => boolean;
  /** Whether a GatewayAccount or a command belongs to this installation. */
  isOurs: (object: Pick<KubeObject, "metadata">) => boolean;
  /** The account to which a GatewayAccount leads. Rejects while that is not known, as a request to it would. */
  openAccount: (ref: ObjectRef, signal: AbortSignal) => Promise<Account>;
  recorder: EventRecorder;
  /** Turns a refused write of a status into the error to throw, and tells people of it. */
  onUnwritten: (object: KubeObject, error: unknown) => unknown;
  log: Logger;
  clock: Clock;
  controllerMetrics?: ControllerOptions["metrics"];
  metrics?: SessionMetrics | undefined;
}

/** The parts that mirror tunnel sessions and execute commands, not started. */
export interface Sessions {
  sessions: Informer<SessionObject>;
  commands: Informer<CommandObject>;
  controller: Controller;
  /** Runs the mirror until the signal aborts. Call it only while this process is the leader. */
  background: (signal: AbortSignal) => Promise<void>;
  /** Call it when `isOpen` becomes true. "": for all namespaces. */
  onOpen: (namespace: string) => void;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { config, client, clock, metrics } = options;
  const ownNamespace = namespaceOf(config);
  const log = options.log.child({ logger: "sessions" });
  // Other namespaces have the mirrors of GatewayAccounts, and commands that fail with a message.
  const namespaces = config.watchNamespaces.length > 0 ? [...new Set([...config.watchNamespaces, ownNamespace])] : [];
  const sessions = new Informer<SessionObject>({ client, log, clock, type: sessionType, namespaces });
  const commands = new Informer<CommandObject>({ client, log, clock, type: commandType, namespaces });
  // Sessions that cannot be read may exist: the mirror would create them again, and a command would find none.
  const isRead = (namespace: string) => sessions.hasSyncedIn(namespace) && options.isOpen(namespace);
  const mirrors = new Mirrors({
    ownNamespace,
    clock,
    log,
    metrics,
    isRead,
    store: sessions.store,
    writer: new SessionWriter(client, sessions.store),
    intervalSeconds: config.sessionSyncSeconds,
    sources: () => sourcesOf(options),
    shownByOthers: () =>
      options
        .mirrored()
        .filter((one) => !options.isOurs(one))
        .map(({ metadata }) => scopeOf(metadata)),
    // restarted agents may have reconnected
    onSynced: (namespace) => enqueueUnfinished(commands.store, controller, namespace),
  });
  const reconciler = new CommandReconciler({
    clock,
    accountOf: (command, signal) => commandAccount(options, { mirrors, store: sessions.store }, command, signal),
    command(key) {
      const command = commands.store.get(key);
      const isMeant = command && options.isOurs(command) && isRead(command.metadata.namespace);
      return isMeant ? command : undefined;
    },
    commands: () => commands.store.list(),
    write: (command, status) => writeStatus(options, commands.store, command, status),
    delete: (command) => deleteFrom(commands.store, client, commandType, command),
    onSent: metrics?.sent,
  });
  const controller = commandController({ ...options, log }, commands, reconciler);
  commands.addHandler((change) => {
    if (change.type === "deleted") {
      reconciler.forget(change.object.metadata.uid);
      controller.drop(keyOf(change.object));
    }
    if (needsReconcile(change, options.isOurs)) controller.enqueue(keyOf(change.object));
  });
  const onOpen = (namespace: string) => {
    for (const command of commands.store.list(namespace || undefined)) controller.enqueue(keyOf(command));
  };
  sessions.addListHandler(onOpen);
  return {
    sessions,
    commands,
    controller,
    onOpen,
    background: (signal) => mirrors.run(signal),
  };
}

function commandController(
  { config, log, clock, controllerMetrics }: SessionsOptions,
  commands: Informer<CommandObject>,
  reconciler: CommandReconciler,
): Controller {
  return new Controller({
    name: commandType.kind.toLowerCase(),
    reconcile: ({ key, signal }) => reconciler.reconcile(key, signal),
    log,
    clock,
    concurrency: CONCURRENCY,
    timeoutSeconds: TIMEOUT_SECONDS,
    backoff: { base: 1, cap: 300 },
    flowOf: (key) => flowOf(config, commands.store.get(key)),
    ...(controllerMetrics && { metrics: controllerMetrics }),
  });
}

/** The namespace of the sessions of the operator's own account, and of the commands to them. */
export const namespaceOf = ({ podNamespace, watchNamespaces: [first] }: SessionsOptions["config"]): string =>
  podNamespace ?? first ?? "default";

const scopeOf = ({ namespace = "", name }: ObjectRef): MirrorScope => ({ namespace, account: name });

function sourcesOf({ config, ownAccount, mirrored, isOurs, openAccount }: SessionsOptions): MirrorSource[] {
  const own: MirrorSource = { namespace: namespaceOf(config), open: async () => ownAccount() };
  const others = mirrored()
    .filter(isOurs)
    .map(({ metadata }) => ({
      ...scopeOf(metadata),
      open: (signal: AbortSignal) => openAccount(metadata, signal),
    }));
  return [own, ...others];
}

/** The GatewayAccount that a command is for. Undefined: the operator's own credentials. */
function accountNameOf(config: SessionsOptions["config"], command: CommandObject | undefined): string | undefined {
  const { metadata, spec } = command ?? {};
  return spec?.accountRef?.name ?? (metadata?.namespace === namespaceOf(config) ? undefined : DEFAULT_ACCOUNT);
}

/** Commands to one account share a flow, so that a slow account takes no workers from others. Names are per namespace. */
export const flowOf = (config: SessionsOptions["config"], command: CommandObject | undefined): string =>
  keyOfScope({ namespace: command?.metadata.namespace ?? "", account: accountNameOf(config, command) });

async function commandAccount(
  { config, ownAccount, mirrored, isOurs, openAccount }: SessionsOptions,
  { mirrors, store }: { mirrors: Mirrors; store: Store<SessionObject> },
  command: CommandObject,
  signal: AbortSignal,
): Promise<CommandAccount> {
  const { namespace } = command.metadata;
  const name = accountNameOf(config, command);
  const mirror = mirrored().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (name !== undefined && !mirror) throw notMirrored(config, command, name);
  if (name !== undefined && mirror && !isOurs(mirror)) throw elsewhere(name);
  const scope = { namespace, account: name };
  const found = name === undefined ? ownAccount() : await openAccount({ namespace, name }, signal);
  const collection = found.collection(tunnelSessions);
  return {
    ...scope,
    collection,
    mirror: { isEnabled: mirrors.isEnabled, isSynced: mirrors.isSynced(scope, collection) },
    objects: () => store.list(namespace),
  };
}

const elsewhere = (name: string): NoTargetError =>
  new NoTargetError(
    `Before you create it anew, give it the labels of GatewayAccount "${name}": another installation has the sessions of that account`,
  );

function notMirrored(config: SessionsOptions["config"], { spec }: CommandObject, name: string): NoTargetError {
  const mirror = `set tunnelSessions: Mirror on GatewayAccount "${name}" of this namespace`;
  return new NoTargetError(
    spec.accountRef
      ? `Before you create it anew, ${mirror}: the sessions of others are not commanded`
      : `Create it in namespace "${namespaceOf(config)}", where the operator's own sessions are, or ${mirror}`,
  );
}

/** Ignores changes of the status, since only the operator writes it. */
function needsReconcile(change: Change<CommandObject>, isOurs: SessionsOptions["isOurs"]): boolean {
  if (change.type !== "updated") return change.type === "added";
  if (isOurs(change.old) !== isOurs(change.object)) return true;
  return !isDeepStrictEqual(writtenForOperator(change.old), writtenForOperator(change.object));
}

function enqueueUnfinished(store: Store<CommandObject>, controller: Controller, namespace: string): void {
  for (const command of store.list(namespace)) if (!command.status?.completedAt) controller.enqueue(keyOf(command));
}

/** Guarded by the resourceVersion, so that of two processes that would send the same request only one does. */
async function writeStatus(
  { client, recorder, onUnwritten }: SessionsOptions,
  store: Store<CommandObject>,
  command: CommandObject,
  status: CommandStatus,
): Promise<CommandObject> {
  const { metadata, status: before } = command;
  const operations = [
    { op: "test", path: "/metadata/uid", value: metadata.uid },
    { op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
    { op: "add", path: "/status", value: status },
  ] as const;
  try {
    const options = { subresource: "status" } as const;
    const written = await client.patchJSON<CommandObject>(commandType, metadata, operations, options);
    store.put(written);
    if (status.completedAt && !before?.completedAt) emitResult(recorder, written);
    return written;
  } catch (error) {
    if (isStale(error)) throw new Outdated("the command has changed", { cause: error });
    throw onUnwritten(command, error);
  }
}

const isStale = (error: unknown): boolean => isNotFound(error) || isConflict(error) || isFailedTest(error);

function emitResult(recorder: EventRecorder, { metadata, status }: CommandObject): void {
  const ready = conditionOf(status, "Ready");
  recorder.emit({
    object: { apiVersion: API_VERSION, kind: AgentCommand.kind, metadata },
    type: ready?.status === "True" ? "Normal" : "Warning",
    reason: ready?.reason ?? "",
    action: "Command",
    note: ready?.message ?? "",
  });
}
