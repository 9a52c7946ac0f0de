import type { Account } from "../account/account.ts";
import type { Config } from "../config.ts";
import { tunnelSessions } from "../gateway/resources/index.ts";
import { AgentCommand } from "../kinds/agent-command.ts";
import { conditionOf } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import { Informer } from "../runtime/cache/informer.ts";
import type { Change, Store } from "../runtime/cache/store.ts";
import type { Clock } from "../runtime/clock.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import { isConflict, isFailedTest, isNotFound } from "../runtime/connection/errors.ts";
import { Controller, type ControllerOptions } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { keyOf, type ResourceType } from "../runtime/object.ts";
import type { EventRecorder } from "../runtime/process/events.ts";
import { API_VERSION, annotations, GROUP, VERSION } from "../schema/contract.ts";
import type { CommandObject, CommandStatus } from "./command.ts";
import { CommandReconciler } from "./command-reconciler.ts";
import type { SessionMetrics } from "./metrics.ts";
import { Mirror } from "./mirror.ts";
import type { SessionObject } from "./session.ts";
import { SessionWriter, sessionType } from "./session-writer.ts";

const commandType: ResourceType = {
  group: GROUP,
  version: VERSION,
  plural: AgentCommand.plural,
  kind: AgentCommand.kind,
};

const CONCURRENCY = 8;
/** A reconcile may wait minutes for the request budget. One that takes longer than this is stuck. */
const TIMEOUT_SECONDS = 900;

export interface SessionsOptions {
  config: Pick<Config, "podNamespace" | "watchNamespaces" | "sessionSyncSeconds">;
  client: KubeClient;
  /** The account of the sessions. */
  account: Account;
  recorder: EventRecorder;
  log: Logger;
  clock: Clock;
  controllerMetrics?: ControllerOptions["metrics"];
  metrics?: SessionMetrics | undefined;
}

/** The parts that mirror tunnel sessions and execute commands, not started. */
export interface Sessions {
  informers: readonly Pick<Informer, "start" | "stop" | "synced" | "reason">[];
  controllers: readonly Controller[];
  /** Runs the mirror until the signal aborts. Call it only while this process is the leader. */
  background: (signal: AbortSignal) => Promise<void>;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { config, client, account, clock, controllerMetrics, metrics } = options;
  const namespace = namespaceOf(config);
  const log = options.log.child({ logger: "sessions" });
  const sessions = new Informer<SessionObject>({ client, log, clock, type: sessionType, namespaces: [namespace] });
  const commands = new Informer<CommandObject>({
    ...{ client, log, clock, type: commandType },
    // commands in other namespaces are read as well, and fail with a message
    namespaces: config.watchNamespaces.length > 0 ? [...new Set([...config.watchNamespaces, namespace])] : [],
  });
  const collection = account.collection(tunnelSessions);
  const mirror = new Mirror({
    ...{ collection, clock, log, metrics },
    store: sessions.store,
    writer: new SessionWriter(client, sessions.store, namespace),
    intervalSeconds: config.sessionSyncSeconds,
    // restarted agents may have reconnected
    onSynced: () => enqueueUnfinished(commands.store, controller),
  });
  const reconciler = new CommandReconciler({
    ...{ namespace, clock, collection, mirror },
    sessions: () => sessions.store.list(),
    command: (key) => commands.store.get(key),
    write: (command, status) => writeStatus(options, commands.store, command, status),
    delete: (command) => deleteCommand(client, commands.store, command),
    onSent: metrics?.sent,
  });
  const controller = new Controller({
    name: commandType.kind.toLowerCase(),
    reconcile: ({ key, signal }) => reconciler.reconcile(key, signal),
    ...{ log, clock, concurrency: CONCURRENCY, timeoutSeconds: TIMEOUT_SECONDS },
    backoff: { base: 1, cap: 300 },
    ...(controllerMetrics && { metrics: controllerMetrics }),
  });
  commands.addHandler((change) => {
    if (change.type === "deleted") {
      reconciler.forget(change.object.metadata.uid);
      controller.drop(keyOf(change.object));
    }
    if (needsReconcile(change)) controller.enqueue(keyOf(change.object));
  });
  return {
    informers: [sessions, commands],
    controllers: [controller],
    background: (signal) => mirror.run(signal),
  };
}

/** The namespace of the session objects and of commands. */
export const namespaceOf = ({ podNamespace, watchNamespaces: [first] }: SessionsOptions["config"]): string =>
  podNamespace ?? first ?? "default";

/** Ignores changes of the status, since only the operator writes it. */
function needsReconcile(change: Change<CommandObject>): boolean {
  if (change.type !== "updated") return change.type === "added";
  const paused = ({ metadata }: CommandObject) => metadata.annotations?.[annotations.paused];
  return paused(change.old) !== paused(change.object);
}

function enqueueUnfinished(store: Store<CommandObject>, controller: Controller): void {
  for (const command of store.list()) if (!command.status?.completedAt) controller.enqueue(keyOf(command));
}

/** Guarded by the resourceVersion, so that of two processes that would send the same request only one does. */
async function writeStatus(
  { client, recorder }: SessionsOptions,
  store: Store<CommandObject>,
  { metadata, status: before }: CommandObject,
  status: CommandStatus,
): Promise<CommandObject> {
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
    throw isStale(error) ? new Outdated("the command has changed", { cause: error }) : error;
  }
}

async function deleteCommand(
  client: KubeClient,
  store: Store<CommandObject>,
  { metadata }: CommandObject,
): Promise<void> {
  try {
    await client.delete(commandType, metadata, { uid: metadata.uid });
    if (!metadata.finalizers?.length) store.forget(keyOf(metadata), metadata.uid);
  } catch (error) {
    if (!isStale(error)) throw error;
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
